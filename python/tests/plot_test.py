# SPDX-License-Identifier: MIT
"""`barmap plot`: what is drawn of results."""

import json
import warnings

import pytest
from tool_test import needs_program, tool


def timed(measurement, median, **more):
    """A row as the tool writes it."""
    return {"measurement": measurement, **more, "min_ns": 0.9 * median, "p50_ns": median, "p99_ns": 2 * median}


def file_of(path, rows, gpu="NVIDIA H200"):
    path.write_text(json.dumps({"machine": {"gpu": gpu, "backend": "rm"}, "results": rows}))
    return path


@pytest.fixture
def lat(tmp_path):
    """What `barmap lat` writes."""
    rows = [timed("copy", size + start, direction=way, size=size, method="auto", gb_per_s=size / (size + start))
            for way, start in (("h2d", 100), ("d2h", 1000)) for size in (8, 64, 4096)]
    rows += [timed("read8", 1000, method=method) for method in ("fresh", "plain load")]
    rows += [timed("post", 4, method=method, size=size) for method in ("new lines", "same line") for size in (8, 64)]
    return file_of(tmp_path / "lat.json", rows)


def compared(path, gpu="NVIDIA H200"):
    """What `barmap lat --compare` writes."""
    return file_of(path, [
        timed("copy", 100, direction=way, size=64, method=f"{method} {host}", host=host, gb_per_s=1)
        for way in ("h2d", "d2h") for host in ("pageable", "pinned") for method in ("adaptive", "channel", "cuMemcpy")], gpu)


def test_a_file_is_drawn(lat, tmp_path):
    from xml.etree import ElementTree

    done = tool("plot", lat, "-o", tmp_path / "lat.svg")
    assert done.returncode == 0, done.stderr
    assert ElementTree.parse(tmp_path / "lat.svg").getroot().tag.endswith("svg")


def test_what_is_drawn(lat):
    from barmap._plots import plot as _plot

    panels = _plot.panels_of(lat)
    assert [panel.title for panel in panels] == ["CPU to GPU", "GPU to CPU", "reads and posts of a line or less"]
    assert len(panels[2].spans) == 6
    row = next(row for row in json.loads(lat.read_text())["results"] if row["size"] == 64)
    (point,) = [point for point in panels[0].curves["auto"] if point.size == 64]
    assert point.median == pytest.approx(row["p50_ns"] * 1e-9)
    assert point.bandwidth == row["gb_per_s"]
    figure = _plot.draw(panels)
    latency, bandwidth = figure.axes[0], figure.axes[1]
    assert list(latency.lines[0].get_xdata()) == [p.size for p in panels[0].curves["auto"]]
    assert list(bandwidth.lines[0].get_ydata()) == [p.bandwidth for p in panels[0].curves["auto"]]


def test_each_kind_of_host_memory_has_its_panel(tmp_path):
    from barmap._plots import plot as _plot

    def row(method, host, direction, size=64):
        return {"measurement": "copy", "direction": direction, "size": size, "method": method, "host": host,
                "min_ns": 1, "p50_ns": 2, "p99_ns": 3, "gb_per_s": 1}

    rows = [row(f"{method} {host}", host, direction) for direction in ("h2d", "d2h")
            for host in ("pageable", "pinned") for method in ("adaptive", "channel", "cuMemcpy")]
    rows += [row("auto", "pageable", "h2d"), row("auto pinned", "pinned", "h2d")]
    path = tmp_path / "compare.json"
    path.write_text(json.dumps({"machine": {"gpu": "G", "backend": "rm"}, "results": rows}))
    panels = _plot.panels_of(path)
    assert [(panel.title, panel.machine) for panel in panels] == [
        (f"{way}, {host} memory", "G, rm") for way in ("CPU to GPU", "GPU to CPU") for host in ("pageable", "pinned")]
    assert [set(panel.curves) for panel in panels] == [
        {"adaptive", "auto", "channel", "cuMemcpy"}] * 2 + [{"adaptive", "channel", "cuMemcpy"}] * 2
    lines = {line.get_label(): line for line in _plot.draw(panels).axes[0].lines}
    assert lines["adaptive"].get_color() == "black" and lines["auto"].get_color() != "black"


def test_each_method_has_a_colour_of_its_own(tmp_path):
    from barmap._plots import plot as _plot

    methods = ["adaptive", "auto", "cuMemcpy", *(f"routine{each}" for each in range(30))]
    rows = [{"measurement": "copy", "direction": "h2d", "size": 64, "method": method, "min_ns": 1, "p50_ns": 2,
             "p99_ns": 3, "gb_per_s": 1} for method in methods]
    path = tmp_path / "many.json"
    path.write_text(json.dumps({"machine": {"gpu": "G", "backend": "rm"}, "results": rows}))
    colours = [line.get_color() for line in _plot.draw(_plot.panels_of(path)).axes[0].lines]
    assert len(colours) == len(set(colours)) == len(methods)


