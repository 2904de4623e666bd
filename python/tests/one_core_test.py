# SPDX-License-Identifier: MIT
"""One process under `barmap run`, with the package, vLLM's plug-in, a caller of CUDA's batch copy and libgdrapi: it has
one engine per GPU, one gate of checkpoints and one hook in CUDA's library. one_core_program.py has what is done, and
fails where a batch or a call goes elsewhere."""

import json
import os
import pathlib
import re
import subprocess
import sys

import barmap
import pytest
from which_gpu import REAL_GPU

PACKAGE = pathlib.Path(barmap.__file__).resolve().parent
LIBRARIES = PACKAGE / "lib"
HERE = pathlib.Path(__file__).resolve().parent
CORE = str((LIBRARIES / "libbarmap.so.1").resolve())

# The simulated GPU has no channel.
ENGINE = "channel" if REAL_GPU else "driver"

pytestmark = [
    pytest.mark.skipif(not (PACKAGE / "bin" / "barmap").exists(), reason="built without CLI11, fmt or nlohmann-json"),
    pytest.mark.skipif(not LIBRARIES.exists(), reason="the libraries are those of the system"),
]


@pytest.fixture(scope="module")
def process():
    """What the program and barmap say. The engine driver would wait for itself if libbarmap-memcpy took its batches."""
    words = [sys.executable, "-m", "barmap", *([] if REAL_GPU else ["sim", "--", "barmap"]), "run", "--",
             sys.executable, str(HERE / "one_core_program.py"), str(LIBRARIES / "libgdrapi.so.2")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, "BARMAP_ENGINE": ENGINE, "BARMAP_LOG": "info", "BARMAP_VLLM": "1"})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_batches_of_all_go_by_one_engine(process):
    """It starts once, and once more behind each checkpoint. The program finds all batches in the package's counts."""
    seen, said = process
    parts = said.split("== prepared\n")
    assert [part.count(f"copy engine {ENGINE} for batches is usable") for part in parts] == [1, 1, 1], said
    account = re.search(r"barmap took (\d+) batches", said)
    assert int(account[1]) == seen["taken of the call"] >= 3 and seen["taken of the plug-in"] == 3, said


def test_one_gate_stops_all_for_a_checkpoint(process):
    """Whether the package or libgdrapi closes it; CUDA and vLLM copy meanwhile."""
    seen, said = process
    assert seen["refused of the call"] == 2 and "2 (refused by barmap)" in said, said
    assert seen["gate"] == [CORE]


def test_one_hook_is_there_for_all(process):
    """No library that is loaded has the hook's code but libbarmap.so.1. In the simulated CUDA, which makes no
    ioctl, nothing puts it there."""
    seen, _ = process
    assert seen["hook"] == [CORE]
