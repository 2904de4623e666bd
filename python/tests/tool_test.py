# SPDX-License-Identifier: MIT
"""The command `barmap`: the program that the package carries, and `barmap plot`."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import barmap
import pytest

PACKAGE = pathlib.Path(barmap.__file__).resolve().parent
PROGRAM = PACKAGE / "bin" / "barmap"


def tool(*arguments, directory="", **environment):
    """Runs the tool; modules of a directory hide others."""
    path = os.pathsep.join(filter(None, [str(directory), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "barmap", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True, text=True, check=False,
    )


needs_program = pytest.mark.skipif(
    not PROGRAM.exists(), reason="built without CLI11, fmt or nlohmann-json"
)


@pytest.fixture
def no_program(monkeypatch):
    """As in a package that was built without the program. To give: the program of another package."""
    from barmap._base import brought

    def with_file(path):
        monkeypatch.setattr(brought, "PROGRAM", path)

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


def test_info_of_a_program_that_fails(no_program, tmp_path):
    program = tmp_path / "barmap"
    program.write_text("#!/bin/sh\necho 'barmap: why' >&2\nexit 3\n")
    program.chmod(0o755)
    no_program(program)
    with pytest.raises(barmap.Error, match="cannot run `barmap info`: barmap: why$"):
        barmap.info()


def test_the_program_of_another_package_takes_the_place(tmp_path):
    program = tmp_path / "barmap"
    program.write_text("#!/bin/sh\necho \"$0\" \"$@\"\nexit 4\n")
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", "import pathlib, sys; from barmap import __main__ as main\n"
         "main.brought.PROGRAM = pathlib.Path(sys.argv.pop(1))\n"
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
def test_info_runs_the_package_that_was_imported(monkeypatch, tmp_path):
    """Also where the current directory is how it was found, and another one is installed."""
    (tmp_path / "barmap").mkdir()
    for name in ("__init__", "__main__"):
        (tmp_path / "barmap" / f"{name}.py").write_text("raise SystemExit('not this one')\n")
    place = os.path.dirname(os.path.dirname(barmap.__file__))
    others = [each for each in sys.path if each not in ("", place)]
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *others])
    assert barmap.info()["barmap"] == barmap.__version__


def test_info_of_another_program(no_program):
    no_program(pathlib.Path("/bin/true"))
    with pytest.raises(barmap.Error, match="printed something else"):
        barmap.info()
    no_program(pathlib.Path("/etc/passwd"))
    with pytest.raises(barmap.Error, match="cannot start /etc/passwd"):
        barmap.info()


@pytest.mark.skipif(not (PACKAGE / "lib").exists(), reason="the libraries are those of the system")
def test_libdir_has_the_libraries_by_all_their_names():
    done = tool("--libdir")
    assert (done.returncode, done.stdout) == (0, f"{PACKAGE / 'lib'}\n"), done.stderr
    # None twice: a wheel has copies instead of links.
    assert {each.name for each in (PACKAGE / "lib").glob("*.so*")} == {
        "libbarmap.so.1", "libbarmap-memcpy.so", "libgdrapi.so", "libgdrapi.so.2", "libvkgdr.so", "libvkgdr.so.1"}
    program = ("import ctypes, sys\n"
               "for name in ('libbarmap.so.1', 'libgdrapi.so.2', 'libvkgdr.so.1', 'libgdrapi.so', 'libvkgdr.so'):\n"
               "    library = ctypes.CDLL(name)\n"
               "assert ctypes.CDLL('libgdrapi.so').gdr_open and ctypes.CDLL('libvkgdr.so').vkgdr_open\n"
               "maps = open('/proc/self/maps').read()\n"
               "print(len({line.split()[-1] for line in maps.splitlines() if 'libbarmap.so.1' in line}))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": done.stdout.strip()})
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_libdir_where_the_system_has_them(monkeypatch, capsys, tmp_path):
    from barmap import __main__ as main

    monkeypatch.setattr(main.brought, "LIBRARIES", tmp_path / "none")
    assert main.main(["--libdir"]) == 3
    assert "libgdrapi2" in capsys.readouterr().err


@pytest.mark.skipif(not (PACKAGE / "lib").exists(), reason="the libraries are those of the system")
def test_one_core_serves_the_package_and_the_libraries():
    """The extension, the drop-in libraries and what `barmap run` loads have one libbarmap.so.1."""
    program = ("import ctypes, pathlib, barmap\n"
               "barmap.devices()[0]\n"
               "for name in ('libgdrapi.so.2', 'libvkgdr.so.1', 'libbarmap-memcpy.so'):\n"
               f"    ctypes.CDLL(str(pathlib.Path({str(PACKAGE / 'lib')!r}) / name))\n"
               "print(*sorted({line.split()[-1] for line in open('/proc/self/maps') if 'libbarmap.so' in line}))")
    done = tool("run", "--", sys.executable, "-c", program, BARMAP_SIM="1")
    assert (done.returncode, done.stdout) == (0, f"{PACKAGE / 'lib' / 'libbarmap.so.1'}\n"), done.stderr


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
    done = subprocess.run([PROGRAM, "plot", tmp_path / "none.json", "-o", tmp_path / "p.svg"],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "barmap: cannot read" in done.stderr


@needs_program
def test_plot_does_not_run_what_lies_in_the_current_directory(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "bin" / "python3").chmod(0o755)
    (tmp_path / "barmap").mkdir()
    for name in ("__init__", "__main__"):
        (tmp_path / "barmap" / f"{name}.py").write_text("raise SystemExit('not this one')\n")
    starts = os.path.dirname(os.path.dirname(barmap.__file__)) + os.pathsep
    done = subprocess.run([PROGRAM, "plot", "none.json", "-o", "p.svg"],
                          cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": starts})
    assert done.returncode == 2 and "barmap: cannot read" in done.stderr, done.stderr


@needs_program
def test_the_program_hands_all_options_of_plot_over(tmp_path):
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (tmp_path / "python3").write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run(
        [PROGRAM, "plot", "--title=-x", "--series", "a*", "--series=-b", "--overlay", "-o", "p.svg", "1.json", "2.json"],
        env=environment, capture_output=True, text=True, check=False)
    said = done.stdout.split("\n")
    assert said[0] == "-c" and said[said.index("plot"):] == [
        "plot", "--output=p.svg", "--title=-x", "--series=a*", "--series=-b", "--overlay", "--",
        "1.json", "2.json", ""], done.stderr


@needs_program
def test_plot_without_the_package_says_what_is_missing(tmp_path):
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run([PROGRAM, "plot", "none.json", "-o", "p.svg"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 3, done.stderr
    assert "No module named 'barmap'" in done.stderr and "Traceback" not in done.stderr


@needs_program
def test_a_misspelt_variable_is_named_once():
    for arguments in (["-c", "import barmap; barmap.info(); barmap.alloc(8, 'u1'); barmap.alloc(8, 'u1')"], ["-m", "barmap", "info"]):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, "BARMAP_SIM": "1", "BARMAP_ENGIN": "none", "BARMAP_RUNTIME": "cuda"})
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("unknown environment variable") == 1, done.stderr
        assert "BARMAP_ENGIN; did you mean BARMAP_ENGINE?" in done.stderr


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