def test_batches_have_a_panel_for_each_direction_and_order(tmp_path):
    from barmap._plots import plot as _plot

    def row(method, direction, order, pieces, size=4096, problem=None):
        return {"measurement": "batch", "direction": direction, "order": order, "pieces": pieces,
                "size": size, "method": method, "min_ns": 100 * pieces, "p50_ns": 200 * pieces,
                "p99_ns": 300 * pieces, "gb_per_s": pieces, "problem": problem}

    rows = [row(method, direction, order, pieces, size)
            for method in ("graph", "batch_queue (channel)") for direction in ("d2h", "h2d")
            for order in ("random", "contiguous") for pieces in (1, 64) for size in (512, 4096)]
    rows.insert(0, row("graph", "d2h", "random", 16, 65536))
    rows.append(row("loop", "d2h", "random", 64, problem="no"))
    path = tmp_path / "batch.json"
    path.write_text(json.dumps({"machine": {"gpu": "G", "backend": None}, "results": rows}))
    panels = _plot.panels_of(path)
    assert [panel.title for panel in panels] == [
        f"{way}, up to 64 {order} pieces"
        for way in ("CPU to GPU", "GPU to CPU") for order in ("contiguous", "random")]
    random = panels[3].curves
    assert set(random) == {"graph", "batch_queue (channel)"}
    assert [(point.size, point.bandwidth) for point in random["graph"]] == [
        (512, 64), (4096, 64), (65536, 16)]
    assert random["graph"][0].median == pytest.approx(200e-9)
    lines = {line.get_label(): line for line in _plot.draw(panels).axes[0].lines}
    assert lines["batch_queue (channel)"].get_color() == "black"
    assert lines["graph"].get_color() != "black"


def test_batches_between_gpus_have_panels_too(tmp_path):
    from barmap._plots import plot as _plot

    rows = [{"measurement": "batch", "direction": direction, "order": "random", "pieces": 64, "size": 512,
             "method": "loop", "min_ns": 6400, "p50_ns": 12800, "p99_ns": 25600, "gb_per_s": 1,
             "problem": None, "in_flight": 2} for direction in ("to_peer", "from_peer", "inside")]
    path = tmp_path / "batch.json"
    path.write_text(json.dumps({"machine": {"gpu": "G", "backend": None}, "results": rows}))
    panels = _plot.panels_of(path)
    assert [panel.title for panel in panels] == [
        f"{way}, up to 64 random pieces" for way in ("GPU to another GPU", "another GPU to GPU", "Inside a GPU")]
    assert panels[0].curves["loop"][0].median == pytest.approx(100e-9)


