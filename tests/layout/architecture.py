# SPDX-License-Identifier: MIT
"""The rules of docs/design.md and core/README.md that a machine can hold, as functions.

Each takes the root of a source tree and returns what breaks the rule, one line for each place.
"""

import re
from pathlib import Path

import rooms
from c_style import sources, without_comments
from contracts import contracts_that_stand_elsewhere
from passes import calls_without_a_pass

CODE_SUFFIXES = {".cpp", ".hpp", ".cuh", ".c", ".h", ".py"}
MOST_LINES = 450
BANNED_NAMES = {"util", "utils", "common", "misc", "helper", "helpers", "internal"}

def code_files(root: Path) -> list[Path]:
    files = []
    for room in rooms.CODE:
        files += (p for p in (root / room).rglob("*") if p.is_file())
    return sorted(p for p in files if "__pycache__" not in p.parts)


def _find(root: Path, files: list[Path], pattern: str, *, keep_strings: bool,
          what: str) -> list[str]:
    found = []
    for path in files:
        text = without_comments(path.read_text(), keep_strings=keep_strings)
        for number, line in enumerate(text.splitlines(), 1):
            for match in re.finditer(pattern, line):
                found.append(f"{path.relative_to(root)}:{number}: {what}: {match.group().strip()}")
    return found


def _outside(folder: Path, *places: str) -> list[Path]:
    return [p for p in sources(folder) if not any(folder / place in (p, *p.parents) for place in places)]


def system_calls_outside_system(root: Path) -> list[str]:
    """Only system calls open, ioctl, mmap, dlopen and their kin; library_ioctls.cpp stands in front of a library's."""
    files = [*_outside(root / "core/src", "base/library_ioctls.cpp"), *sources(root / "cuda")]
    # A method or a qualified name is not a call of the system's function; `::name(` is.
    plain = r"(?<![\w.>:])(?:::)?(?:ioctl|mmap|munmap|madvise|mprotect|dlopen|dlsym|dlclose|fcntl|openat|syscall)\s*\("
    qualified = r"(?<!\w)::(?:open|close|dup|dup2|read|write|pread|pwrite|fork)\s*\("
    headers = r"#\s*include\s*<(?:dlfcn\.h|sys/syscall\.h)>"
    found = _find(root, files, f"{plain}|{qualified}|{headers}", keep_strings=True,
                  what="calls the system")
    others = [p for p in files if not p.name.endswith("_abi.hpp")]  # whose macros make the request numbers
    return found + _find(root, others, r"#\s*include\s*<sys/ioctl\.h>", keep_strings=True,
                         what="may call the system")


def environment_outside_config(root: Path) -> list[str]:
    """Only system/environment.cpp and the table of barmap's variables read the environment: they know when not to."""
    folders = [root / room for room in ("core/src", *rooms.GROUND, *rooms.LIBRARIES, *rooms.EXTENSION)]
    allowed = (root / "system/environment.cpp", root / "core/src/base/config.cpp")
    files = [p for folder in folders for p in sources(folder) if p not in allowed]
    return _find(root, files, r"\b(?:secure_)?getenv\s*\(|\benviron\b", keep_strings=False,
                 what="reads the environment")


def driver_symbols_outside_cuda(root: Path) -> list[str]:
    """Only cuda names the CUDA driver's functions."""
    return _find(root, sources(root / "core/src"), r'"cu[A-Z]\w*"|(?<![\w.>:])cu[A-Z]\w*\s*\(',
                 keep_strings=True, what="names a driver function")


