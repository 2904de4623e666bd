# SPDX-License-Identifier: MIT
"""The series that ``barmap plot`` draws, from the files of the tool's measurements."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

Row = Dict[str, Any]

DIRECTIONS = {"h2d": "CPU to GPU", "d2h": "GPU to CPU"}
BETWEEN_GPUS = {"to_peer": "GPU to another GPU", "from_peer": "another GPU to GPU", "inside": "Inside a GPU"}


class Unusable(Exception):
    """A file that cannot be drawn; the text says why."""


class Point(NamedTuple):
    """One size in bytes. Times in seconds for one copy, bandwidth in GB/s (10^9 bytes), if it has one."""

    size: int
    fastest: float
    median: float
    slow: float
    bandwidth: Optional[float]


class Span(NamedTuple):
    """How long one thing takes, in seconds: the fastest, the median, and all but one in a hundred."""

    fastest: float
    median: float
    slow: float


class Panel(NamedTuple):
    """The figures of one kind of thing in one file: times by size, or times of things that have no size, or
    numbers of them."""

    title: str
    machine: str
    curves: Dict[str, List[Point]] = {}
    spans: Dict[str, Span] = {}
    counts: Dict[str, int] = {}
    thing: str = "copy"  # that has a size and takes time, or is counted

    def labels(self) -> List[str]:
        return [*self.curves, *self.spans, *self.counts]


def _span(row: Row, of: float = 1) -> Span:
    """@param of how many things the times are of"""
    fastest, median, slow = (row[name] * 1e-9 / of for name in ("min_ns", "p50_ns", "p99_ns"))
    return Span(fastest, median, slow)


def _curves(of: Iterable[Tuple[str, Point]]) -> Dict[str, List[Point]]:
    """Points by their method and in order of their sizes."""
    result: Dict[str, List[Point]] = {}
    for method, point in of:
        result.setdefault(method, []).append(point)
    for points in result.values():
        points.sort()
    return result


def _method(row: Row) -> str:
    if row["measurement"] == "bandwidth":
        return f"{row['threads']} thread{'s' if row['threads'] != 1 else ''}"
    method = str(row["method"])
    host = " " + row.get("host", "")  # which the panel's title has
    return method[: -len(host)] if len(host) > 1 and method.endswith(host) else method


def _copies(machine: str, rows: Sequence[Row]) -> List[Panel]:
    """One for each direction and kind of host memory."""
    hosts = sorted({row.get("host", "") for row in rows})  # older files do not tell
    panels = []
    for direction, words in DIRECTIONS.items():
        for host in hosts:
            curves = _curves((_method(row), Point(row["size"], *_span(row), row["gb_per_s"])) for row in rows
                             if (row["direction"], row.get("host", "")) == (direction, host))
            where = f", {host} memory" if len(hosts) > 1 else ""
            panels.append(Panel(words + where, machine, curves))
    return panels


def _batches(machine: str, rows: Sequence[Row]) -> List[Panel]:
    """One for each direction and order of pieces. Of each size the batch with the most pieces counts;
    times are of one piece of it."""
    panels = []
    for direction, words in {**DIRECTIONS, **BETWEEN_GPUS}.items():
        for order in ("contiguous", "random"):
            here = [row for row in rows if (row["direction"], row["order"]) == (direction, order)]
            most: Dict[int, int] = {}
            for row in here:
                most[row["size"]] = max(row["pieces"], most.get(row["size"], 0))
            curves = _curves(
                (row["method"], Point(row["size"], *_span(row, row["pieces"] * row.get("in_flight", 1)),
                                      row["gb_per_s"]))
                for row in here if row["pieces"] == most[row["size"]] and row["problem"] is None)
            at_once = f"up to {max(most.values(), default=0)} {order} pieces"
            panels.append(Panel(f"{words}, {at_once}", machine, curves))
    return panels


def _rates(machine: str, rows: Sequence[Row]) -> List[Panel]:
    """One for each direction, and each state of the link: messages by the size of their slot. A
    message's time is its share of many successive ones."""
    panels = []
    for direction, words in DIRECTIONS.items():
        for load, link in ((False, "link idle"), (True, "link loaded")):
            here = [row for row in rows if (row["direction"], row["load"]) == (direction, load)
                    and row["passed"] and row["messages_per_s"] > 0]

            def point(row: Row) -> Point:
                time = 1 / row["messages_per_s"]
                return Point(row["slot_bytes"], time, time, time, row["gb_per_s"])

            panels.append(Panel(f"{words}, {link}", machine, _curves(
                (row["gpu_side"] + (f", {row['batch']} at once" if direction == "h2d" else ""), point(row))
                for row in here), thing="message"))
    return panels


def _api(machine: str, rows: Sequence[Row]) -> List[Panel]:
    """Calls that have a size by it, and the others."""
    sizes: Dict[str, int] = {}
    for row in rows:
        sizes[row["call"]] = sizes.get(row["call"], 0) + 1
    by_size = [row for row in rows if sizes[row["call"]] > 1]
    return [
        Panel("calls by size", machine, _curves(
            (row["call"], Point(row["size"], *_span(row), None)) for row in by_size), thing="call"),
        Panel("calls", machine, spans={row["call"]: _span(row) for row in rows if row not in by_size}),
    ]


def _fresh(machine: str, rows: Sequence[Row]) -> List[Panel]:
    polls = max((row["polls"] for row in rows), default=0)
    return [Panel(f"of {polls:,} polls, those that saw an older value", machine, thing="poll", counts={
        f"{row['size']} B, {row['kernel']}": row["went_back"] for row in rows})]


