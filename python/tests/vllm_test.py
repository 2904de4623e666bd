# SPDX-License-Identifier: MIT
"""The plug-in for vLLM, against stand-ins of vLLM and PyTorch that have the shapes of its releases."""

import ctypes
import importlib
import importlib.metadata
import importlib.util
import logging
import os
import pathlib
import subprocess
import sys
import textwrap
import threading

import barmap
import numpy as np
import pytest
import torch_stand_in
import vllm_movers
from barmap import _vllm
from gpu_memory import Driver

HERE = pathlib.Path(__file__).resolve().parent
STAND_INS = HERE / "vllm_stand_in"
VERSIONS = ["0.24", "0.33"]
SMALL, LARGE = 8 << 10, 64 << 10  # pages: loads by Triton, and by the batch call
BLOCKS = 20


def forget_vllm():
    for name in [each for each in sys.modules if each.split(".")[0] == "vllm"]:
        del sys.modules[name]


@pytest.fixture
def environment(monkeypatch, driver, caplog):
    """PyTorch's stand-in, vLLM not imported, and the plug-in as in a new process; the engine of the
    simulated GPU is allowed, which has no channel."""
    monkeypatch.setitem(sys.modules, "torch", torch_stand_in.module)
    monkeypatch.setattr(vllm_movers, "driver", driver)
    monkeypatch.setattr(torch_stand_in.module.cuda, "stream", vllm_movers.Stream())
    monkeypatch.setattr(_vllm, "_said", set())
    monkeypatch.setattr(_vllm, "_failure", "")
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    monkeypatch.setenv("BARMAP_VLLM", "1")
    monkeypatch.setenv("BARMAP_ENGINE", barmap.batch_queue().engine)
    caplog.set_level(logging.INFO, "vllm.plugins.barmap")
    vllm_movers.calls.clear()
    forget_vllm()
    yield monkeypatch
    forget_vllm()


def load_plugins():
    """As vLLM does, of which each process may do it several times."""
    for point in importlib.metadata.distribution("barmap").entry_points:
        if point.group == "vllm.general_plugins":
            point.load()()


class Engine:
    """vLLM's worker, with a GPU's cache and a pool on the CPU, after the plug-in was loaded."""

    def __init__(self, version, page, pool=None):
        sys.path.insert(0, str(STAND_INS / version))
        try:
            importlib.import_module("vllm")
            load_plugins()
            self.module = importlib.import_module("vllm.v1.kv_offload.cpu.gpu_worker")
        finally:
            sys.path.remove(str(STAND_INS / version))
        self.gpu = barmap.alloc((BLOCKS, page), "u1")
        self.gpu.write(np.random.default_rng(1).integers(0, 256, (BLOCKS, page), "u1"))
        self.pool = barmap.pinned((BLOCKS, page), "u1") if pool is None else pool
        make = getattr(self.module, "CpuGpuOffloadingHandlers", None) or self.module.CPUOffloadingWorker
        self.worker = make((self.gpu.gpu_address, page), (self.pool.ctypes.data, page), page)
        self.store, self.load = self.worker.submit_store, self.worker.submit_load

    def cache(self):
        return np.frombuffer(self.gpu.read(), "u1").reshape(self.gpu.shape)

    def finished(self):
        return [result.job_id for handler in self.worker.handlers for result in handler.get_finished()]

    def wait(self, job_id):
        for handler in self.worker.handlers:
            handler.wait({job_id})

    def end(self):
        for handler in self.worker.handlers:
            handler.shutdown()


def messages(caplog):
    return [each.getMessage() for each in caplog.records if each.name == "vllm.plugins.barmap"]


@pytest.mark.parametrize("page", [SMALL, LARGE])
@pytest.mark.parametrize("version", VERSIONS)
def test_stores_and_loads_go_by_barmap(environment, caplog, version, page):
    engine = Engine(version, page)
    before = engine.cache().copy()
    engine.store(1, [3, 1, 4], [0, 1, 2])
    engine.wait(1)
    assert (engine.pool[:3] == before[[3, 1, 4]]).all() and not engine.pool[3:].any()
    engine.load(2, [2, 0], [10, 11])
    engine.wait(2)
    assert (engine.cache()[[10, 11]] == before[[4, 3]]).all()
    assert sorted(engine.finished()) == [1, 2] and engine.finished() == []
    engine.end()
    assert not vllm_movers.calls
    (said,) = messages(caplog)
    assert said.startswith(f"barmap {barmap.__version__} copies the blocks") and "GPU 0" in said