def driver_functions_in_the_wrong_group(root: Path) -> list[str]:
    """The table of the CUDA driver's functions tells the library's from those of programs and tests."""
    table = root / "cuda/driver_api.hpp"
    text = table.read_text() if table.exists() else ""
    of_library, _, of_others = text.partition("BARMAP_CUDA_OTHER_FUNCTIONS(X)")
    code = "".join(p.read_text() for room in ("core/src", "cuda", *rooms.LIBRARIES) for p in sources(root / room)
                   if p != table)
    called = set(re.findall(r"(?:\.|->)(\w+)", code))
    return [f"{table.relative_to(root)}: {member} is in the wrong group"
            for group, wanted in ((of_library, True), (of_others, False))
            for member in re.findall(r"X\((\w+), \"", group) if (member in called) != wanted]


def vulkan_headers_outside_vulkan(root: Path) -> list[str]:
    """Only core/src/map/vulkan includes Vulkan's headers (and core/tests/vulkan)."""
    files = [p for p in code_files(root) if p.suffix in CODE_SUFFIXES - {".py"}
             and root / "core/src/map/vulkan" not in p.parents
             and root / "core/tests/vulkan" not in p.parents]
    return _find(root, files, r"#\s*include\s*<vulkan/[^>]*>", keep_strings=True,
                 what="includes a Vulkan header")


def backends(root: Path) -> list[str]:
    return sorted(p.name for p in (root / "core/src/map").iterdir() if p.is_dir())


def backends_named_outside_the_list(root: Path) -> list[str]:
    """Only backend.hpp and registry.cpp of core/src/map know which backends there are."""
    files = [p for room in ("api", "gpu", "map") for p in sources(root / "core/src" / room)
             if p.name not in ("backend.hpp", "registry.cpp") and p.parent.name not in backends(root)]
    names = "|".join(backends(root))
    return _find(root, files, rf'"(?:{names})"|map/(?:{names})/|make_(?:{names})\b|\b(?:{names})::',
                 keep_strings=True, what="names a backend")


# The rooms of core/src, from the lowest up: each includes those below it. Signals stand on the public interface and on the
# two lowest. All stand on system, and from driver on on cuda.
ROOMS = ("base", "driver", "transfer", "map", "gpu", "api", "signal")
BELOW = {room: set(ROOMS[:number + 1]) for number, room in enumerate(ROOMS)}
BELOW["signal"] = {"base", "driver", "signal"}
# The routines of the CPU know no driver.
BELOW["transfer/cpu"] = {"base", "transfer/cpu"}
for below in BELOW.values():
    below.update({"system", "cuda", "nvidia"} if "driver" in below else {"system"})
# Public headers of plain types, for every room, and those that declare what a room defines; the other classes of C++ are
# for the two uppermost rooms alone.
PLAIN_HEADERS = {"barmap.h", "list.h", "report.h", "error.hpp", "export.hpp", "report.hpp", "types.hpp", "waits.hpp"}
HEADERS_OF = {"transfer": {"copy.hpp", "gpu/copy_commands.cuh", "gpu/kernel_queue.cuh",
                           "gpu/shared_queue.cuh", "window.hpp"}}


def includes_upwards(root: Path) -> list[str]:
    """Rooms include downwards only, a backend never another one, public headers nothing of core/src."""
    found = []
    for room, below in BELOW.items():
        headers = PLAIN_HEADERS.union(*(HEADERS_OF.get(each.split("/")[0], ()) for each in below))
        for path in sources(root / "core/src" / room):
            text = path.read_text()
            for included in re.findall(r'#\s*include\s*"([^"]+)"', text):
                beside = (path.parent / included).exists() and "/" not in included
                if not beside and not any(included.startswith(each + "/") for each in below):
                    found.append(f"{path.relative_to(root)}: {room} includes {included}")
            for included in re.findall(r"#\s*include\s*<barmap/([^>]+)>", text):
                if room not in ("api", "signal") and included not in headers:
                    found.append(f"{path.relative_to(root)}: {room} includes <barmap/{included}>")
    for path in [p for room in rooms.GROUND for p in sources(root / room)]:
        for included in re.findall(r"#\s*include\s*<barmap/([^>]+)>", path.read_text()):
            if included not in PLAIN_HEADERS:
                found.append(f"{path.relative_to(root)}: {path.parent.name} includes <barmap/{included}>")
    for name in backends(root):
        for path in sources(root / "core/src/map" / name):
            for other in re.findall(r'#\s*include\s*"map/(\w+)/', path.read_text()):
                if other != name:
                    found.append(f"{path.relative_to(root)}: backend {name} includes {other}")
    return found + _find(root, sources(root / "core/include"), r'#\s*include\s*"[^"]*"',
                         keep_strings=True, what="a public header includes by quotes")


