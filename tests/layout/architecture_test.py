# SPDX-License-Identifier: MIT
"""Holds the source tree to the rules, and each rule to a tree that breaks it.

Usage: architecture_test.py ROOT [unittest's arguments]
"""

import re
import sys
import tempfile
import unittest
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


# For each rule, files that keep it and files that break it.
GOOD = {
    "src/api/device.cpp": LICENCE + '#include "base/calls.hpp"\nvoid f() { os::current().mmap(0); open(1); }\n'
                      '// ::mmap(a comment) "rm"\n',
    "src/base/calls.cpp": LICENCE + "#include <sys/mman.h>\nauto a = ::open(b, c); auto d = ::mmap(e);\n",
    "src/base/config.cpp": LICENCE + '#include "base/fd.hpp"\nauto a = secure_getenv("A");\n',
    "src/base/error.cpp": LICENCE + "#include <barmap/error.hpp>\n",
    "src/base/log.cpp": LICENCE + '#include "base/log.hpp"\n',
    "src/driver/cuda/driver_api.cpp": LICENCE + '#include "base/config.hpp"\nauto a = symbol("cuInit");\n',
    "src/driver/cuda/driver_api.hpp": LICENCE + '#pragma once\n'
                               '#define BARMAP_CUDA_LIBRARY_FUNCTIONS(X) X(init, "cuInit", ())\n'
                               '#define BARMAP_CUDA_OTHER_FUNCTIONS(X) X(mem_free, "cuMemFree", ())\n',
    "src/driver/cuda/memory.cpp": LICENCE + "int a = cu.init();\nstruct chunk {\n};\n",
    "src/driver/cuda/host_registration.cpp": LICENCE + "int a = cu.mem_host_register(b, c, portable);\n",
    "src/map/registry.cpp": LICENCE + '#include "map/backend.hpp"\nauto a = "rm";\n',
    "src/driver/rm/rm_abi.hpp": LICENCE + "#pragma once\n#include <sys/ioctl.h>\n",
    "src/map/rm/rm.cpp": LICENCE + '#include "driver/rm/rm_abi.hpp"\n#include "base/fd.hpp"\n',
    "src/map/vulkan/session.cpp": LICENCE + "#include <vulkan/vulkan_core.h>\n",
    "include/barmap/device.hpp": LICENCE + "#pragma once\n/// @file\n/// GPUs.\nnamespace barmap { struct device {}; }\n",
    "src/base/of_thread.hpp": LICENCE + "#pragma once\nstatic thread_local owned here;\n",
    "src/base/thread.cpp": LICENCE + "running_ = std::thread(body);\n",
    "shims/vkgdr/last_error.cpp": LICENCE + "constinit thread_local text latest{};\nconstinit thread_local bool a = false;\n"
                                  "static_assert(std::is_trivially_destructible_v<text>);\n"
                                  "std::this_thread::yield(); std::thread::id b;\n",
    "python/tool.py": "#!/usr/bin/env python3\n# SPDX-License-Identifier: MIT\n",
    "src/base/fd.hpp": LICENCE + "#pragma once\nint a;\n",
    "tools/lat/lat.cpp": LICENCE + '#include "lat/lat.hpp"\n#include "base/fd.hpp"\n',
    "tools/lat/lat.hpp": LICENCE + "#pragma once\nint a;\n",
    architecture.ALLOWED_INSIDE: "# As yet:\ntools/lat/lat.cpp base/fd.hpp\n",
    "CMakeLists.txt": 'set(flags "-O2") # not -O3\n',
    "tools/long.ptx": LICENCE + "\n" * architecture.MOST_LINES,
}
PLANTED = {
    "system_calls_outside_base": {
        "src/api/mapping.cpp": LICENCE + "void f() { ::munmap(a, b); }\n",
        "src/api/pin.cpp": LICENCE + "void f() { mmap(a, b); }\n",
        "src/gpu/open_devices.cpp": LICENCE + "int a = ::open(b, c);\n",
        "src/transfer/cpu/cpu.cpp": LICENCE + "#include <dlfcn.h>\n",
        "src/driver/rm/client.cpp": LICENCE + "#pragma once\n#include <sys/ioctl.h>\n",
        "src/map/vulkan/loader.cpp": LICENCE + "auto a = dlopen(b, c);\n",
    },
    "environment_outside_config": {
        "src/transfer/cpu/routines.cpp": LICENCE + 'auto a = std::getenv("A");\n',
        "shims/gdrapi/session.cpp": LICENCE + 'auto a = ::secure_getenv("A");\n',
        "python/binding/module.cpp": LICENCE + "auto a = environ;\n",
    },
    "driver_symbols_outside_cuda": {
        "src/api/device.cpp": LICENCE + 'auto a = symbol("cuMemAlloc_v2");\n',
        "src/api/pin.cpp": LICENCE + "int a = cuMemAlloc(b);\n",
    },
    "driver_functions_in_the_wrong_group": {
        "src/driver/cuda/driver_api.hpp": LICENCE + '#define BARMAP_CUDA_LIBRARY_FUNCTIONS(X) X(init, "cuInit", ())'
                                             ' X(mem_free, "cuMemFree", ())\n',
    },
    "host_memory_registered_otherwise": {
        "src/api/host_buffer.cpp": LICENCE + "int a = cu.mem_host_register(b, c, portable | read_only);\n",
        "python/runtime/hip.cpp": LICENCE + "int a = library.host_register(b, c, 0);\n",
        "plugins/nixl/place.cpp": LICENCE + "int a = cuMemHostRegister(b, c, 8);\n",
    },
    "vulkan_headers_outside_vulkan": {
        "src/api/device.cpp": LICENCE + "#include <vulkan/vulkan.h>\n",
        "tools/info/info.cpp": LICENCE + "#include <vulkan/vulkan.h>\n",
    },
    "backends_named_outside_the_list": {
        "src/api/device.cpp": LICENCE + 'bool a = name == "rm";\n',
        "src/api/pin.cpp": LICENCE + '#include "map/vulkan/session.hpp"\n',
        "src/api/mapping.cpp": LICENCE + "auto a = make_rm(gpu);\n",
        "src/map/backend_slot.cpp": LICENCE + "auto a = vulkan::client();\n",
    },
    "includes_upwards": {
        "src/base/fd.cpp": LICENCE + '#include "driver/cuda/types.hpp"\n',
        "src/driver/cuda/nonce.cpp": LICENCE + '#include "map/backend.hpp"\n',
        "src/transfer/cpu/copy.cpp": LICENCE + '#include "driver/cuda/types.hpp"\n',
        "src/transfer/copy_methods.cpp": LICENCE + '#include "gpu/device_state.hpp"\n',
        "src/driver/rm/client.cpp": LICENCE + "#include <barmap/device.hpp>\n",
        "src/driver/rm/uvm.cpp": LICENCE + "#include <barmap/copy.hpp>\n",
        "src/gpu/open_devices.cpp": LICENCE + "#include <barmap/device.hpp>\n",
        "src/map/scratch.cpp": LICENCE + '#include "gpu/device_state.hpp"\n',
        "src/map/vulkan/functions.cpp": LICENCE + '#include "map/rm/ipc_handle.hpp"\n',
        "src/signal/arena.cpp": LICENCE + '#include "transfer/copy_methods.hpp"\n',
        "include/barmap/pin.hpp": LICENCE + '#include "base/fd.hpp"\n',
    },
    "includes_of_src_from_outside": {
        "sim/world.cpp": LICENCE + '#include "base/fd.hpp"\n',
        "tools/lat/lat.hpp": LICENCE + '#pragma once\n#include "../../src/driver/rm/rm_abi.hpp"\n',
        "tools/lat/lat.cpp": LICENCE,
    },
    "loose_files": {"src/choice.cpp": LICENCE},
    "one_name_in_two_rooms": {
        "src/gpu/calls.hpp": LICENCE,
        "src/map/scratch.hpp": LICENCE + "struct chunk {\n};\n",
        "src/signal/ring.cpp": LICENCE + "class chunk final : public base<chunk> {\n",
    },
    "long_files": {"tests/unit/long_test.cpp": LICENCE + "\n" * architecture.MOST_LINES},
    "files_without_licence": {
        "src/api/pin.cpp": "int a;\n",
        "tests/empty.cpp": "",
        "tools/kernels.ptx": ".version 6.4\n",
        "python/tool.py": "#!/usr/bin/env python3\nimport os\n",
    },
    "headers_without_guard": {
        "tests/fake/once.hpp": LICENCE + "struct twice {};\n",
        "include/barmap/c.h": LICENCE + "#ifndef BARMAP_C_H\n#define BARMAP_D_H\n",
    },
    "levels_of_optimisation": {
        "CMakePresets.json": '{"CMAKE_CXX_FLAGS_RELEASE": "-O3"}\n',
        "pyproject.toml": 'CMAKE_CXX_FLAGS_RELEASE = "-Og -DNDEBUG"\n',
        "src/CMakeLists.txt": "target_compile_options(a PRIVATE -O3)\n",
        "packaging/wheel/build": 'cmake+=("-DCMAKE_CXX_FLAGS_RELEASE=-Oz -DNDEBUG")\n',
    },
    "actions_by_tag": {
        ".github/workflows/docs.yml": "      - uses: actions/checkout@v4\n",
    },
    "tests_that_nobody_builds": {
        "tests/unit/lost_test.cpp": LICENCE,
    },
    "comments_of_namespaces": {
        "include/barmap/report.hpp": LICENCE + "/// What info prints,\n/// and why.\nnamespace barmap::inline v {\n",
    },
    "thread_locals_with_destructors": {
        "src/api/device.cpp": LICENCE + "static thread_local std::map<int, int> known;\n",
        "src/api/pin.cpp": LICENCE + "constinit thread_local text latest{};\n",
        "shims/gdrapi/session.cpp": LICENCE + "thread_local bool a;\n",
        "plugins/nixl/engine.cpp": LICENCE + "thread_local owned b;\n",
        "python/binding/module.cpp": LICENCE + "static thread_local std::string text;\n",
        "python/runtime/runtime.cpp": LICENCE + "constinit thread_local state here;\n",
    },
    "protection_taken_away": {
        "src/base/library_ioctls.cpp": LICENCE + "int a = current().mprotect(b, c, PROT_READ);\n",
    },
    "gpu_0_for_the_current_one": {
        "src/gpu/open_devices.cpp": LICENCE + "auto a = cuda::current_ordinal().value_or(0);\n",
        "shims/vkgdr/vkgdr.cpp": LICENCE + "auto a = barmap::device::open(0);\n",
        "python/barmap/_ring.py": "# SPDX-License-Identifier: MIT\ndef ring(slots, *, device: int = 0, name=None): ...\n",
        "plugins/nixl/engine.cpp": LICENCE + "void pin(int bytes, int gpu = 0);\n",
    },
    "threads_that_take_signals": {
        "src/api/device.cpp": LICENCE + "std::thread([] {}).detach();\n",
        "src/base/log.cpp": LICENCE + "std::jthread a(b);\n",
        "shims/gdrapi/session.cpp": LICENCE + "auto a = std::async(b);\n",
        "plugins/nixl/engine.cpp": LICENCE + "std::unique_ptr<std::thread> a;\n",
        "python/binding/restore_thread.c": LICENCE + "int a = pthread_create(b, 0, c, 0);\n",
    },
    "names_that_say_nothing": {
        "src/utils/fd.cpp": LICENCE,
        "tests/common.hpp": LICENCE,
        "tools/string_util.cpp": LICENCE,
    },
}


class ThePlaces(unittest.TestCase):
    """A rule whose directories have moved finds nothing, and would pass."""

    def test_what_the_rules_look_at_is_there(self):
        code = Path(architecture.__file__).read_text()
        named = set(re.findall(r'\broot / "([^"]+)"', code)) | set(architecture.CODE_ROOMS)
        named |= {f"src/{room}" for room in architecture.ROOMS}
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
                    seen += 1
                    self.assertTrue(any(ROOT.glob(pattern)), f"{name} looks at {pattern}")
        self.assertGreater(seen, 30)


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