@pytest.mark.parametrize("version", VERSIONS)
def test_a_transfer_is_in_its_streams_place(environment, driver, version):
    engine = Engine(version, SMALL)
    go_on = threading.Event()
    hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go_on.wait(30))

    class Held(vllm_movers.Stream):
        def __init__(self):
            super().__init__()
            driver("cuLaunchHostFunc", ctypes.c_void_p(self.cuda_stream), hold, None)

    environment.setattr(vllm_movers, "Stream", Held)
    engine.store(1, [0], [0])
    assert engine.finished() == [] and not engine.pool.any()
    engine.gpu.write(np.full(SMALL, 7, "u1"))
    go_on.set()
    engine.wait(1)
    assert engine.finished() == [1] and (engine.pool[0] == 7).all()


def test_the_last_job_has_its_own_batch(environment):
    """0.33 has two handlers of loads."""
    engine = Engine("0.33", SMALL)
    engine.pool[:] = 9
    engine.worker.submit_load(1, [0], [0], expedited=True)
    engine.worker.submit_load(2, [1], [1])
    engine.wait(1)
    engine.wait(2)
    assert sorted(engine.finished()) == [1, 2] and (engine.cache()[:2] == 9).all()


@pytest.mark.parametrize("page, own", [(SMALL, "Triton"), (LARGE, "batch call")])
@pytest.mark.parametrize("version", VERSIONS)
def test_memory_that_is_not_pinned_is_vllms(environment, caplog, version, page, own):
    engine = Engine(version, page, np.zeros((BLOCKS, page), "u1"))
    before = engine.cache().copy()
    for turn in range(3):
        engine.store(2 * turn, [5, 6], [1, 0])
        engine.wait(2 * turn)
        engine.load(2 * turn + 1, [0], [turn])
        engine.wait(2 * turn + 1)
    assert (engine.pool[:2] == before[[6, 5]]).all() and (engine.cache()[:3] == before[6]).all()
    assert sorted(engine.finished()) == list(range(6))
    assert vllm_movers.calls == ({"batch call": 6} if own == "batch call" else {"batch call": 3, "Triton": 3})
    assert len([each for each in messages(caplog) if "not pinned" in each]) == 1


@pytest.mark.parametrize("last", [0, 1])
def test_one_block_that_is_not_pinned_is_enough(environment, caplog, last):
    engine = Engine("0.33", SMALL)
    pageable = np.zeros((2, SMALL), "u1")
    (handler,) = [each for each in engine.worker.handlers if each.gpu_to_cpu]
    src, dst, sizes = vllm_movers.lists((engine.gpu.gpu_address, SMALL), [0, 1],
                                        (engine.pool.ctypes.data, SMALL), [0, 1], SMALL)
    dst.array[last] = pageable.ctypes.data
    handler._swap_blocks_batch(src, dst, sizes)
    assert vllm_movers.calls == {"batch call": 1}
    assert "is not pinned, or the process is prepared" in messages(caplog)[-1]  # and the engine was not even asked


@pytest.mark.parametrize("change", [
    lambda lists, named: named.update(is_dst_access_order_any=True),
    lambda lists, named: setattr(lists[2], "array", lists[2].array.astype("i4")),
    lambda lists, named: setattr(lists[0], "array", lists[0].array[:1]),
    lambda lists, named: setattr(lists[1], "array", lists[1].array.reshape(2, 1)),
], ids=["argument", "dtype", "length", "axes"])
def test_calls_that_barmap_does_not_know_are_vllms(environment, caplog, change):
    engine = Engine("0.24", SMALL)
    asked = []
    handler = engine.worker.handlers[0]
    handler._batches._of_vllm = lambda *lists, **named: asked.append((lists, named))
    lists, named = vllm_movers.lists((engine.gpu.gpu_address, SMALL), [0, 1],
                                     (engine.pool.ctypes.data, SMALL), [0, 1], SMALL), {}
    change(lists, named)
    handler._swap_blocks_batch(*lists, **named)
    handler._swap_blocks_batch(*lists, **named)
    assert asked == [(tuple(lists), named)] * 2 and not engine.pool.any()
    assert len([each for each in messages(caplog) if "refuses" in each]) == 1


