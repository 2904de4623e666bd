# SPDX-License-Identifier: MIT
"""Draws the plots of the documentation from docs/results, each for a light and for a dark page.

Usage: plots.py RESULTS DIRECTORY        writes those of the README, which are in docs/plots
"""

import csv
import io
import pathlib
import re
import sys

import matplotlib
import stand_in

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: E402

stand_in.import_package(pathlib.Path(__file__).resolve().parents[2] / "python", "0")
# The axes of `barmap plot`.
from barmap._plots.plot import COLOURS, bytes_text, time_text  # noqa: E402
from barmap._plots.plot_data import DIRECTIONS  # noqa: E402

H200, H100 = "h200-580.159.04", "h100-580.159.04"
NAMES = {"h2d": "to-gpu", "d2h": "from-gpu"}
THEMES = {"light": {"paper": "#ffffff", "ink": "#1a1a1a", "grid": "#d8d8d8"},
          "dark": {"paper": "#131416", "ink": "#e0e0e0", "grid": "#3a3d42"}}
# Which are seen on both papers.
ORANGE, BLUE, GREEN, RED = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[4]


def read(path):
    """The rows of a CSV file of docs/results, and the GPU that its head names."""
    head, rows = [], []
    for line in path.read_text().splitlines():
        (head if line.startswith("# ") else rows).append(line)
    gpu = re.search("^# machine: .*gpu ([^;]+)", "\n".join(head), re.M)
    return list(csv.DictReader(rows)), gpu[1]


class Series:
    """One line or group of bars."""

    def __init__(self, name, points, colour, style="-"):
        self.name, self.points, self.colour, self.style = name, dict(points), colour, style


def latency(folder, machine, name, direction):
    """Latency by size of the copies that a program would choose from."""
    rows, gpu = read(folder / machine / name)
    series = []
    for method, title, colour in (("adaptive", "barmap", GREEN), ("cuMemcpy", "cuMemcpy", RED)):
        for host, style in (("pageable", "-"), ("pinned", "--")):
            points = ((int(row["size"]), float(row[method]) * 1e-9) for row in rows
                      if (row["direction"], row["host"]) == (direction, host) and int(row["size"]) <= 8 << 20)
            series.append(Series(f"{title}, {host} memory", points, colour, style))
    if machine == H200:
        rows, _ = read(folder / machine / "copy-cost.csv")
        way, column = ("to", "theirs_ns") if direction == "h2d" else ("from", "theirs_fenced_ns")
        points = ((int(row["bytes"]), float(row[column]) * 1e-9) for row in rows if row["direction"] == way)
        title = "gdrcopy's routines" + (", fenced" if direction == "d2h" else "")
        series.append(Series(title, points, BLUE, ":"))
    return f"{DIRECTIONS[direction]}: time of one copy, {gpu}", series


def batches(folder, machine, direction):
    """Bandwidth of batches of pieces, by the size of a piece."""
    rows, gpu = read(folder / machine / "batch-random.csv")
    pieces = max(int(row["pieces"]) for row in rows)
    rows = [row for row in rows if row["direction"] == direction and int(row["pieces"]) == pieces]
    colours = {"batch_queue (channel)": GREEN, "cuMemcpyBatchAsync": RED, "kernel, 32 SMs": BLUE}
    series = [Series(method.replace("batch_queue (channel)", "barmap's batch_queue"),
                     ((int(row["size"]), float(row["gb_per_s"])) for row in rows if row["method"] == method), colour)
              for method, colour in colours.items()]
    return f"{DIRECTIONS[direction]}: batches of {pieces:,} random pieces, {gpu}", series


def trips(folder):
    """Round trips of small messages on both machines."""
    series = []
    for machine, colour in ((H200, GREEN), (H100, ORANGE)):
        rows, gpu = read(folder / machine / "ring-trip.csv")
        points = {f"{row['way']}, {row['message_bytes']} B": float(row["p50_ns"]) * 1e-3 for row in rows
                  if row["way"] != "clock" and row["load"] == "false"}
        series.append(Series(gpu, points, colour))
    return "Message to a running kernel and its answer: median time", series


def styled(theme, size):
    colours = THEMES[theme]
    matplotlib.rcParams.update({
        "svg.hashsalt": "barmap", "svg.fonttype": "path", "font.size": 10, "font.family": "DejaVu Sans",
        "figure.facecolor": colours["paper"], "axes.facecolor": colours["paper"], "savefig.facecolor": colours["paper"],
        "text.color": colours["ink"], "axes.labelcolor": colours["ink"], "axes.edgecolor": colours["grid"],
        "xtick.color": colours["ink"], "ytick.color": colours["ink"], "grid.color": colours["grid"],
        "axes.titlesize": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.grid(True, axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def saved(figure):
    picture = io.BytesIO()
    figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return picture.getvalue()


def lines(title, series, theme, times):
    """Lines over the size in bytes: of times, or of GB/s."""
    figure, axes = styled(theme, (7, 4.2))
    for each in series:
        sizes = sorted(each.points)
        axes.plot(sizes, [each.points[size] for size in sizes], each.style, color=each.colour, label=each.name,
                  linewidth=1.8)
    axes.set_xscale("log", base=2)
    shown = sorted({size for each in series for size in each.points})
    axes.set_xticks(shown[::3] if len(shown) > 10 else shown)
    axes.xaxis.set_major_formatter(FuncFormatter(bytes_text))
    axes.xaxis.set_minor_locator(NullLocator())
    if times:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(time_text))
        axes.set_xlabel("bytes in one copy")
    else:
        axes.set_ylim(bottom=0)
        axes.set_ylabel("GB/s")
        axes.set_xlabel("bytes in one piece")
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, fontsize=9)
    return saved(figure)


def bars(title, series, theme):
    """Groups of horizontal bars of times."""
    names = [name for name in series[0].points if all(name in each.points for each in series)]
    figure, axes = styled(theme, (7, 1.2 + 0.5 * len(names)))
    axes.grid(False, axis="y")
    axes.grid(True, axis="x", linewidth=0.6)
    height = 0.8 / len(series)
    for index, each in enumerate(series):
        places = [place + (index - (len(series) - 1) / 2) * height for place in range(len(names))]
        drawn_bars = axes.barh(places, [each.points[name] for name in names], height * 0.92, color=each.colour,
                               label=each.name)
        axes.bar_label(drawn_bars, fmt="%.2f", padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("µs")
    axes.margins(x=0.12)
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.4, -0.14 - 0.2 / len(names)), ncols=2)
    return saved(figure)


def of_readme(folder):
    """The plots of the README: name and SVG of each."""
    for direction, name in NAMES.items():
        title, series = latency(folder, H200, "lat-engines.csv", direction)
        for theme in THEMES:
            yield f"latency-{name}-{theme}.svg", lines(title, series, theme, times=True)


def drawn(folder):
    """All plots."""
    yield from of_readme(folder)
    for theme in THEMES:
        for direction, name in NAMES.items():
            title, series = latency(folder, H100, "lat-engines.csv", direction)
            yield f"latency-{name}-h100-{theme}.svg", lines(title, series, theme, times=True)
            for machine, suffix in ((H200, ""), (H100, "-h100")):
                title, series = batches(folder, machine, direction)
                yield f"batches-{name}{suffix}-{theme}.svg", lines(title, series, theme, times=False)
        yield f"trips-{theme}.svg", bars(*trips(folder), theme)


if __name__ == "__main__":
    for file_name, svg in of_readme(pathlib.Path(sys.argv[1])):
        (pathlib.Path(sys.argv[2]) / file_name).write_bytes(svg)
