# SPDX-License-Identifier: MIT
"""``barmap plot``: draws what the tool measured."""

from __future__ import annotations

import argparse
import colorsys
import sys
from pathlib import Path
from typing import Any, Dict, Iterable, List, NoReturn, Optional, Sequence, Tuple

from .plot_data import Panel, Unusable, chosen, overlaid, panels_of

_USAGE, _UNAVAILABLE = 2, 3  # the tool's exit statuses
_FORMATS = (".svg", ".png", ".pdf")
# Okabe and Ito's colours, which people of any colour vision distinguish; black is for what barmap
# chooses by itself.
COLOURS = (
    "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7", "#999999", "#5e3c99", "#7b3f00",
)
_GOLDEN = 0.618034  # hues that are this far apart stay apart, however many there are
_MARKERS = "os^Dv<>Pp*"
_COLUMN, _HEIGHT = 4.4, 7.5  # inches, of a panel
_FAR = 200  # times the best one
_MOST_COLUMNS = 3  # of panels: a row of more is wider than a page or a laptop's screen shows


def bytes_text(size: float, _: object = None) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


def time_text(time: float, _: object = None) -> str:
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if time >= 0.99 * length:
            return f"{time / length:g} {unit}"
    return f"{time * 1e9:g} ns"


def _number(value: float, _: object = None) -> str:
    return f"{value:g}"