@pytest.mark.simulated
@pytest.mark.parametrize("page, own", [(SMALL, "Triton"), (LARGE, "batch call")])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("how", ["get_finished", "wait"])
def test_a_failed_batch_is_copied_again_before_it_counts_as_finished(
        environment, caplog, driver, version, page, own, how):
    engine = Engine(version, page)
    engine.pool[:] = np.random.default_rng(2).integers(0, 256, engine.pool.shape)
    engine.load(1, [7, 8], [0, 1])
    driver("cuCtxSynchronize")
    engine.gpu.write(np.zeros(2 * page, "u1"))  # as if nothing had arrived
    driver.library.barmap_sim_fail(2, 700)  # the question for the batch; the first is for the stream
    (handler,) = [each for each in engine.worker.handlers if not each.gpu_to_cpu][:1]
    if how == "wait":
        handler.wait(iter([1]))
    else:
        assert [each.job_id for each in handler.get_finished()] == [1]
    assert (engine.cache()[:2] == engine.pool[7:9]).all()
    assert vllm_movers.calls == {own: 1}
    assert "a batch failed: " in messages(caplog)[-1] and "from now on" in messages(caplog)[-1]
    engine.store(2, [0], [0])  # everything else is vLLM's from now on
    engine.wait(2)
    assert vllm_movers.calls["batch call"] == (2 if own == "batch call" else 1)
    assert (engine.pool[0] == engine.pool[7]).all()
    if how == "wait":
        assert sorted(engine.finished()) == [1, 2]


def test_a_batch_of_a_transfer_that_vllm_refused_belongs_to_no_later_one(environment):
    engine = Engine("0.24", SMALL)
    handler = engine.worker.handlers[1]
    handler._batches._latest.append("of a transfer that raised an error")
    environment.setattr(_vllm, "_failure", "so that vLLM copies itself")
    engine.load(2, [7], [0])
    assert 2 not in handler._batches._under_way


@pytest.mark.simulated
def test_what_vllm_cannot_copy_either_does_not_count_as_finished(environment, driver):
    engine = Engine("0.24", SMALL)
    engine.load(1, [7], [0])
    driver("cuCtxSynchronize")
    driver.library.barmap_sim_fail(2, 700)

    def fails(*lists, **named):
        raise RuntimeError("cuMemcpyBatchAsync failed")

    handler = engine.worker.handlers[1]
    handler._batches._of_vllm = fails
    with pytest.raises(RuntimeError, match="cuMemcpyBatchAsync failed"):
        handler.get_finished()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("value", [None, "", "0", "yes"])
def test_it_is_off_unless_asked_for(environment, caplog, version, value):
    environment.delenv("BARMAP_VLLM")
    if value is not None:
        environment.setenv("BARMAP_VLLM", value)
    engine = Engine(version, SMALL)
    engine.store(1, [0], [0])
    engine.load(2, [0], [1])
    assert vllm_movers.calls == {"batch call": 1, "Triton": 1}
    assert not messages(caplog) and not hasattr(engine.worker.handlers[0], "_batches")


@pytest.mark.parametrize("version", VERSIONS)
def test_without_a_channel_vllm_copies(environment, caplog, version):
    environment.delenv("BARMAP_ENGINE")
    if barmap.batch_queue().engine == "channel":
        pytest.skip("this GPU has a channel")
    engine = Engine(version, SMALL)
    engine.store(1, [0], [0])
    engine.load(2, [0], [1])
    assert vllm_movers.calls == {"batch call": 1, "Triton": 1}
    (said,) = messages(caplog)
    assert "vLLM's own movers copy all blocks" in said
    assert "GPU 0 has no channel" in said


def test_without_an_engine_vllm_copies(environment, caplog):
    def absent(ordinal):
        raise barmap.Error("no engine is usable")

    environment.setattr(_vllm._barmap, "batch_queue", absent)
    engine = Engine("0.33", SMALL)
    engine.store(1, [0], [0])
    assert vllm_movers.calls == {"batch call": 1}
    (said,) = messages(caplog)
    assert "no engine starts: no engine is usable" in said