def products_that_include_upwards(root: Path) -> list[str]:
    """A product includes itself, core/include, and the products that it stands on."""
    found = []
    for product, below in rooms.STANDS_ON.items():
        for path in rooms.files_in(root / product, ".cpp", ".hpp", ".c", ".h", ".cu", ".cuh"):
            for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
                own = (path.parent, root / product, *(root / each for each in rooms.INCLUDED_FROM))
                place = next((each / included for each in own if (each / included).exists()), None)
                room = place.resolve().relative_to(root.resolve()).parts[0] if place else product
                if room not in (product, *below):
                    found.append(f"{path.relative_to(root)}: {product} includes {included} of {room}")
    return found


def loose_files(root: Path) -> list[str]:
    """Every file of core/src belongs to a room."""
    return [f"{p.relative_to(root)}: in no room" for p in sources(root / "core/src")
            if p.relative_to(root / "core/src").parts[0] not in ROOMS]


# Names that stand in two rooms for one thing, and which.
SAME_THING = {
    "file report": "what the library reports, and what the program makes of it for its user",
    "file ring_kernels": "the kernels, and the same ones on a simulated GPU",
    "type device": "a GPU, and a simulated one",
    "type event": "as each driver has it, and a simulated one",
    "type kernel_queue_state": "of one queue: what the GPU keeps of it, and what the CPU keeps",
    "type stream": "of a runtime, and a simulated one",
}


def one_name_in_two_rooms(root: Path) -> list[str]:
    """A name of a file, or of a type outside of functions, says what it is wherever one meets it: in all products, and in all
    rooms of core/src. A file there may have the name of the public header that declares what it defines."""
    found_in: dict[str, set[str]] = {}
    places: dict[str, list[str]] = {}
    core = ("core/src", "cuda", "system")
    for folder in (*core, "core/include", "kernels", *rooms.LIBRARIES, *rooms.PROGRAMS, "pygpu/runtime", "sim"):
        for path in rooms.files_in(root / folder, ".cpp", ".hpp", ".c", ".h", ".cuh"):
            place = path.relative_to(root).parts
            code = without_comments(path.read_text(), keep_strings=False)
            types = re.findall(r"^(?:class|struct|enum class|enum|union)\s+(\w+)\s*(?:final\s*)?(?::[^:;{][^;{]*)?\{", code,
                               re.MULTILINE)
            names = {f"type {each}" for each in types if folder in core or path.suffix not in (".cpp", ".c")}
            if folder != "core/include" or not found_in.get(f"file {path.stem}", {""}) <= set(ROOMS):
                names.add(f"file {path.stem}")
            for name in names - set(SAME_THING):
                found_in.setdefault(name, set()).add(place[2] if folder == "core/src" else place[0])
                places.setdefault(name, []).append(str(path.relative_to(root)))
    return [f"{places[name][-1]}: the same {name} as in {places[name][0]}"
            for name, found in sorted(found_in.items()) if len(found) > 1]


def long_files(root: Path) -> list[str]:
    """A file can be read in one sitting."""
    found = []
    for path in code_files(root):
        if path.suffix in CODE_SUFFIXES:
            lines = path.read_text().count("\n")
            if lines > MOST_LINES:
                found.append(f"{path.relative_to(root)}: {lines} lines")
    return found


