#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/concepts.md, each for a light and for a dark page.

Usage: drawings.py [--check]        writes concept-*.svg beside itself; or says which are not what it would write
"""

import pathlib
import sys

THEMES = {"light": {"paper": "#ffffff", "ink": "#1a1a1a", "line": "#8a8f98", "host": "#e8eef7", "gpu": "#e3f1e8",
                    "hot": "#f7c873"},
          "dark": {"paper": "#131416", "ink": "#e0e0e0", "line": "#7d828b", "host": "#24303f", "gpu": "#1f3529",
                   "hot": "#8a5a12"}}
WIDTH, HEIGHT = 680, 170


def box(x, y, width, height, kind, text="", at="middle"):
    """A rectangle with its text in the middle, or at the top."""
    down = y + height / 2 + 5 if at == "middle" else y + 18
    return (f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" class="{kind}"/>' +
            label(x + width / 2, down, text))


def label(x, y, text):
    return f'<text x="{x:g}" y="{y:g}">{text}</text>' if text else ""


def arrow(x, y, to_x, to_y, text="", both=False):
    start = ' marker-start="url(#head)"' if both else ""
    return (f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" marker-end="url(#head)"{start}/>' +
            label((x + to_x) / 2, (y + to_y) / 2 - 7, text))


def machine(host="", gpu=""):
    """The CPU's side and the GPU's, with PCIe between."""
    return [box(10, 10, 270, 150, "host", host or "CPU: addresses of the process", "top"),
            box(400, 10, 270, 150, "gpu", gpu or "GPU memory", "top")]


DRAWINGS = {
    "bar1": ("A store to an address behind BAR1 travels over PCIe to GPU memory.", [
        *machine(), box(30, 45, 230, 30, "plain", "ordinary memory"), box(30, 95, 230, 30, "hot", "BAR1"),
        arrow(262, 110, 428, 110, "PCIe", both=True), box(430, 45, 210, 30, "plain", "other memory"),
        box(430, 95, 210, 30, "hot", "what BAR1 shows now"), label(145, 148, "a load or a store"),
        label(535, 148, "chosen by NVIDIA's driver")]),
    "pin": ("A pin refers to the memory object behind a CUDA pointer.", [
        *machine("CPU: objects of barmap"), box(30, 45, 120, 30, "plain", "device"), box(30, 105, 120, 30, "hot", "pin"),
        arrow(90, 75, 90, 103), arrow(152, 120, 428, 120, "a reference"),
        box(430, 95, 210, 50, "plain", "memory object", "top"), box(460, 118, 120, 22, "hot", "pinned bytes"),
        label(535, 65, "cudaMalloc's pointer"), arrow(535, 70, 535, 93)]),
    "map": ("A mapping is CPU addresses for the bytes of a pin.", [
        *machine(), box(30, 45, 80, 30, "plain", "pin"), box(30, 105, 230, 30, "hot", "mapping"),
        arrow(70, 77, 70, 103), label(115, 95, "pin.map()"),
        arrow(262, 120, 428, 120, "through BAR1", both=True), box(430, 105, 210, 30, "hot", "pinned bytes")]),
    "window": ("A window is a part of a mapping; read and write work on windows.", [
        box(10, 10, 660, 150, "host", "CPU: addresses of the process", "top"),
        box(40, 90, 600, 34, "plain", ""), box(250, 90, 140, 34, "hot", "window"), label(110, 112, "mapping"),
        label(320, 145, "map.window(offset, bytes)"), label(180, 52, "write, post"), arrow(200, 60, 270, 88),
        label(455, 52, "read"), arrow(370, 88, 440, 60)]),
    "engine": ("A copy engine moves pieces between host and GPU memory while the CPU does other work.", [
        *machine("CPU", "GPU"), box(30, 45, 230, 30, "plain", "list of pieces"),
        box(30, 115, 230, 30, "hot", "pinned host memory"), box(430, 45, 210, 30, "plain", "copy engine"),
        box(430, 115, 210, 30, "hot", "GPU memory"), arrow(262, 60, 428, 60, "submit"),
        arrow(262, 130, 460, 77, "", both=True), arrow(560, 77, 560, 113, "", both=True), label(335, 142, "bytes")]),
    "ring": ("A ring carries messages from the CPU to a running kernel, another one its answers.", [
        *machine("CPU", "GPU"), box(30, 45, 90, 30, "plain", "thread"), box(560, 45, 80, 30, "plain", "kernel"),
        *(box(420 + 24 * i, 45, 22, 30, "hot" if i < 3 else "plain") for i in range(5)),
        arrow(122, 60, 418, 60, "push: stores"), arrow(541, 60, 558, 60),
        *(box(140 + 24 * i, 115, 22, 30, "hot" if i < 2 else "plain") for i in range(5)),
        arrow(600, 77, 600, 130), arrow(598, 130, 262, 130, "push: stores"), arrow(138, 130, 75, 77)]),
}


def drawn():
    for name, (meaning, parts) in DRAWINGS.items():
        for theme, colours in THEMES.items():
            style = "".join(f".{kind}{{fill:{colours.get(kind, 'none')};stroke:{colours['line']}}}"
                            for kind in ("host", "gpu", "hot", "plain"))
            yield f"concept-{name}-{theme}.svg", "\n".join([
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
                f'height="{HEIGHT}" role="img">', f"<title>{meaning}</title>",
                f"<style>text{{font:13px sans-serif;text-anchor:middle;fill:{colours['ink']}}}"
                f"line{{stroke:{colours['ink']};stroke-width:1.4}}{style}</style>",
                '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
                f'orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="{colours["ink"]}"/></marker></defs>',
                f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{colours["paper"]}"/>', *parts, "</svg>\n"])


def main():
    here = pathlib.Path(__file__).resolve().parent
    stale = []
    for name, picture in drawn():
        path = here / name
        if "--check" not in sys.argv[1:]:
            path.write_text(picture)
        elif not path.exists() or path.read_text() != picture:
            stale.append(name)
    if stale:
        sys.exit(f"not what docs/plots/drawings.py draws: {', '.join(stale)}")


if __name__ == "__main__":
    main()
