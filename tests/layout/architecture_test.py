# SPDX-License-Identifier: MIT
"""Holds the source tree to the rules, and each rule to a tree that breaks it.

Usage: architecture_test.py ROOT [unittest's arguments]
"""

import re
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import architecture

ROOT = Path()  # set from the command line
LICENCE = "// SPDX-License-Identifier: MIT\n"


class TheTree(unittest.TestCase):
    """The rules hold."""

    def test_there_is_a_tree(self):
        self.assertGreater(len(architecture.code_files(ROOT)), 50)
        self.assertIn("rm", architecture.backends(ROOT))

    def test_rules(self):
        for rule in architecture.RULES:
            with self.subTest(rule.__name__):
                self.assertEqual([], rule(ROOT), rule.__doc__)

    def test_each_name_of_two_rooms_is_one(self):
        with unittest.mock.patch.dict(architecture.SAME_THING, clear=True):
            found = architecture.one_name_in_two_rooms(ROOT)
        self.assertEqual(len(architecture.SAME_THING), len(found), found)


# For each rule, files that keep it and files that break it.
GOOD = {
    "core/src/api/device.cpp": LICENCE + '#include "system/calls.hpp"\nvoid f() { os::current().mmap(0); open(1); }\n'
                      '// ::mmap(a comment) "rm"\n',
    "system/calls.cpp": LICENCE + "#include <sys/mman.h>\nauto a = ::open(b, c); auto d = ::mmap(e);\n",
    "core/src/base/config.cpp": LICENCE + '#include "system/fd.hpp"\nauto a = std::getenv("A");\n',
    "system/environment.cpp": LICENCE + 'auto a = ::secure_getenv("A");\n',
    "core/src/base/error.cpp": LICENCE + "#include <barmap/error.hpp>\nstruct chunk {\n};\n",
    "core/src/base/log_lines.cpp": LICENCE + '#include "base/log_lines.hpp"\n',
    "cuda/driver_api.cpp": LICENCE + '#include "system/fd.hpp"\nauto a = symbol("cuInit");\n',
    "cuda/driver_api.hpp": LICENCE + '#pragma once\n'
                               '#define BARMAP_CUDA_LIBRARY_FUNCTIONS(X) X(init, "cuInit", ())\n'
                               '#define BARMAP_CUDA_OTHER_FUNCTIONS(X) X(mem_free, "cuMemFree", ())\n',
    "cuda/memory.cpp": LICENCE + "int a = cu.init();\n",
    "cuda/host_registration.cpp": LICENCE + "int a = cu.mem_host_register(b, c, portable);\n",
    "core/src/map/registry.cpp": LICENCE + '#include "map/backend.hpp"\nauto a = "rm";\n',
    "nvidia/rm.hpp": LICENCE + "#pragma once\n#include <sys/ioctl.h>\n",
    "core/src/map/rm/rm.cpp": LICENCE + '#include "nvidia/rm.hpp"\n#include "system/fd.hpp"\n',
    "core/src/map/vulkan/gpu_session.cpp": LICENCE + "#include <vulkan/vulkan_core.h>\n",
    "core/include/barmap/device.hpp": LICENCE + "#pragma once\n/// @file\n/// GPUs.\nnamespace barmap { struct device {}; }\n",
    "core/include/barmap/pin.h": LICENCE + "#ifndef BARMAP_PIN_H\n#define BARMAP_PIN_H\n"
                                 "/// Pins. @return 0\nBARMAP_API int barmap_pin_create(int of);\n#endif\n",
    "core/include/barmap/pin.hpp": LICENCE + "#pragma once\n/// Pins. Contract and errors: barmap_pin_create().\n"
                                   "inline void pin() { detail::check(barmap_pin_create(1)); }\n",
    "system/of_thread.hpp": LICENCE + "#pragma once\nstatic thread_local owned here;\n",
    "system/thread.cpp": LICENCE + "running_ = std::thread(body);\n",
    "vkgdr/library/last_error.cpp": LICENCE + "constinit thread_local text latest{};\nconstinit thread_local bool a = false;\n"
                                  "static_assert(std::is_trivially_destructible_v<text>);\n"
                                  "std::this_thread::yield(); std::thread::id b;\n",
    "python/barmap/_signals/steps.py": "# SPDX-License-Identifier: MIT\nfrom .. import _barmap\nfrom .._barmap import a\n"
                                       "from .._batches.batches import b\nfrom .either_ring import c\n",
    "python/tool.py": "#!/usr/bin/env python3\n# SPDX-License-Identifier: MIT\n",
    "core/src/base/log_lines.hpp": LICENCE + "#pragma once\nint a;\n",
    "system/fd.hpp": LICENCE + "#pragma once\nint a;\n",
    "program/lat/lat.cpp": LICENCE + '#include "lat/lat.hpp"\n',
    "program/lat/lat.hpp": LICENCE + "#pragma once\nint a;\n",
    "CMakeLists.txt": 'set(flags "-O2") # not -O3\n',
    "program/long.ptx": LICENCE + "\n" * architecture.MOST_LINES,
}
PLANTED = {
    "system_calls_outside_system": {
        "core/src/api/mapping.cpp": LICENCE + "void f() { ::munmap(a, b); }\n",
        "core/src/api/pin.cpp": LICENCE + "void f() { mmap(a, b); }\n",
        "core/src/gpu/open_devices.cpp": LICENCE + "int a = ::open(b, c);\n",
        "core/src/transfer/cpu/cpu.cpp": LICENCE + "#include <dlfcn.h>\n",
        "core/src/driver/rm/client.cpp": LICENCE + "#pragma once\n#include <sys/ioctl.h>\n",
        "core/src/map/vulkan/loader.cpp": LICENCE + "auto a = dlopen(b, c);\n",
        "core/src/base/checkpoint.cpp": LICENCE + "int a = ::open(b, c);\n",
        "cuda/memory.cpp": LICENCE + "int a = ::close(b);\n",
    },
    "environment_outside_config": {
        "core/src/transfer/cpu/routines.cpp": LICENCE + 'auto a = std::getenv("A");\n',
        "gdrcopy/library/session.cpp": LICENCE + 'auto a = ::secure_getenv("A");\n',
        "system/library.cpp": LICENCE + 'auto a = std::getenv("A");\n',
        "cuda/environment.cpp": LICENCE + 'auto a = std::getenv("A");\n',
        "python/binding/module.cpp": LICENCE + "auto a = environ;\n",
    },
    "driver_symbols_outside_cuda": {
        "core/src/api/device.cpp": LICENCE + 'auto a = symbol("cuMemAlloc_v2");\n',
        "core/src/api/pin.cpp": LICENCE + "int a = cuMemAlloc(b);\n",
    },
    "driver_functions_in_the_wrong_group": {
        "cuda/driver_api.hpp": LICENCE + '#define BARMAP_CUDA_LIBRARY_FUNCTIONS(X) X(init, "cuInit", ())'
                                             ' X(mem_free, "cuMemFree", ())\n',
    },
    "host_memory_registered_otherwise": {
        "core/src/api/host_buffer.cpp": LICENCE + "int a = cu.mem_host_register(b, c, portable | read_only);\n",
        "pygpu/runtime/hip.cpp": LICENCE + "int a = library.host_register(b, c, 0);\n",
        "inference/nixl/place.cpp": LICENCE + "int a = cuMemHostRegister(b, c, 8);\n",
    },
    "vulkan_headers_outside_vulkan": {
        "core/src/api/device.cpp": LICENCE + "#include <vulkan/vulkan.h>\n",
        "program/info/info.cpp": LICENCE + "#include <vulkan/vulkan.h>\n",
    },
    "backends_named_outside_the_list": {
        "core/src/api/device.cpp": LICENCE + 'bool a = name == "rm";\n',
        "core/src/api/pin.cpp": LICENCE + '#include "map/vulkan/gpu_session.hpp"\n',
        "core/src/api/mapping.cpp": LICENCE + "auto a = make_rm(gpu);\n",
        "core/src/map/backend_slot.cpp": LICENCE + "auto a = vulkan::client();\n",
    },
    "includes_upwards": {
        "core/src/base/log_lines.cpp": LICENCE + '#include "nvidia/cuda.hpp"\n',
        "core/src/driver/memory_names.cpp": LICENCE + '#include "map/backend.hpp"\n',
        "cuda/nonce.cpp": LICENCE + "#include <barmap/device.hpp>\n",
        "core/src/transfer/cpu/copy.cpp": LICENCE + '#include "nvidia/cuda.hpp"\n',
        "core/src/transfer/copy_methods.cpp": LICENCE + '#include "gpu/device_state.hpp"\n',
        "core/src/driver/rm/client.cpp": LICENCE + "#include <barmap/device.hpp>\n",
        "core/src/driver/rm/uvm.cpp": LICENCE + "#include <barmap/copy.hpp>\n",
        "core/src/gpu/open_devices.cpp": LICENCE + "#include <barmap/device.hpp>\n",
        "core/src/map/scratch.cpp": LICENCE + '#include "gpu/device_state.hpp"\n',
        "core/src/map/vulkan/functions.cpp": LICENCE + '#include "map/rm/ipc_handle.hpp"\n',
        "core/src/signal/arena.cpp": LICENCE + '#include "transfer/copy_methods.hpp"\n',
        "core/src/api/pin.cpp": LICENCE + '#include "c/c_boundary.hpp"\n',
        "core/include/barmap/pin.hpp": LICENCE + '#include "base/fd.hpp"\n',
    },
    "products_that_include_upwards": {
        "core/src/map/registry.cpp": LICENCE + '#include "../../../program/lat/lat.hpp"\n',
        "nvidia/rm.hpp": LICENCE + '#pragma once\n#include "system/fd.hpp"\n',
        "cuda/memory.cpp": LICENCE + '#include "core/src/base/log_lines.hpp"\n',
        "program/lat/lat.cpp": LICENCE + '#include "python/tool.hpp"\n#include "vkgdr/library/last_error.cpp"\n',
    },
    "includes_of_src_from_outside": {
        "sim/world.cpp": LICENCE + '#include "base/log_lines.hpp"\n',
        "program/lat/lat.hpp": LICENCE + '#pragma once\n#include "../../core/src/base/log_lines.hpp"\n',
    },
    "loose_files": {"core/src/choice.cpp": LICENCE},
    "one_name_in_two_rooms": {
        "core/src/gpu/log_lines.hpp": LICENCE + "#pragma once\n",
        "system/memory.cpp": LICENCE,
        "core/src/map/scratch.hpp": LICENCE + "#pragma once\nstruct chunk {\n};\n",
        "core/src/signal/ring.cpp": LICENCE + "class chunk final : public base<chunk> {\n",
        "sim/registry.hpp": LICENCE + "#pragma once\n",
        "inference/nixl/device.cpp": LICENCE,
        "vkgdr/library/block.hpp": LICENCE + "#pragma once\nstruct chunk {\n};\n",
    },
    "long_files": {"core/tests/unit/long_test.cpp": LICENCE + "\n" * architecture.MOST_LINES},
    "files_without_licence": {
        "core/src/api/pin.cpp": "int a;\n",
        "tests/empty.cpp": "",
        "program/kernels.ptx": ".version 6.4\n",
        "python/tool.py": "#!/usr/bin/env python3\nimport os\n",
    },
    "headers_without_guard": {
        "core/tests/fake/once.hpp": LICENCE + "struct twice {};\n",
        "core/include/barmap/c.h": LICENCE + "#ifndef BARMAP_C_H\n#define BARMAP_D_H\n",
    },
    "levels_of_optimisation": {
        "CMakePresets.json": '{"CMAKE_CXX_FLAGS_RELEASE": "-O3"}\n',
        "pyproject.toml": 'CMAKE_CXX_FLAGS_RELEASE = "-Og -DNDEBUG"\n',
        "core/src/CMakeLists.txt": "target_compile_options(a PRIVATE -O3)\n",
        "packaging/wheel/build": 'cmake+=("-DCMAKE_CXX_FLAGS_RELEASE=-Oz -DNDEBUG")\n',
    },
    "actions_by_tag": {
        ".github/workflows/docs.yml": "      - uses: actions/checkout@v4\n",
    },
    "gpu_memory_written_without_waiting": {
        "core/tests/gpu/one_test.cpp": LICENCE + "void f() { expect_success(cu().memcpy_htod(to, from, 4)); }\n",
    },
    "tests_that_nobody_builds": {
        "core/tests/unit/lost_test.cpp": LICENCE,
    },
    "comments_of_namespaces": {
        "core/include/barmap/report.hpp": LICENCE + "/// What info prints,\n/// and why.\nnamespace barmap {\n",
    },
    "contracts_that_stand_elsewhere": {
        "core/include/barmap/pin.h": LICENCE + "#ifndef BARMAP_PIN_H\n#define BARMAP_PIN_H\n"
                                     "/// Pins.\nBARMAP_API int barmap_pin_create(int of);\n#endif\n",
        "core/include/barmap/pin.hpp": LICENCE + "#pragma once\n/// Pins. @throws error\n"
                                       "inline void pin() { detail::check(barmap_pin_create(1)); }\n",
        "core/include/barmap/device.hpp": LICENCE + "#pragma once\nclass device {\npublic:\n    void a() { barmap_pin_create(1); }\n"
                                          "private:\n    void b() { barmap_pin_create(2); }\n};\n",
        "core/include/barmap/list.hpp": LICENCE + "#pragma once\n/// Lists. Contract and errors: barmap_list_create().\nvoid list();\n",
        "core/include/barmap/log.hpp": LICENCE + "#pragma once\n/// Logs. Contract and errors: barmap_pin_create()\nvoid log();\n",
        "core/include/barmap/ring.hpp": LICENCE + "#pragma once\n/// Rings. Contract and errors: barmap_pin_create().\n"
                                        "/// @throws error\nvoid ring();\n",
    },
    "namespaces_that_browsers_miss": {
        "core/include/barmap/report.hpp": LICENCE + "#pragma once\nnamespace barmap::inline v {\n",
    },
    "python_imports_upwards": {
        "python/barmap/_base/numbers.py": "# SPDX-License-Identifier: MIT\nfrom .._arrays.layout import Layout\n",
        "python/barmap/_arrays/rows.py": "# SPDX-License-Identifier: MIT\ndef a():\n    from .. import types\n",
        "python/barmap/_batches/batches.py": "# SPDX-License-Identifier: MIT\nfrom .._signals.rings import ring\n",
    },
    "thread_locals_with_destructors": {
        "core/src/api/device.cpp": LICENCE + "static thread_local std::map<int, int> known;\n",
        "core/src/api/pin.cpp": LICENCE + "constinit thread_local text latest{};\n",
        "gdrcopy/library/session.cpp": LICENCE + "thread_local bool a;\n",
        "inference/nixl/backend_engine.cpp": LICENCE + "thread_local owned b;\n",
        "python/binding/module.cpp": LICENCE + "static thread_local std::string text;\n",
        "pygpu/runtime/runtime.cpp": LICENCE + "constinit thread_local state here;\n",
    },
    "protection_taken_away": {
        "core/src/base/library_ioctls.cpp": LICENCE + "int a = current().mprotect(b, c, PROT_READ);\n",
    },
    "gpu_0_for_the_current_one": {
        "core/src/gpu/open_devices.cpp": LICENCE + "auto a = cuda::current_ordinal().value_or(0);\n",
        "vkgdr/library/vkgdr.cpp": LICENCE + "auto a = barmap::device::open(0);\n",
        "python/barmap/_ring.py": "# SPDX-License-Identifier: MIT\ndef ring(slots, *, device: int = 0, name=None): ...\n",
        "inference/nixl/backend_engine.cpp": LICENCE + "void pin(int bytes, int gpu = 0);\n",
    },
    "threads_that_take_signals": {
        "core/src/api/device.cpp": LICENCE + "std::thread([] {}).detach();\n",
        "core/src/base/log_lines.cpp": LICENCE + "std::jthread a(b);\n",
        "gdrcopy/library/session.cpp": LICENCE + "auto a = std::async(b);\n",
        "inference/nixl/backend_engine.cpp": LICENCE + "std::unique_ptr<std::thread> a;\n",
        "python/binding/restore_thread.c": LICENCE + "int a = pthread_create(b, 0, c, 0);\n",
    },
    "choices_outside_policy": {
        "core/src/api/pin.cpp": LICENCE + "    constexpr std::size_t most_pieces = 8, large = 9;\n",
        "core/src/transfer/engine/spin.cpp": LICENCE + "bool a = bytes <= 32 * kib;\n",
        "inference/preload/judgement.cpp": LICENCE + "if (pieces.size() > 64) return a;\n",
    },
    "calls_without_a_pass": {
        "core/src/api/pin.cpp": LICENCE + "int barmap_mapping_create(barmap_pin* pin, barmap_mapping** out) {\n"
                                          "    return make(out, a, [&] { return map_as(pin); });\n}\n",
        "core/src/api/batch_queue.cpp": LICENCE + "int batch_queue_state::submit() {\n    checkpoint::pass const here(a);\n}\n\n"
                                        "int barmap_batch_queue_submit(int queue) {\n    return queue->engine->submit(a);\n}\n",
        "core/src/api/device.cpp": LICENCE + "void look(int a) {\n    checkpoint::pass const here(a);\n}\n\n"
                                   "int barmap_device_ordinal(int a) {\n    return 0;\n}\n\nint barmap_device_create(int a) {\n    look(1);\n}\n\n"
                                   "int barmap_device_bar1(int a) {\n    return state->bar1();\n}\n",
    },
    "names_that_say_nothing": {
        "core/src/utils/fd.cpp": LICENCE,
        "tests/common.hpp": LICENCE,
        "program/string_util.cpp": LICENCE,
    },
}


