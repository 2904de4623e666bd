# SPDX-License-Identifier: MIT
"""``barmap plot``: draws what ``barmap lat``, ``bw``, ``batch`` and ``ring`` measured."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

_USAGE, _UNAVAILABLE = 2, 3  # the tool's exit statuses
_DIRECTIONS = {"h2d": "CPU to GPU", "d2h": "GPU to CPU"}
_FORMATS = (".svg", ".png", ".pdf")
# Okabe and Ito's colours, which people of any colour vision distinguish; black is for what barmap
# chooses by itself.
_COLOURS = (
    "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7", "#999999", "#5e3c99", "#7b3f00",
)
_MARKERS = "os^Dv<>Pp*"


class Unusable(Exception):
    """A file that cannot be drawn; the text says why."""


class Point(NamedTuple):
    """One size in bytes. Times in seconds for one copy, bandwidth in GB/s (10^9 bytes)."""

    size: int
    fastest: float
    median: float
    slow: float
    bandwidth: float


class Panel(NamedTuple):
    """What one file has of one direction and one kind of host memory, or one order of pieces: by
    method, points by size."""

    title: str
    methods: Dict[str, List[Point]]
    thing: str = "copy"  # that has a size and takes time


def _point(row: Dict[str, Any]) -> Point:
    # Older files say p0.
    times = (row[name] * 1e-9 for name in ("min_ns" if "min_ns" in row else "p0_ns", "p50_ns", "p99_ns"))
    fastest, median, slow = times
    return Point(row["size"], fastest, median, slow, row["gb_per_s"])


def _method(row: Dict[str, Any]) -> str:
    if row["measurement"] == "bandwidth":
        return f"{row['threads']} thread{'s' if row['threads'] != 1 else ''}"
    method = str(row["method"])
    host = " " + row.get("host", "")  # which the panel's title has
    return method[: -len(host)] if len(host) > 1 and method.endswith(host) else method


def _batch_panels(name: str, machine: str, rows: Sequence[Dict[str, Any]]) -> List[Panel]:
    """One for each direction and order of pieces. Of each size the batch with the most pieces counts;
    times are of one piece of it."""
    panels = []
    for direction, words in _DIRECTIONS.items():
        for order in ("contiguous", "random"):
            here = [row for row in rows if (row["direction"], row["order"]) == (direction, order)]
            most: Dict[int, int] = {}
            for row in here:
                most[row["size"]] = max(row["pieces"], most.get(row["size"], 0))
            methods: Dict[str, List[Point]] = {}
            for row in here:
                if row["pieces"] == most[row["size"]] and row["problem"] is None:
                    times = (row[each] * 1e-9 / row["pieces"] for each in ("min_ns", "p50_ns", "p99_ns"))
                    fastest, median, slow = times
                    methods.setdefault(row["method"], []).append(
                        Point(row["size"], fastest, median, slow, row["gb_per_s"]))
            for points in methods.values():
                points.sort()
            if methods:
                at_once = f"up to {max(most.values())} {order} pieces"
                panels.append(Panel(f"{name}: {words}, {at_once}\n{machine}", methods))
    return panels


def _ring_panels(name: str, machine: str, rows: Sequence[Dict[str, Any]]) -> List[Panel]:
    """One for each direction, and each state of the link: messages by the size of their slot. A
    message's time is what it takes in a row of many."""
    panels = []
    for direction, words in _DIRECTIONS.items():
        for load, link in ((False, "link idle"), (True, "link loaded")):
            methods: Dict[str, List[Point]] = {}
            for row in rows:
                if (row["direction"], row["load"]) == (direction, load) and row["passed"] and row["messages_per_s"] > 0:
                    time = 1 / row["messages_per_s"]
                    at_once = f", {row['batch']} at once" if direction == "h2d" else ""
                    methods.setdefault(row["gpu_side"] + at_once, []).append(
                        Point(row["slot_bytes"], time, time, time, row["gb_per_s"]))
            for points in methods.values():
                points.sort()
            if methods:
                panels.append(Panel(f"{name}: {words}, {link}\n{machine}", methods, "message"))
    return panels


def panels_of(path: Path) -> List[Panel]:
    """Reads a file that ``barmap lat``, ``bw``, ``batch`` or ``ring`` wrote.

    Returns
    -------
    list of Panel
        One for each direction that was measured, and each kind of host memory, order of pieces or
        load of the link; never empty.

    Raises
    ------
    Unusable
        If it cannot be read, is something else, or has no copies in it.
    """
    try:
        found = json.loads(path.read_text())
        rows = [row for row in found["results"] if row["measurement"] in ("copy", "bandwidth")]
        gpu, backend = found["machine"]["gpu"], found["machine"]["backend"]
        batches = [row for row in found["results"] if row["measurement"] == "batch"]
        panels = _batch_panels(path.name, gpu, batches)
        machine = f"{gpu}, {backend}"
        rates = [row for row in found["results"] if row["measurement"] == "rate"]
        panels += _ring_panels(path.name, machine, rates)
        hosts = sorted({row.get("host", "") for row in rows})  # older files do not tell
        for direction, words in _DIRECTIONS.items():
            for host in hosts:
                methods: Dict[str, List[Point]] = {}
                for row in rows:
                    if (row["direction"], row.get("host", "")) == (direction, host):
                        methods.setdefault(_method(row), []).append(_point(row))
                if methods:
                    for points in methods.values():
                        points.sort()
                    where = f", {host} memory" if len(hosts) > 1 else ""
                    panels.append(Panel(f"{path.name}: {words}{where}\n{machine}", methods))
    except OSError as refused:
        raise Unusable(f"cannot read {path}: {refused.strerror}") from refused
    except (ValueError, KeyError, TypeError) as wrong:
        raise Unusable(
            f"{path} is not what `barmap lat`, `bw`, `batch` or `ring` writes with --output"
        ) from wrong
    if not panels:
        raise Unusable(
            f"{path} has no copies and no rates in it: give a file of `barmap lat`, `bw`, `batch` or `ring`")
    return panels