UNKNOWN = {
    "no module": ("0.24", None, "there is no module vllm.v1.kv_offload.cpu.gpu_worker"),
    "no class": ("0.24", "class Other: pass", "has no class SingleDirectionOffloadingHandler"),
    "no method": ("0.33", "del SingleDirectionOffloadingHandler.get_finished", "has no get_finished()"),
    "no job_id": ("0.33", "SingleDirectionOffloadingHandler.transfer_async = lambda self, job: job",
                  "has no transfer_async(job_id)"),
    "no function": ("0.33", "def __init__(self, gpu_to_cpu, **named): self.gpu_to_cpu = gpu_to_cpu\n"
                            "SingleDirectionOffloadingHandler.__init__ = __init__",
                    "has no function _swap_blocks_batch"),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_an_unknown_version_is_told_of_and_left_alone(environment, caplog, tmp_path, what):
    version, change, said = UNKNOWN[what]
    folder = tmp_path / "vllm/v1/kv_offload/cpu"
    folder.mkdir(parents=True)
    (tmp_path / "vllm/__init__.py").write_text('__version__ = "0.99.0"')
    if change:
        text = (STAND_INS / version / "vllm/v1/kv_offload/cpu/gpu_worker.py").read_text()
        if what == "no class":
            text = ""
        (folder / "gpu_worker.py").write_text(f"{text}\n{change}\n")
    environment.syspath_prepend(str(tmp_path))
    importlib.import_module("vllm")
    _vllm.register()
    _vllm.register()
    if change:
        module = importlib.import_module("vllm.v1.kv_offload.cpu.gpu_worker")
        if what == "no function":
            module.SingleDirectionOffloadingHandler(gpu_to_cpu=True)
            module.SingleDirectionOffloadingHandler(gpu_to_cpu=False)
    (text,) = messages(caplog)
    assert text.startswith(f"BARMAP_VLLM=1 has no effect: barmap {barmap.__version__} does not know vLLM 0.99.0: ")
    assert text.endswith(said)


@pytest.mark.parametrize("imported", [False, True])
def test_it_may_be_loaded_again_and_late(environment, caplog, imported):
    environment.syspath_prepend(str(STAND_INS / "0.33"))
    if imported:
        importlib.import_module("vllm.v1.kv_offload.cpu.gpu_worker")
    finders = len(sys.meta_path)
    for _ in range(3):
        _vllm.register()
    assert len(sys.meta_path) == finders + (not imported)
    assert importlib.util.find_spec("vllm.v1.kv_offload.cpu.gpu_worker") is not None  # asking takes nothing away
    module = importlib.import_module("vllm.v1.kv_offload.cpu.gpu_worker")
    _vllm.register()
    assert len(module.SingleDirectionOffloadingHandler.__mro__) == 4  # derived from once
    assert not messages(caplog)


@pytest.mark.parametrize("log, said", [("info", True), ("debug", True), ("off", False), (None, False)])
def test_the_account_is_given_where_it_is_asked_for(environment, caplog, log, said):
    if log:
        environment.setenv("BARMAP_LOG", log)
    engine = Engine("0.24", SMALL)
    engine.store(1, [1, 2, 3], [1, 2, 3])
    engine.end()
    accounts = messages(caplog)[1:]
    assert accounts == ([
        "stores: barmap copied 1 batches of 3 blocks, of which 0 failed and were copied again; "
        "vLLM's own function copied 0 batches",
        "loads: barmap copied 0 batches of 0 blocks, of which 0 failed and were copied again; "
        "vLLM's own function copied 0 batches",
    ] if said else [])


# What vLLM does in its API process, which must not start CUDA, and in the engine's.
PROCESSES = """
import multiprocessing, os, sys
import torch_stand_in
sys.modules["torch"] = torch_stand_in.module
import vllm_movers, vllm_test

def engine():
    vllm_movers.driver = vllm_test.Driver()
    torch_stand_in.module.cuda.stream = vllm_movers.Stream()
    made = vllm_test.Engine(sys.argv[2], vllm_test.SMALL)
    made.load(1, [0, 1], [2, 3])
    made.wait(1)
    assert made.finished() == [1]
    assert not made.cache()[2:4].any()
    print("vLLM's own movers:", dict(vllm_movers.calls), flush=True)

if __name__ == "__main__":
    import vllm
    vllm_test.load_plugins()
    assert "vllm.v1.kv_offload.cpu.gpu_worker" not in sys.modules
    assert "libcuda" not in open("/proc/self/maps").read(), "CUDA is loaded"
    child = multiprocessing.get_context(sys.argv[1]).Process(target=engine)
    child.start()
    child.join()
    sys.exit(child.exitcode)
"""


@pytest.mark.simulated
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("start", ["spawn", "fork"])
@pytest.mark.parametrize("asked", [True, False])
def test_the_engines_process_may_be_spawned_or_forked(tmp_path, version, start, asked):
    program = tmp_path / "serve.py"
    program.write_text(textwrap.dedent(PROCESSES))
    environment = {
        **os.environ, "BARMAP_ENGINE": "driver", "BARMAP_SIM": "1",
        "PYTHONPATH": os.pathsep.join([str(HERE), str(STAND_INS / version)]),
    }
    environment.pop("BARMAP_VLLM", None)
    if asked:
        environment["BARMAP_VLLM"] = "1"
    done = subprocess.run([sys.executable, str(program), start, version], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"vLLM's own movers: { {} if asked else {'Triton': 1} }\n"