def _loaded(row: Row) -> str:
    return ", link loaded" if row.get("load") else ""


_SMALL = "reads and posts of a line or less"

# For operations without a size, by their measurement: the panel's title, and the name of one.
_SPANS: Dict[str, Tuple[str, Callable[[Row], str]]] = {
    "pingpong": ("doorbell to the GPU and answer", lambda row: f"{row['doorbell']}, answer in {row['answer_in']}"),
    "trip": ("message to the GPU and back", lambda row: f"{row['way']}, {row['message_bytes']} B{_loaded(row)}"),
    "fifo": ("push, pop and credit of one slot", lambda row: f"fifo{_loaded(row)}"),
    "call": ("call of the other side", lambda row: (
        f"{row['request_bytes']} B and {row['reply_bytes']} B, {row['threads']} "
        f"thread{'s' if row['threads'] > 1 else ''}{_loaded(row)}")),
    "push": ("push of a message", lambda row: (
        f"{row['message_bytes']} B, {row['burst']} in a row{_loaded(row)}")),
    "step": ("step of a loop", lambda row: f"{row['what']}, {row['tensors']} of {row['bytes']} B"),
    "read8": (_SMALL, lambda row: f"read of 8 B, {row['method']}"),
    "post": (_SMALL, lambda row: f"post of {row['size']} B, {row['method']}"),
}

# Panels of the rows of these measurements.
_PANELS: Dict[Tuple[str, ...], Callable[[str, Sequence[Row]], List[Panel]]] = {
    ("copy", "bandwidth"): _copies,
    ("batch",): _batches,
    ("rate",): _rates,
    ("api",): _api,
    ("fresh",): _fresh,
}


def _machine(of: Row) -> str:
    parts = [of["gpu"], f"driver {of['kernel_driver']}" if of.get("kernel_driver") else "", of.get("backend"),
             "simulated GPU: not a benchmark" if of.get("simulated") else ""]
    return ", ".join(part for part in parts if part)


def panels_of(path: Path) -> List[Panel]:
    """Reads a file that the tool wrote.

    Returns
    -------
    list of Panel
        One for each direction that was measured, and each kind of host memory, order of pieces or
        load of the link, and one for all of a kind without a size; never empty.

    Raises
    ------
    Unusable
        If it cannot be read, is something else, or has nothing to draw in it.
    """
    try:
        found = json.loads(path.read_text())
        machine = _machine(found["machine"])
        rows: Dict[str, List[Row]] = {}
        for row in found["results"]:
            if row.get("p50_ns", 0) is not None:
                rows.setdefault(row.get("measurement"), []).append(row)
        panels = [panel for names, make in _PANELS.items()
                  for panel in make(machine, [row for name in names for row in rows.get(name, [])])]
        spans: Dict[str, Dict[str, Span]] = {}
        for name, (title, label) in _SPANS.items():
            spans.setdefault(title, {}).update((label(row), _span(row)) for row in rows.get(name, []))
        panels += [Panel(title, machine, spans=each) for title, each in spans.items()]
    except OSError as refused:
        raise Unusable(f"cannot read {path}: {refused.strerror}") from refused
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise Unusable(f"{path} is not what barmap's measurements write with --output") from wrong
    panels = [panel for panel in panels if panel.labels()]
    if not panels:
        raise Unusable(
            f"{path} has no times in it: give a file of `barmap lat`, `bw`, `batch`, `ring`, `pingpong`, `api` or "
            "`fresh`")
    return panels


def chosen(panels: Sequence[Panel], patterns: Sequence[str]) -> List[Panel]:
    """Those series whose names match one of the patterns of a shell.

    Raises
    ------
    Unusable
        If a pattern matches none.
    """
    if not patterns:
        return list(panels)
    names = sorted({label for panel in panels for label in panel.labels()})
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise Unusable(f"there is no series {pattern!r}: there are {', '.join(names)}")

    def of(series: Dict[str, Any]) -> Dict[str, Any]:
        return {label: each for label, each in series.items()
                if any(fnmatch.fnmatchcase(label, pattern) for pattern in patterns)}

    kept = [panel._replace(curves=of(panel.curves), spans=of(panel.spans), counts=of(panel.counts))
            for panel in panels]
    return [panel for panel in kept if panel.labels()]


def overlaid(files: Sequence[Tuple[Path, Sequence[Panel]]]) -> List[Panel]:
    """One panel for each title, with the series of all files, which are named for what tells the files
    apart: their GPUs, if these differ, or their names."""
    gpus = [panels[0].machine.split(",")[0] for _, panels in files]
    names = gpus if len(set(gpus)) == len(gpus) else [path.stem for path, _ in files]
    if len(set(names)) < len(names):
        names = [str(path) for path, _ in files]
    result: Dict[str, Panel] = {}
    for name, (_, panels) in zip(names, files):
        for panel in panels:
            at = result.setdefault(panel.title, panel._replace(curves={}, spans={}, counts={}))
            at.curves.update((f"{name}: {label}", each) for label, each in panel.curves.items())
            at.spans.update((f"{name}: {label}", each) for label, each in panel.spans.items())
            at.counts.update((f"{name}: {label}", each) for label, each in panel.counts.items())
            if panel.machine not in at.machine.split("\n"):
                result[panel.title] = at._replace(machine=f"{at.machine}\n{panel.machine}")
    return list(result.values())