def files_without_licence(root: Path) -> list[str]:
    """Each file of code starts with its licence, after a #! line if it has one."""
    found = []
    for path in code_files(root):
        if path.suffix not in CODE_SUFFIXES | {".cu", ".ptx"}:
            continue
        lines = path.read_text().splitlines()
        first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not first or "SPDX-License-Identifier: " not in first[0]:
            found.append(f"{path.relative_to(root)}: no SPDX line")
    return found


def tests_that_nobody_builds(root: Path) -> list[str]:
    """Each file of tests is built: a CMakeLists.txt of the tests names it."""
    built = "".join(each.read_text() for room in rooms.CODE for each in sorted((root / room).rglob("CMakeLists.txt")))
    return [f"{path.relative_to(root)}: no CMakeLists.txt names it" for path in code_files(root)
            if path.name.endswith("_test.cpp") and path.name not in built]


def names_that_say_nothing(root: Path) -> list[str]:
    """No room or file is a drawer for odds and ends."""
    found = set()
    for path in code_files(root):
        inside = path.relative_to(root)
        for part in inside.parts:
            if BANNED_NAMES & set(re.split(r"[._]", part.lower())):
                found.add(f"{inside}: {part}")
    return sorted(found)


def headers_without_guard(root: Path) -> list[str]:
    """A header may be included twice: `#pragma once`, or for C a macro's guard, comes before all else."""
    found = []
    for path in code_files(root):
        if path.suffix in {".hpp", ".cuh", ".h"}:
            code = without_comments(path.read_text(), keep_strings=True).strip()
            if not re.match(r"#pragma once\n|#ifndef (\w+)\n#define \1\n", code):
                found.append(f"{path.relative_to(root)}: no guard")
    return found


# CMakeLists.txt has the level of Release, and the one of sanitizers, under which tests need these parts to be fast;
# make_ptx.cmake that of kernels for GPUs, which clang would else compile without.
LEVELS = {("CMakeLists.txt", "-O2"), ("CMakeLists.txt", "-Og"), ("packaging/make_ptx.cmake", "-O2"),
          ("sim/CMakeLists.txt", "-O2"), ("core/src/transfer/cpu/CMakeLists.txt", "-O2")}


def levels_of_optimisation(root: Path) -> list[str]:
    """One line says how all that users get is optimised: what is tested and measured is what they get."""
    files = [root / name for name in ("CMakeLists.txt", "CMakePresets.json", "pyproject.toml", "scripts/demo",
                                      "packaging/wheel/build", "packaging/deb/debian/rules")]
    for room in ("packaging", "core/src", *rooms.GROUND, *rooms.SATELLITES):
        files += [*sorted((root / room).rglob("CMakeLists.txt")), *sorted((root / room).rglob("*.cmake"))]
    found = []
    for path in files:
        for number, line in enumerate(path.read_text().splitlines() if path.exists() else (), 1):
            for level in re.findall(r"(?<![\w-])-O[0-3sgz]\b", line.partition("#")[0]):
                if (str(path.relative_to(root)), level) not in LEVELS:
                    found.append(f"{path.relative_to(root)}:{number}: {level}")
    return found


def comments_of_namespaces(root: Path) -> list[str]:
    """A comment of documentation in front of a namespace is a header's own: else it would describe all of the namespace."""
    found = []
    for path in sources(root / "core/include"):
        for comment in re.findall(r"^((?:///.*\n)+)(?:inline )?namespace ", path.read_text(), re.MULTILINE):
            if "/// @file" not in comment:
                found.append(f"{path.relative_to(root)}: a comment in front of a namespace begins with @file: "
                             f"{comment.splitlines()[0]}")
    return found


def namespaces_that_browsers_miss(root: Path) -> list[str]:
    """`namespace a::inline b {` hides all that it holds from Universal Ctags, and from what stands on that."""
    files = [p for p in code_files(root) if p.suffix in CODE_SUFFIXES - {".py"}]
    return _find(root, files, r"^\s*namespace [\w:]+::inline\b", keep_strings=False, what="hides a namespace")


