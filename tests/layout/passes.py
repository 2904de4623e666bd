# SPDX-License-Identifier: MIT
"""The rule that no call forgets a checkpoint's pass."""

import re
from pathlib import Path

from c_style import sources, without_comments

# They tell what the process remembers, but for count and current, which ask CUDA: while it is locked, they wait. Those of a
# window touch memory that a checkpoint has taken away, as the program's own loads and stores do.
WITHOUT_PASS = {
    "batch_queue": {"of", "retain", "destroy"},
    "checkpoint": {"prepare", "restore"},
    "device": {"count", "current", "ordinal", "name", "pci_address", "driver_version", "simulated", "retain", "destroy"},
    "kernel_queue": {"destroy"},
    "host_buffer": {"data", "size", "gpu_address", "destroy"},
    "mapping": {"data", "size", "kind", "backend", "engines_from", "routine", "use_routine", "part", "window", "window_by", "write",
                "read", "post32", "post64", "post_line", "destroy"},
    "pin": {"gpu_address", "size", "memory_kind", "backend", "destroy"},
}
_FUNCTION = re.compile(r"^(?!namespace|struct|class|enum|union|using|static_assert|#)(?:[\w:<>,&*\[\] ]+?[ &*])?"
                       r"((?:\w+::)*~?\w+)\((?:[^;{}]|\{\})*?\)[^;{}]*?(?:try )?\{(.*?)^\}", re.M | re.S)


def calls_without_a_pass(root: Path) -> list[str]:
    """A function of the interface that core/src/api has holds a checkpoint::pass, or calls what does: else a checkpoint takes
    away what it uses."""
    functions = []
    for path in sources(root / "core/src/api"):
        code = re.sub(r"\{\s*\}$", ";", without_comments(path.read_text(), keep_strings=False), flags=re.M)
        functions += [(path, match[1].rpartition("::")[2], match[2]) for match in _FUNCTION.finditer(code)]

    def enters(body: str, by: set[str]) -> bool:
        called = rf"(?:(?<=device->)|(?<![\w>]))(?:{'|'.join(by)})\("
        return re.search(rf"\bcheckpoint::pass const \w+|{called}", body) is not None

    entering = {"enter"}
    while new := {name for _, name, body in functions if enters(body, entering)} - entering:
        entering |= new
    exempt = {f"barmap_{owner}_{name}" for owner, names in WITHOUT_PASS.items() for name in names} | {"barmap_version"}
    return [f"{path.relative_to(root)}: {name} holds no pass" for path, name, body in functions
            if name.startswith("barmap_") and name not in exempt and not enters(body, entering)]