class ThePlaces(unittest.TestCase):
    """A rule whose directories have moved finds nothing, and would pass."""

    def test_what_the_rules_look_at_is_there(self):
        code = Path(architecture.__file__).read_text()
        named = set(re.findall(r'\broot / "([^"]+)"', code)) | {*architecture.rooms.CODE, *architecture.rooms.SATELLITES,
                                                                 *architecture.rooms.INCLUDED_FROM}
        named |= {f"{product}/README.md" for product in architecture.rooms.STANDS_ON}
        named |= {f"core/src/{room}" for room in architecture.ROOMS}
        for rooms in re.findall(r'\bfor (?:room|name) in \(([^()]*)\)', code):
            named.update(re.findall(r'"([^"]+)"', rooms))
        within_src = {"api", "gpu", "map"}
        self.assertGreater(len(named), 25)
        self.assertEqual([], sorted(each for each in named - within_src if not (ROOT / each).exists()))

    def test_what_other_tests_look_at_is_there(self):
        seen = 0
        for name in ("tests/layout/variables_test.py", "tests/layout/alone.py", "tests/mutation/mutants.py",
                     "tests/docs/prose_test.py", "tests/examples/docs_test.py", "docs/site/prepare.py"):
            code = (ROOT / name).read_text()
            for listed in re.findall(r"^(?:FOLDERS|ROOMS|DOCUMENTS) = [(\[]([^)\]]*)|^ +for (?:pattern|room) in \(([^)]*)\)", code, re.M):
                for pattern in re.findall(r'"([^"]+)"', "".join(listed)):
                    if "{room}" in pattern:  # of rooms.py, which are looked at above
                        continue
                    seen += 1
                    self.assertTrue(any(ROOT.glob(pattern)), f"{name} looks at {pattern}")
        self.assertGreater(seen, 20)


class TheRules(unittest.TestCase):
    """A rule that cannot be broken is no rule."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write(GOOD)

    def write(self, files):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def test_a_good_tree_breaks_none(self):
        for rule in architecture.RULES:
            with self.subTest(rule.__name__):
                self.assertEqual([], rule(self.root))

    def test_every_rule_has_its_plant(self):
        self.assertEqual({rule.__name__ for rule in architecture.RULES}, set(PLANTED))

    def test_each_plant_is_found(self):
        for rule in architecture.RULES:
            for name, text in PLANTED[rule.__name__].items():
                with self.subTest(rule=rule.__name__, file=name):
                    before = (self.root / name).read_text() if name in GOOD else None
                    self.write({name: text})
                    found = rule(self.root)
                    self.assertEqual(1, len(found), found)
                    self.assertTrue(found[0].startswith(name), found)
                    (self.root / name).unlink()
                    if before is not None:
                        self.write({name: before})


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