def host_memory_registered_otherwise(root: Path) -> list[str]:
    """Host memory is registered as portable and nothing else: read-only, a private mapping of a file
    that cannot be written keeps NVIDIA's kernel module in a loop for ever (580.159.04)."""
    files = [p for room in ("core/src", "cuda", *rooms.LIBRARIES, *rooms.EXTENSION, *rooms.PROGRAMS) for p in sources(root / room)]
    return _find(root, files, r"(?:host_register|HostRegister(?:_v2)?)\s*\((?![^;]*portable\))",
                 keep_strings=False, what="registers host memory with other flags")


def gpu_memory_written_without_waiting(root: Path) -> list[str]:
    """cuMemcpyHtoD of pageable memory and cuMemsetD8 may return before the last bytes have arrived, and neither barmap's
    channels nor non-blocking streams wait for them: tests on a GPU then find wrong bytes, now and then."""
    return _find(root, sources(root / "core/tests/gpu"), r"\b(?:memcpy_htod|memset_d8|memset_d32)\(", keep_strings=False,
                 what="returns early: write_by_driver() and fill_by_driver() wait")


def _of_the_library(root: Path) -> list[Path]:
    """What runs in programs of others: the core, the drop-ins, the plug-ins and Python's extensions."""
    return [p for room in (*rooms.CORE, *rooms.GROUND, *rooms.LIBRARIES, *rooms.EXTENSION) for p in sources(root / room)]


def thread_locals_with_destructors(root: Path) -> list[str]:
    """Code may run after a thread's destructors: only system/of_thread.hpp, which knows, keeps what has one."""
    found = []
    for path in _of_the_library(root):
        if path == root / "system/of_thread.hpp":
            continue
        code = without_comments(path.read_text(), keep_strings=False)
        plain = {"bool", "int", *re.findall(r"static_assert\(std::is_trivially_destructible_v<(\w+)>\)", code)}
        for number, line in enumerate(code.splitlines(), 1):
            its = re.search(r"\b(constinit )?(?:thread_local|_Thread_local|__thread)\b\s*(\w*)", line)
            if its and not (its[1] and its[2] in plain):
                found.append(f"{path.relative_to(root)}:{number}: may have a destructor: {line.strip()}")
    return found


def protection_taken_away(root: Path) -> list[str]:
    """Pages whose protection changes keep being writable: several copies of this code, and other libraries, change
    them at once, and a page that one has made read-only is written by another."""
    return _find(root, _of_the_library(root), r"\bmprotect\((?![^;]*\bPROT_READ \| PROT_WRITE\b)", keep_strings=False,
                 what="takes protection away")


def gpu_0_for_the_current_one(root: Path) -> list[str]:
    """Who names no GPU means the current one: GPU 0 by default makes a context there, of hundreds of MiB, in a process that
    uses another GPU. Only device::current_ordinal() says what a thread without a context gets."""
    files = [p for p in _of_the_library(root) if p != root / "core/src/api/device.cpp"]
    files += sorted(p for room in ("inference", "python") for p in rooms.files_in(root / room, ".py", ".pyi"))
    by_default = r"\b(?:ordinal|device|gpu)_?\b(?:\s*:[^=,()]*)?\s*=\s*0\s*[,)]"
    called = r"\b(?:device::open|device_with|(?:gpu_)?batches::of|open_device|barmap_device_create|Device|Pool)\(0\b"
    instead = r"ordinal\w*(?:\([^()]*\))?(?:\.|->)value_or\(0\)"
    return _find(root, files, f"{by_default}|{called}|{instead}", keep_strings=False, what="means the current GPU")


