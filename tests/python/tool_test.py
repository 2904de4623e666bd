# SPDX-License-Identifier: MIT
"""The command `barmap`: the program that the package carries, and `barmap plot`."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from concurrent import futures

import barmap
import pytest

RESULTS = sorted((pathlib.Path(__file__).resolve().parents[2] / "docs" / "results").glob("*/lat.json"))
# The tool, without what is Python's of it.
PROGRAM = [sys.executable, "-c", "import os, sys; from barmap import _barmap\n"
                                 "sys.exit(_barmap.run_program([b'barmap', *map(os.fsencode, sys.argv[1:])], []))"]


def tool(*arguments, directory="", **environment):
    """Runs the tool; modules of a directory hide others."""
    path = os.pathsep.join(filter(None, [str(directory), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "barmap", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True, text=True, check=False,
    )


needs_program = pytest.mark.skipif(
    not hasattr(barmap._barmap, "run_program"), reason="built without CLI11, fmt or nlohmann-json"
)


@pytest.fixture
def no_program(monkeypatch):
    """As in a package that was built without the program. To give: the program of another package."""
    from barmap import __main__ as main

    def with_file(path):
        monkeypatch.setattr(main, "_PROGRAM", path)

    monkeypatch.delattr(barmap._barmap, "run_program", raising=False)
    return with_file


@needs_program
def test_the_tool_is_the_program():
    done = tool("info", "--json", BARMAP_SIM="1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["barmap"] == barmap.__version__


@needs_program
def test_info_is_that_of_the_tool():
    def without_measurements(report):
        for row in report["results"] + report["engines"] + report["batches"]:
            row.pop("start_us", None)
            # The form that was the fastest in that process is named there.
            if row.get("state") == "usable":
                del row["reason"]
        report["crossovers"] = {row["direction"] for row in report["crossovers"]}
        return report

    found = barmap.info()
    assert list(found) == [
        "barmap", "command", "machine", "results", "engines", "batches", "crossovers"]
    assert {"gpu", "backend", "copy_routine"} <= {row["kind"] for row in found["results"]}
    done = tool("info", "--json")
    assert without_measurements(found) == without_measurements(json.loads(done.stdout))


@needs_program
@pytest.mark.simulated
def test_info_leaves_this_process_alone():
    program = "import barmap; barmap.info(); barmap.sim(); assert barmap.devices()[0].simulated"
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "BARMAP_SIM": "0", "CUDA_VISIBLE_DEVICES": ""})


def test_info_without_the_program(no_program, tmp_path):
    no_program(tmp_path / "missing")
    with pytest.raises(barmap.Error, match="there is no program.*libcli11-dev") as caught:
        barmap.info()
    assert "barmap-tools" in caught.value.advice


def test_info_of_a_program_that_fails(monkeypatch, tmp_path):
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\necho 'barmap: why' >&2\nexit 3\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(barmap.Error, match="cannot run `barmap info`: barmap: why$"):
        barmap.info()


def test_info_where_python_is_not_known(monkeypatch):
    monkeypatch.setattr(sys, "executable", None)
    with pytest.raises(barmap.Error, match="cannot run `barmap info`: sys.executable is not set"):
        barmap.info()


def test_the_program_of_another_package_takes_the_place(tmp_path):
    program = tmp_path / "barmap"
    program.write_text("#!/bin/sh\necho \"$0\" \"$@\"\nexit 4\n")
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", "import pathlib, sys; from barmap import _barmap, __main__ as main\n"
         "vars(_barmap).pop('run_program', None); main._PROGRAM = pathlib.Path(sys.argv.pop(1))\n"
         "sys.exit(main.main())", program, "lat", "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, f"{program} lat --json\n"), done.stderr


@needs_program
def test_the_program_is_interrupted_as_others_are(tmp_path):
    """Python's own handler would only note the signal."""
    running = subprocess.Popen([sys.executable, "-m", "barmap", "stress", "--iterations", "1000000000"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env={**os.environ, "BARMAP_SIM": "1"},
                               # Who starts the tests in the background has it ignored.
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        while "/libcuda.so.1" not in pathlib.Path(f"/proc/{running.pid}/maps").read_text():
            assert running.poll() is None, running.communicate()
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == -signal.SIGINT
    finally:
        running.kill()
        running.communicate()


@needs_program
def test_python_gets_its_signals_back():
    from barmap import __main__ as main

    numbers = [signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ]
    before = [signal.getsignal(each) for each in numbers]
    assert main.main(["no-such-command"]) == 2
    assert [signal.getsignal(each) for each in numbers] == before


@needs_program
def test_the_program_runs_in_any_thread():
    from barmap import __main__ as main

    with futures.ThreadPoolExecutor() as pool:
        assert pool.submit(main.main, ["no-such-command"]).result() == 2


@needs_program
def test_no_signal_is_ignored_that_was_not():
    done = tool("sim", "--", "grep", "SigIgn", "/proc/self/status")
    assert int(done.stdout.split()[1], 16) & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1) == 0, done


@needs_program
def test_words_need_not_be_utf_8():
    done = subprocess.run([sys.executable, "-m", "barmap", "sim", "--", "printf", b"\xff"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"\xff"), done.stderr


@needs_program
@pytest.mark.parametrize("start", [
    ["-I", "-m", "barmap"],
    ["-c", "import sys, barmap.__main__ as main; import os; os.chdir(sys.argv.pop(1)); sys.exit(main.main(sys.argv[1:]))"],
])
def test_the_program_starts_itself_from_this_package(start, tmp_path):
    """Neither from the current directory, nor from where an isolated Python does not look."""
    (tmp_path / "barmap").mkdir()
    (tmp_path / "barmap" / "__init__.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('not this one')\n")
    isolated = start[0] == "-I"
    command = [sys.executable, *start, *([] if isolated else [tmp_path]), "sim", "--", "barmap", "--version"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)} if isolated else None
    done = subprocess.run(command, cwd=tmp_path if isolated else None, env=environment,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, barmap.__version__ + "\n"), done.stderr


@needs_program
def test_info_runs_as_this_python_does(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('not this one')\n")
    program = ("import pathlib, sys; sys.path.append(pathlib.Path('/none'))\n"
               "import barmap; assert barmap.info()['barmap'] == barmap.__version__")
    subprocess.run([sys.executable, "-I", "-c", program], check=True, stdin=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONINSPECT": ""})
    subprocess.run([sys.executable, "-c", program], check=True, stdin=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONINSPECT": "1"})


@needs_program
def test_info_does_not_start_itself_without_end(monkeypatch):
    monkeypatch.setenv("_BARMAP_INFO", "1")
    with pytest.raises(barmap.Error, match="is this program, and no Python"):
        barmap.info()


@needs_program
def test_a_closed_stdout_is_told():
    done = subprocess.run(["sh", "-c", 'exec "$0" -m barmap --version >&-', sys.executable],
                          stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3 and "could not be written" in done.stderr


@needs_program
def test_programs_run_on_the_simulated_gpu_of_the_package():
    done = tool("sim", "--devices", "2", "--", "barmap", "info", "--json")
    assert done.returncode == 0, done.stderr
    gpus = [row for row in json.loads(done.stdout)["results"] if row["kind"] == "gpu"]
    assert len(gpus) == 2


@needs_program
def test_the_program_hands_plot_over_to_python(tmp_path):
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run([*PROGRAM, "plot", tmp_path / "none.json", "-o", tmp_path / "p.svg"],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "barmap plot: cannot read" in done.stderr


@needs_program
def test_the_program_hands_all_options_of_plot_over(tmp_path):
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (tmp_path / "python3").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run(
        [*PROGRAM, "plot", "--title=-x", "--series", "a*", "--series=-b", "--overlay", "-o", "p.svg", "1.json", "2.json"],
        env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n") == [
        "-m", "barmap", "plot", "--output=p.svg", "--title=-x", "--series=a*", "--series=-b", "--overlay", "--",
        "1.json", "2.json", ""], done.stderr


@needs_program
def test_the_exit_status_is_the_programs():
    done = tool("no-such-command")
    assert done.returncode == 2 and "subcommand" in done.stderr


@needs_program
def test_results_of_the_tool_are_drawn(tmp_path):
    results = tmp_path / "bw.json"
    done = tool("bw", "--max", "64K", "--output", results, BARMAP_SIM="1")
    assert done.returncode == 0, done.stderr
    done = tool("plot", results, results, "-o", tmp_path / "bw.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bw.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_program_it_says_what_to_do(no_program, capsys, tmp_path):
    from barmap import __main__ as main

    no_program(tmp_path / "missing")
    assert main.main(["info"]) == 3
    assert "libcli11-dev" in capsys.readouterr().err


def test_published_results_are_drawn(tmp_path):
    from xml.etree import ElementTree

    assert RESULTS
    done = tool("plot", *RESULTS, "-o", tmp_path / "lat.svg")
    assert done.returncode == 0, done.stderr
    assert ElementTree.parse(tmp_path / "lat.svg").getroot().tag.endswith("svg")


def test_what_is_drawn():
    from barmap import _plot

    panels = _plot.panels_of(RESULTS[0])
    assert [panel.title for panel in panels] == ["CPU to GPU", "GPU to CPU", "reads and posts of a line or less"]
    assert len(panels[2].spans) == 6
    row = next(row for row in json.loads(RESULTS[0].read_text())["results"] if row["size"] == 64)
    (point,) = [point for point in panels[0].curves["auto"] if point.size == 64]
    assert point.median == pytest.approx(row["p50_ns"] * 1e-9)
    assert point.bandwidth == row["gb_per_s"]
    figure = _plot.draw(panels)
    latency, bandwidth = figure.axes[0], figure.axes[1]
    assert list(latency.lines[0].get_xdata()) == [p.size for p in panels[0].curves["auto"]]
    assert list(bandwidth.lines[0].get_ydata()) == [p.bandwidth for p in panels[0].curves["auto"]]


def test_each_kind_of_host_memory_has_its_panel(tmp_path):
    from barmap import _plot

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


def test_batches_have_a_panel_for_each_direction_and_order(tmp_path):
    from barmap import _plot

    def row(method, direction, order, pieces, size=4096, problem=None):
        return {"measurement": "batch", "direction": direction, "order": order, "pieces": pieces,
                "size": size, "method": method, "min_ns": 100 * pieces, "p50_ns": 200 * pieces,
                "p99_ns": 300 * pieces, "gb_per_s": pieces, "problem": problem}

    rows = [row(method, direction, order, pieces, size)
            for method in ("graph", "copy_engine (channel)") for direction in ("d2h", "h2d")
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
    assert set(random) == {"graph", "copy_engine (channel)"}
    assert [(point.size, point.bandwidth) for point in random["graph"]] == [
        (512, 64), (4096, 64), (65536, 16)]
    assert random["graph"][0].median == pytest.approx(200e-9)
    lines = {line.get_label(): line for line in _plot.draw(panels).axes[0].lines}
    assert lines["copy_engine (channel)"].get_color() == "black"
    assert lines["graph"].get_color() != "black"


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
    from barmap import _plot

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


def of_h200(name):
    return RESULTS[0].parents[1] / "h200-580.159.04" / name


@pytest.mark.parametrize("name, title, label, median", [
    ("pingpong.json", "doorbell to the GPU and answer", "post word, answer in host memory", 1.614e-6),
    ("ring-trip.json", "message to the GPU and back", "ring, 32 B", 1.666e-6),
    ("ring-calls.json", "call of the other side", "8 B and 8 B, 1 thread", 1.641e-6),
    ("ring-steps.json", "step of a loop", "push, 48 of 256 B", 2.266e-6),
    ("ring-fifo.json", "push, pop and credit of one slot", "fifo", 1.704e-6),
    ("api.json", "calls", "open, first", 1.224e-3),
])
def test_what_has_no_size_is_drawn_as_times(name, title, label, median):
    from barmap import _plot

    panels = _plot.panels_of(of_h200(name))
    (panel,) = [panel for panel in panels if panel.title == title]
    assert panel.spans[label].median == pytest.approx(median, rel=1e-3)
    pytest.importorskip("matplotlib")
    axes = _plot.draw(panels).axes[-1]
    assert label in [text.get_text() for text in axes.get_yticklabels()]


def test_polls_that_saw_an_older_value_are_counted():
    from barmap import _plot

    (panel,) = _plot.panels_of(of_h200("stale.json"))
    assert list(panel.counts.values()) == [13438, 38973] and "100,032 polls" in panel.title
    pytest.importorskip("matplotlib")
    axes = _plot.draw([panel]).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [13438, 38973]


def test_calls_of_a_size_have_no_bandwidth():
    from barmap import _plot

    by_size = _plot.panels_of(of_h200("api.json"))[0]
    assert set(by_size.curves) == {"pin", "map", "pin+map", "unmap", "unpin"} and len(by_size.curves["map"]) == 15
    pytest.importorskip("matplotlib")
    assert _plot.draw([by_size]).axes[0].get_ylabel().startswith("time of a call")


def test_series_are_chosen_by_patterns(tmp_path):
    from barmap import _plot, _plot_data

    panels = _plot.panels_of(of_h200("lat-engines-1.json"))
    kept = _plot_data.chosen(panels, ["adaptive", "cu*"])
    assert [set(panel.curves) for panel in kept] == [{"adaptive", "cuMemcpy"}] * 4
    assert _plot_data.chosen(panels, []) == panels
    done = tool("plot", RESULTS[0], "--series", "none", "-o", tmp_path / "p.svg")
    assert done.returncode == 2 and "there is no series 'none': there are auto" in done.stderr


def test_files_share_a_picture(tmp_path):
    from barmap import _plot, _plot_data

    two = [of_h200("lat-engines-1.json"), of_h200("../h100-580.159.04/lat-engines.json")]
    files = [(path, _plot_data.chosen(_plot.panels_of(path), ["adaptive"])) for path in two]
    panels = _plot_data.overlaid(files)
    assert [list(panel.curves) for panel in panels] == [
        ["NVIDIA H200: adaptive", "NVIDIA H100 80GB HBM3: adaptive"]] * 4
    same = _plot_data.overlaid([files[0], (of_h200("lat-engines-2.json"), files[0][1])])
    assert list(same[0].curves) == ["lat-engines-1: adaptive", "lat-engines-2: adaptive"]
    assert files[0][1][0].curves.keys() == {"adaptive"}
    done = tool("plot", *two, "--overlay", "--title", "Two GPUs", "--series", "adaptive", "-o", tmp_path / "p.svg")
    assert done.returncode == 0, done.stderr
    assert "Two GPUs" in (tmp_path / "p.svg").read_text()


def test_axes_leave_out_what_is_far_off():
    from barmap import _plot

    assert _plot.limits([[(1, 1.0), (2, 4.0)], [(1, 100.0), (2, 1e6)]]) == pytest.approx((1 / 1.4, 140))


def test_legends_fit_their_picture():
    from barmap import _plot

    assert _plot._legend_columns(["x" * 40] * 9, 9) == 2 and _plot._legend_columns(["x" * 200], 4) == 1


def test_files_of_either_name_of_the_smallest_time_are_read(tmp_path):
    from barmap import _plot

    text = RESULTS[0].read_text()
    assert "p0_ns" in text
    (tmp_path / "lat.json").write_text(text.replace('"p0_ns"', '"min_ns"'))
    assert _plot.panels_of(tmp_path / "lat.json") == _plot.panels_of(RESULTS[0])


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


def test_plots_that_cannot_be_drawn(tmp_path):
    done = tool("plot", RESULTS[0], "-o", tmp_path / "p.jpeg2000")
    assert done.returncode == 2 and ".svg" in done.stderr
    done = tool("plot", RESULTS[0], "-o", tmp_path / "no-directory" / "p.svg")
    assert done.returncode == 2 and "no-directory" in done.stderr


def test_without_matplotlib_it_says_what_to_do(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError\n")
    done = tool("plot", RESULTS[0], "-o", tmp_path / "p.svg", directory=tmp_path)
    assert done.returncode == 3 and "pip install matplotlib" in done.stderr