def _bytes(size: float, _: object = None) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


def _seconds(time: float, _: object = None) -> str:
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if time >= 0.99 * length:
            return f"{time / length:g} {unit}"
    return f"{time * 1e9:g} ns"


def _label_decades(axis: Any, text: Any) -> None:
    """Labels 1, 10, 100, and what lies between where there are few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 500 * low else (1,)))
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())


def _draw_panel(latency: Any, bandwidth: Any, panel: Panel, styles: Dict[str, Any]) -> None:
    for method, points in panel.methods.items():
        style = styles[method]
        sizes = [p.size for p in points]
        latency.plot(sizes, [p.median for p in points], label=method, **style)
        bandwidth.plot(sizes, [p.bandwidth for p in points], **style)
        if style["color"] == "black" or len(panel.methods) == 1:
            latency.fill_between(
                sizes, [p.fastest for p in points], [p.slow for p in points],
                color=style["color"], alpha=0.15, linewidth=0,
            )
    latency.set_title(panel.title, fontsize=9)
    for axes in (latency, bandwidth):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
        axes.xaxis.set_major_formatter(_bytes)
    bandwidth.tick_params(axis="x", labelrotation=45)
    bandwidth.set_xlabel("size of a slot" if panel.thing == "message" else f"size of a {panel.thing}")


def draw(panels: Sequence[Panel]) -> Any:
    """Draws panels next to each other, with common axes.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    methods = list(dict.fromkeys(method for panel in panels for method in panel.methods))
    ours = (m for m in methods if m == "adaptive" or m.startswith("copy_engine"))
    chosen = next(ours, "auto")
    first = ("auto", "channel", "driver", "cuMemcpy")  # which get a colour of their own
    others = sorted(set(methods) - {chosen}, key=lambda m: (not m.startswith(first), m))
    styles: Dict[str, Any] = {chosen: {"color": "black", "linewidth": 2.2, "zorder": 3}}
    for index, method in enumerate(others):
        styles[method] = {
            "color": _COLOURS[index % len(_COLOURS)],
            "marker": _MARKERS[index % len(_MARKERS)],
            "markersize": 3,
            "linewidth": 1,
        }
    figure = Figure(figsize=(1 + 3.6 * len(panels), 7), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(2, len(panels), sharex=True, sharey="row", squeeze=False)
    for column, panel in enumerate(panels):
        _draw_panel(grid[0][column], grid[1][column], panel, styles)
    thing = " or ".join(dict.fromkeys(panel.thing for panel in panels))
    grid[0][0].set_ylabel(f"time of a {thing}\n(median; shaded: fastest to 99 %)")
    grid[1][0].set_ylabel("bandwidth, GB/s")
    _label_decades(grid[0][0].yaxis, _seconds)
    _label_decades(grid[1][0].yaxis, lambda value, _: f"{value:g}")
    lines: Dict[str, Any] = {}
    for axes in grid[0]:
        for line, label in zip(*axes.get_legend_handles_labels()):
            lines.setdefault(label, line)
    figure.legend(
        lines.values(), lines.keys(), loc="outside lower center", ncols=min(len(lines), 6),
        frameon=False, fontsize=9,
    )
    return figure


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs ``barmap plot``.

    Returns
    -------
    int
        The exit status: 0; 2 for wrong arguments or files; 3 without matplotlib.
    """
    parser = argparse.ArgumentParser(
        prog="barmap plot",
        description="Draws latency and bandwidth against size, several files next to each other.",
    )
    parser.add_argument(
        "results", nargs="+", type=Path, help="what `barmap lat`, `bw`, `batch` or `ring` wrote with --output"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="the plot: .svg, .png or .pdf"
    )
    options = parser.parse_args(arguments)
    if options.output.suffix not in _FORMATS:
        parser.error(f"cannot draw {options.output}: give a name in {', '.join(_FORMATS)}")
    try:
        panels = [panel for path in options.results for panel in panels_of(path)]
        draw(panels).savefig(options.output, dpi=150)
    except ImportError:
        print("barmap plot: needs matplotlib: pip install matplotlib", file=sys.stderr)
        return _UNAVAILABLE
    except (Unusable, OSError) as refused:
        print(f"barmap plot: {refused}", file=sys.stderr)
        return _USAGE
    return 0