def threads_that_take_signals(root: Path) -> list[str]:
    """Only system/thread.cpp starts threads, which leave the program's signals to the program."""
    files = [p for p in _of_the_library(root) if p.parent != root / "system" or p.stem != "thread"]
    return _find(root, files, r"\bstd::(?:j?thread\b(?!::)|async\b)|\b(?:pthread|thrd)_create\b|\bclone3?\s*\(",
                 keep_strings=False, what="starts a thread")


# The rooms of the Python package, from the lowest up. What users import stands on all of them.
PYTHON_ROOMS = ("_base", "_arrays", "_batches", "_signals", "_sharing", "_plots")


def python_imports_upwards(root: Path) -> list[str]:
    """A room of the Python package imports from itself, from those below it, and the extension: nothing else of it."""
    found = []
    for number, room in enumerate(PYTHON_ROOMS):
        below = "|".join([*PYTHON_ROOMS[:number], "_barmap"])
        files = rooms.files_in(root / "python/barmap" / room, ".py")
        found += _find(root, files, rf"from \.\.(?!(?:{below})\b)[\w.]* import (?!_barmap\b).*", keep_strings=True,
                       what=f"imports from above {room}")
    return found


def choices_outside_policy(root: Path) -> list[str]:
    """A number by which a batch or a copy is judged stands in core/src/base/policy.hpp, with its unit and its source."""
    folders = [root / room for room in ("core/src/api", "core/src/transfer", "gdrcopy/library", "inference/preload")]
    files = [p for folder in folders for p in sources(folder) if p.name != "patience.hpp"]  # of times
    return _find(root, files, r"^\s+constexpr (?:std::)?(?:size_t|ptrdiff_t) (?:least|most|large|small|bulk)\w* =(?! policy::)|"
                 r"\b(?:bytes|pieces|size|count)\b(?:\.size\(\))? *[<>]=? *(?:\d{2,}|\d+ \* \w?ib)\b",
                 keep_strings=False, what="a number of its own")


def actions_by_tag(root: Path) -> list[str]:
    """A workflow names the commit of another project's action, which a tag may leave."""
    return [f"{path.relative_to(root)}:{number}: {line.strip()}"
            for path in sorted((root / ".github/workflows").glob("*.yml"))
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if re.search(r"\buses:", line) and not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v", line)]


def includes_of_src_from_outside(root: Path) -> list[str]:
    """What stands around the core uses its public interface, which is all that libbarmap.so.1 has."""
    found = []
    for room in rooms.SATELLITES:
        for path in sources(root / room):
            for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
                own = (path.parent, root / room, root / Path(*path.relative_to(root).parts[:2]))
                nearer = next((folder / header for folder in own if (folder / header).exists()), root / "core/src" / header)
                if nearer.exists() and nearer.resolve().is_relative_to((root / "core/src").resolve()):
                    its = nearer.resolve().relative_to((root / "core/src").resolve())
                    found.append(f"{path.relative_to(root)}: includes {its} of core/src")
    return sorted(set(found))


RULES = (
    system_calls_outside_system,
    environment_outside_config,
    driver_symbols_outside_cuda,
    driver_functions_in_the_wrong_group,
    vulkan_headers_outside_vulkan,
    backends_named_outside_the_list,
    includes_upwards,
    products_that_include_upwards,
    includes_of_src_from_outside,
    loose_files,
    one_name_in_two_rooms,
    long_files,
    files_without_licence,
    headers_without_guard,
    levels_of_optimisation,
    names_that_say_nothing,
    tests_that_nobody_builds,
    comments_of_namespaces,
    contracts_that_stand_elsewhere,
    namespaces_that_browsers_miss,
    host_memory_registered_otherwise,
    gpu_memory_written_without_waiting,
    python_imports_upwards,
    thread_locals_with_destructors,
    protection_taken_away,
    gpu_0_for_the_current_one,
    threads_that_take_signals,
    choices_outside_policy,
    calls_without_a_pass,
    actions_by_tag,
)
