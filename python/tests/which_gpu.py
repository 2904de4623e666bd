# SPDX-License-Identifier: MIT
"""The GPU that the tests use: simulated, unless BARMAP_REQUIRE=NAME,... asks for a real one.

Import it before anything uses barmap.
"""

import os

REQUIRED = [name for name in os.environ.get("BARMAP_REQUIRE", "").split(",") if name]
REAL_GPU = bool(REQUIRED)
for variable in set(filter(lambda name: name.startswith("BARMAP_"), os.environ)) - {"BARMAP_RUNTIME"}:
    del os.environ[variable]

import barmap  # noqa: E402

if not REAL_GPU:
    barmap.sim()
