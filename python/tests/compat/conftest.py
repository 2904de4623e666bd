# SPDX-License-Identifier: MIT
"""What stays open for vkgdr on a GPU is opened before a test counts what is left."""

import gc

import pytest
import vkgdr


@pytest.fixture(scope="session", autouse=True)
def vkgdr_was_used(driver):
    vkgdr.Memory(vkgdr.Vkgdr.open_current_context(), 64)
    gc.collect()