@needs_program
def test_batches_of_the_tool_are_drawn(tmp_path):
    results = tmp_path / "batch.json"
    done = tool("batch", "--pool", "256K", "--pieces", "1,4", "--iterations", "2",
                "--sizes", "512,4K", "--output", results, BARMAP_SIM="1")
    assert done.returncode == 0, done.stderr
    done = tool("plot", results, "-o", tmp_path / "batch.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "batch.png").read_bytes().startswith(b"\x89PNG")


def test_rings_have_a_panel_for_each_direction_and_load(tmp_path):
    from barmap._plots import plot as _plot

    def row(direction, side, slot, load, batch=1, passed=True):
        return {"measurement": "rate", "direction": direction, "gpu_side": side, "slot_bytes": slot,
                "load": load, "batch": batch, "messages_per_s": 4e6, "gb_per_s": slot, "passed": passed}

    rows = [row("d2h", "many", 64, False), row("h2d", "warp", 128, True, 16), row("h2d", "warp", 64, True, 16),
            row("h2d", "warp", 64, False), row("h2d", "thread", 64, False, passed=False),
            {"measurement": "soak"}]
    path = tmp_path / "ring.json"
    path.write_text(json.dumps({"machine": {"gpu": "G", "backend": "rm"}, "results": rows}))
    panels = _plot.panels_of(path)
    assert [panel.title for panel in panels] == [
        "CPU to GPU, link idle", "CPU to GPU, link loaded", "GPU to CPU, link idle"]
    assert [list(panel.curves) for panel in panels] == [["warp, 1 at once"], ["warp, 16 at once"], ["many"]]
    assert [(point.size, point.bandwidth) for point in panels[1].curves["warp, 16 at once"]] == [
        (64, 64), (128, 128)]
    assert panels[2].curves["many"][0].median == pytest.approx(250e-9)
    pytest.importorskip("matplotlib")
    axes = _plot.draw(panels).axes
    assert "message" in axes[0].get_ylabel() and axes[-1].get_xlabel() == "size of a slot"


@pytest.mark.parametrize("row, title, label", [
    (timed("pingpong", 1614, doorbell="post word", answer_in="host memory"),
     "doorbell to the GPU and answer", "post word, answer in host memory"),
    (timed("trip", 1666, way="ring", message_bytes=32, load=False), "message to the GPU and back", "ring, 32 B"),
    (timed("call", 1641, request_bytes=8, reply_bytes=8, threads=1, load=False),
     "call of the other side", "8 B and 8 B, 1 thread"),
    (timed("step", 2266, what="push", tensors=48, bytes=256), "step of a loop", "push, 48 of 256 B"),
    (timed("fifo", 1704, load=True), "push, pop and credit of one slot", "fifo, link loaded"),
    (timed("api", 1224000, call="open, first"), "calls", "open, first"),
])
def test_what_has_no_size_is_drawn_as_times(tmp_path, row, title, label):
    from barmap._plots import plot as _plot

    (panel,) = _plot.panels_of(file_of(tmp_path / "a.json", [row]))
    assert panel.title == title
    assert panel.spans[label].median == pytest.approx(row["p50_ns"] * 1e-9)
    pytest.importorskip("matplotlib")
    axes = _plot.draw([panel]).axes[-1]
    assert label in [text.get_text() for text in axes.get_yticklabels()]


def test_polls_that_saw_an_older_value_are_counted(tmp_path):
    from barmap._plots import plot as _plot

    rows = [{"measurement": "fresh", "size": size, "kernel": "streaming load", "polls": 100032, "went_back": count}
            for size, count in ((64, 13438), (256, 38973))]
    (panel,) = _plot.panels_of(file_of(tmp_path / "stale.json", rows))
    assert list(panel.counts.values()) == [13438, 38973] and "100,032 polls" in panel.title
    pytest.importorskip("matplotlib")
    axes = _plot.draw([panel]).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [13438, 38973]


def test_calls_of_a_size_have_no_bandwidth(tmp_path):
    from barmap._plots import plot as _plot

    rows = [timed("api", 1000, call="open, again")]
    rows += [timed("api", size / 10, call=call, size=size) for call in ("pin", "map") for size in (65536, 1 << 20)]
    by_size = _plot.panels_of(file_of(tmp_path / "api.json", rows))[0]
    assert set(by_size.curves) == {"pin", "map"} and len(by_size.curves["map"]) == 2
    pytest.importorskip("matplotlib")
    assert _plot.draw([by_size]).axes[0].get_ylabel().startswith("time of a call")


def test_series_are_chosen_by_patterns(lat, tmp_path):
    from barmap._plots import plot as _plot, plot_data as _plot_data

    panels = _plot.panels_of(compared(tmp_path / "compared.json"))
    kept = _plot_data.chosen(panels, ["adaptive", "cu*"])
    assert [set(panel.curves) for panel in kept] == [{"adaptive", "cuMemcpy"}] * 4
    assert _plot_data.chosen(panels, []) == panels
    done = tool("plot", lat, "--series", "none", "-o", tmp_path / "p.svg")
    assert done.returncode == 2 and "there is no series 'none': there are auto" in done.stderr


def test_files_share_a_picture(tmp_path):
    from barmap._plots import plot as _plot, plot_data as _plot_data

    two = [compared(tmp_path / "lat-1.json"), compared(tmp_path / "h100.json", "NVIDIA H100 80GB HBM3")]
    files = [(path, _plot_data.chosen(_plot.panels_of(path), ["adaptive"])) for path in two]
    panels = _plot_data.overlaid(files)
    assert [list(panel.curves) for panel in panels] == [
        ["NVIDIA H200: adaptive", "NVIDIA H100 80GB HBM3: adaptive"]] * 4
    same = _plot_data.overlaid([files[0], (tmp_path / "lat-2.json", files[0][1])])
    assert list(same[0].curves) == ["lat-1: adaptive", "lat-2: adaptive"]
    assert files[0][1][0].curves.keys() == {"adaptive"}
    done = tool("plot", *two, "--overlay", "--title", "Two GPUs", "--series", "adaptive", "-o", tmp_path / "p.svg")
    assert done.returncode == 0, done.stderr
    assert "Two GPUs" in (tmp_path / "p.svg").read_text()


def test_axes_leave_out_what_is_far_off():
    from barmap._plots import plot as _plot

    assert _plot.limits([[(1, 1.0), (2, 4.0)], [(1, 100.0), (2, 1e6)]]) == pytest.approx((1 / 1.4, 140))


def test_axes_show_all_of_what_is_barmaps():
    from barmap._plots import plot as _plot
    from barmap._plots.plot_data import Panel, Point

    pytest.importorskip("matplotlib")
    curves = {"batch_queue (driver)": [Point(512, 2e-3, 3e-3, 4e-3, 0.001)],
              "graph": [Point(512, 1e-7, 1e-6, 1e-5, 5.0)]}
    latency, bandwidth = _plot.draw([Panel("batches", "G", curves)]).axes
    low, high = latency.get_ylim()
    assert low <= 1e-6 and high >= 4e-3
    low, high = bandwidth.get_ylim()
    assert low <= 0.001 and high >= 5


def test_many_panels_wrap_into_rows():
    from barmap._plots import plot as _plot
    from barmap._plots.plot_data import Panel, Point, Span

    pytest.importorskip("matplotlib")
    curves = {"auto": [Point(8, 1e-7, 2e-7, 3e-7, 1.0)]}
    panels = [Panel(f"p{index}", "G", curves) for index in range(5)]
    panels += [Panel("s", "G", spans={"x": Span(1e-6, 2e-6, 3e-6)}), Panel("t", "G", {"auto": [Point(8, 1, 1, 1, None)]})]
    figure = _plot.draw(panels)
    width, height = figure.get_size_inches()
    assert width < 15 and height == 3 * _plot._HEIGHT
    places = [axes.get_subplotspec() for axes in figure.axes if axes.get_title()]
    assert [(place.rowspan.start, place.colspan.start) for place in places] == [
        (0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2), (4, 0)]
    assert [axes.get_title() for axes in figure.axes if axes.get_ylabel().startswith("time of a copy\n")] == ["p0", "p3"]


def test_a_time_of_zero_is_drawn():
    from barmap._plots import plot as _plot
    from barmap._plots.plot_data import Panel, Span

    pytest.importorskip("matplotlib")
    # Of other packages, any warning may come meanwhile.
    warnings.filterwarnings("error", module="barmap|matplotlib")
    for span, low in ((Span(0.0, 1e-6, 2e-6), 1e-6 / 1.6), (Span(0.0, 0.0, 0.0), None)):
        axes = _plot.draw([Panel("s", "G", spans={"x": span})]).axes[0]
        assert low is None or axes.get_xlim()[0] == pytest.approx(low)


def test_a_simulated_gpu_is_said_to_be_one(tmp_path):
    from barmap._plots import plot as _plot

    row = {"measurement": "copy", "direction": "h2d", "size": 64, "method": "auto", "min_ns": 1, "p50_ns": 2,
           "p99_ns": 3, "gb_per_s": 1}
    path = tmp_path / "lat.json"
    path.write_text(json.dumps({"machine": {"gpu": "G", "backend": "rm", "simulated": True}, "results": [row]}))
    assert _plot.panels_of(path)[0].machine == "G, rm, simulated GPU: not a benchmark"


def test_mistakes_are_told_in_a_sentence(lat, capsys):
    from barmap._plots import plot as _plot

    pytest.importorskip("matplotlib")
    assert _plot.main([str(lat), "-o", "/no/such/folder/p.png"]) == 2
    assert capsys.readouterr().err == "barmap: cannot write /no/such/folder/p.png: No such file or directory\n"
    with pytest.raises(SystemExit) as exit:
        _plot.main(["a.json", "-o", "p.txt"])
    assert exit.value.code == 2
    assert capsys.readouterr().err == (
        "barmap: plot: cannot draw p.txt: give a name in .svg, .png, .pdf; see barmap plot --help\n")


def test_legends_fit_their_picture():
    from barmap._plots import plot as _plot

    assert _plot._legend_columns(["x" * 40] * 9, 9) == 2 and _plot._legend_columns(["x" * 200], 4) == 1


@pytest.mark.parametrize("text, words", [
    (None, "cannot read"),
    ("no JSON", "is not what"),
    ("[]", "is not what"),
    ('{"results": [{"measurement": "copy"}]}', "is not what"),
    ('{"machine": {"gpu": "G", "backend": "rm"}, "results": [{"measurement": "fresh"}]}',
     "is not what"),
    ('{"machine": {"gpu": "G", "backend": "rm"}, "results": [{"measurement": "soak"}]}', "has no times"),
])
def test_files_that_cannot_be_drawn(tmp_path, text, words):
    path = tmp_path / "results.json"
    if text is not None:
        path.write_text(text)
    done = tool("plot", path, "-o", tmp_path / "p.png")
    assert done.returncode == 2 and words in done.stderr and str(path) in done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "p.png").exists()


def test_plots_that_cannot_be_drawn(lat, tmp_path):
    done = tool("plot", lat, "-o", tmp_path / "p.jpeg2000")
    assert done.returncode == 2 and ".svg" in done.stderr
    done = tool("plot", lat, "-o", tmp_path / "no-directory" / "p.svg")
    assert done.returncode == 2 and "no-directory" in done.stderr


def test_without_matplotlib_it_says_what_to_do(lat, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError\n")
    done = tool("plot", lat, "-o", tmp_path / "p.svg", directory=tmp_path)
    assert done.returncode == 3 and "pip install matplotlib" in done.stderr