def _label_decades(axis: Any, text: Any) -> None:
    """Labels 1, 10, 100, and those between where there are few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    subs = (1, 1.5, 2, 3, 5, 7) if high < 10 * low else (1, 2, 5) if high < 500 * low else (1,)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())


def limits(series: Iterable[Sequence[Tuple[float, float]]], whole: Iterable[float] = ()) -> Tuple[float, float]:
    """From where to where an axis of times goes that shows the best of several series, at each place,
    and what is not far above it.

    Parameters
    ----------
    series : sequences of (place, time)
    whole : times that are shown in any case
    """
    points = [point for each in series for point in each if point[1] > 0]
    best: Dict[float, float] = {}
    for place, time in points:
        best[place] = min(time, best.get(place, time))
    near = [time for place, time in points if time <= _FAR * best[place]]
    near += [time for time in whole if time > 0]
    return min(near) / 1.4, max(near) * 1.4


def colour(index: int) -> str:
    """A colour for each index: of the list, and behind it hues of alternating brightness that it does not have."""
    if index < len(COLOURS):
        return COLOURS[index]
    beyond = index - len(COLOURS)
    red, green, blue = colorsys.hls_to_rgb(beyond * _GOLDEN % 1, 0.30 + 0.12 * (beyond % 3), 0.75)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def _styles(panels: Sequence[Panel]) -> Dict[str, Dict[str, Any]]:
    methods = list(dict.fromkeys(method for panel in panels for method in panel.curves))
    ours = (m for m in methods if m == "adaptive" or m.startswith("batch_queue"))
    black = next(ours, "auto")
    first = ("auto", "channel", "driver", "cuMemcpy")  # which get fixed colours
    others = sorted(set(methods) - {black}, key=lambda m: (not m.startswith(first), m))
    styles: Dict[str, Dict[str, Any]] = {black: {"color": "black", "linewidth": 2.2, "zorder": 3}}
    for index, method in enumerate(others):
        styles[method] = {
            "color": colour(index),
            "marker": _MARKERS[index % len(_MARKERS)],
            "markersize": 3,
            "linewidth": 1,
        }
    return styles


def _draw_curves(latency: Any, bandwidth: Optional[Any], panel: Panel, styles: Dict[str, Any]) -> None:
    for method, points in panel.curves.items():
        style = styles[method]
        sizes = [p.size for p in points]
        latency.plot(sizes, [p.median for p in points], label=method, **style)
        if bandwidth is not None:
            bandwidth.plot(sizes, [p.bandwidth for p in points], **style)
        if style["color"] == "black" or len(panel.curves) == 1:
            latency.fill_between(
                sizes, [p.fastest for p in points], [p.slow for p in points],
                color=style["color"], alpha=0.15, linewidth=0,
            )
    both = [latency] if bandwidth is None else [latency, bandwidth]
    for axes in both:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
        axes.xaxis.set_major_formatter(bytes_text)
    both[-1].tick_params(axis="x", labelrotation=45)
    both[-1].set_xlabel("size of a slot" if panel.thing == "message" else f"size of a {panel.thing}")


def _draw_rows(axes: Any, panel: Panel) -> None:
    """Of each thing a line from the fastest to 99 %, with a dot at the median; or a bar for a number."""
    labels = [*panel.spans, *panel.counts]
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(True, axis="x", linewidth=0.4, alpha=0.5)
    if panel.counts:
        axes.barh(range(len(labels)), list(panel.counts.values()), color=COLOURS[3])
        for at, number in enumerate(panel.counts.values()):
            axes.annotate(f" {number:,}", (number, at), va="center", fontsize=8)
        axes.set_xlim(0, max(1, 1.2 * max(panel.counts.values())))
        axes.set_xlabel(f"number of {panel.thing}s")
        return
    # The fastest of many can be less than the clock's own cost, and then is 0.
    times = [time for span in panel.spans.values() for time in span if time > 0]
    axes.set_xscale("log" if times else "linear")
    for at, span in enumerate(panel.spans.values()):
        axes.plot([span.fastest, span.slow], [at, at], color=COLOURS[1], linewidth=3, solid_capstyle="butt")
        axes.plot([span.median], [at], "o", color="black", markersize=4)
        axes.annotate(time_text(float(f"{span.median:.3g}")), (span.median, at), xytext=(0, 5),
                      textcoords="offset points", ha="center", fontsize=7)
    if times:
        axes.set_xlim(min(times) / 1.6, max(times) * 1.6)
        _label_decades(axes.xaxis, time_text)
    axes.tick_params(axis="x", labelrotation=45)
    axes.set_xlabel("time (dot: median; line: fastest to 99 %)")


def _legend_columns(labels: Iterable[str], width: float) -> int:
    """How many labels stand next to each other in that many inches."""
    longest = max(map(len, labels), default=1)
    return max(1, int(width / (0.5 + 0.075 * longest)))


def draw(panels: Sequence[Panel], title: Optional[str] = None) -> Any:
    """Draws panels in rows, those of sizes with common axes.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    styles = _styles(panels)
    curved = [panel for panel in panels if panel.curves]
    with_bandwidth = [panel for panel in curved
                      if any(p.bandwidth is not None for points in panel.curves.values() for p in points)]
    # Names of rows take additional room.
    widths = [_COLUMN if panel.curves else _COLUMN + 0.07 * max(map(len, panel.labels())) for panel in panels]
    machines = list(dict.fromkeys(panel.machine for panel in panels))
    rows = -(-len(panels) // _MOST_COLUMNS)
    columns = -(-len(panels) // rows)
    widths = [max(widths[column::columns]) for column in range(columns)]
    figure = Figure(figsize=(0.6 + sum(widths), rows * _HEIGHT), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2 * rows, columns, width_ratios=widths)
    first: Dict[str, Any] = {}  # whose axes the others share
    leftmost: List[Tuple[Any, Any]] = []  # of each row
    for index, panel in enumerate(panels):
        row, column = 2 * (index // columns), index % columns
        bandwidth = None
        if not panel.curves:
            top = figure.add_subplot(grid[row : row + 2, column])
            _draw_rows(top, panel)
        elif panel in with_bandwidth:
            top = figure.add_subplot(grid[row, column], sharex=first.get("x"), sharey=first.get("time"))
            bandwidth = figure.add_subplot(grid[row + 1, column], sharex=top, sharey=first.get("bandwidth"))
            if not first or column == 0:
                leftmost.append((top, bandwidth))
            first = {"x": top, "time": top, "bandwidth": bandwidth, **first}
            top.tick_params(labelbottom=False)
            _draw_curves(top, bandwidth, panel, styles)
        else:
            top = figure.add_subplot(grid[row : row + 2, column])
            _draw_curves(top, None, panel, styles)
            top.set_ylabel(f"time of a {panel.thing} (median; shaded: fastest to 99 %)")
            _label_decades(top.yaxis, time_text)
        where = f"\n{panel.machine}" if len(machines) > 1 else ""
        top.set_title(panel.title + where, fontsize=9)
    if with_bandwidth:
        thing = " or ".join(dict.fromkeys(panel.thing for panel in with_bandwidth))
        for time, bandwidth in leftmost:
            time.set_ylabel(f"time of a {thing}\n(median; shaded: fastest to 99 %)")
            bandwidth.set_ylabel("bandwidth, GB/s")
        shown = [points for panel in with_bandwidth for points in panel.curves.values()]
        # barmap's own, with its band, leaves the axes nowhere.
        own = [p for panel in with_bandwidth for method, points in panel.curves.items()
               if styles[method]["color"] == "black" for p in points]
        first["time"].set_ylim(*limits(([(p.size, p.median) for p in points] for points in shown),
                                       [time for p in own for time in (p.fastest, p.median, p.slow)]))
        # Of bandwidths the highest is the best: as of the times of a byte.
        low, high = limits(([(p.size, 1 / p.bandwidth) for p in points if p.bandwidth] for points in shown),
                           [1 / p.bandwidth for p in own if p.bandwidth])
        first["bandwidth"].set_ylim(1 / high, 1 / low)
        _label_decades(first["time"].yaxis, time_text)
        _label_decades(first["bandwidth"].yaxis, _number)
    figure.suptitle(title or (machines[0] if len(machines) == 1 else ""), fontsize=11)
    lines: Dict[str, Any] = {}
    for axes in figure.axes:
        for line, label in zip(*axes.get_legend_handles_labels()):
            lines.setdefault(label, line)
    if lines:
        figure.legend(
            lines.values(), lines.keys(), loc="outside lower center",
            ncols=min(len(lines), _legend_columns(lines, sum(widths))), frameon=False, fontsize=9,
        )
    return figure


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as the other parts of the tool do."""

    def error(self, message: str) -> NoReturn:
        print(f"barmap: plot: {message}; see barmap plot --help", file=sys.stderr)
        sys.exit(_USAGE)


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs ``barmap plot``.

    Returns
    -------
    int
        The exit status: 0; 2 for wrong arguments or files; 3 without matplotlib.
    """
    parser = _Parser(
        prog="barmap plot",
        description="Draws measurements: times and bandwidths by size, and times of operations without a size.",
    )
    parser.add_argument(
        "results", nargs="+", type=Path,
        help="files that `barmap lat`, `bw`, `batch`, `ring`, `pingpong`, `api` or `fresh` wrote with --output"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="the plot: .svg, .png or .pdf"
    )
    parser.add_argument("--title", help="title, instead of the machine")
    parser.add_argument("--series", action="append", default=[], metavar="PATTERN",
                        help="draw only series of these names, as a shell matches them; may be given several times")
    parser.add_argument("--overlay", action="store_true",
                        help="draw several files in one picture, instead of next to each other")
    options = parser.parse_args(arguments)
    if options.output.suffix not in _FORMATS:
        parser.error(f"cannot draw {options.output}: give a name in {', '.join(_FORMATS)}")
    try:
        files = [(path, chosen(panels_of(path), options.series)) for path in options.results]
        panels = overlaid(files) if options.overlay else [panel for _, each in files for panel in each]
        draw(panels, options.title).savefig(options.output, dpi=150)
    except ImportError:
        print("barmap: plot needs matplotlib: pip install matplotlib", file=sys.stderr)
        return _UNAVAILABLE
    except Unusable as refused:
        print(f"barmap: {refused}", file=sys.stderr)
        return _USAGE
    except OSError as refused:
        print(f"barmap: cannot write {options.output}: {refused.strerror}", file=sys.stderr)
        return _USAGE
    return 0
