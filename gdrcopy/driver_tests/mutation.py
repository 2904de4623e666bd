#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes the kernel driver in one place at a time and sees whether a case fails, in emulated machines.

    mutation.py [--count 70] [--seed TEXT]    # mutants of all files, chosen by chance as tests/mutation does
    mutation.py --lines map.c:229-258         # all of these lines
    mutation.py --only 1a2b3c4d,...           # these
    mutation.py --list ...                    # what would be tried, without doing it

Each is built and booted on 6.12 for the open nvidia.ko, then on 6.1 for either, then with --arm64 on 6.1 for arm64
(--arm64-alone: only there), until a case fails; before all, the driver as it is, with which no case may fail. One
that compiles nowhere, or everywhere to what was there, counts for nothing. Where a case or the machine does not end, it
is tried once more and then on the other machines, and counted apart. Prints a line for each: number, place, operator,
verdict, what was there, what it became.
"""

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVER = HERE.parent / "driver"
sys.path.insert(0, str(HERE.parents[1] / "tests/mutation"))
import mutants  # noqa: E402

# It has nothing but numbers and layouts.
LEFT_OUT = {"gdrdrv_abi.h"}
LIMIT_S = 180  # of a machine; where a case hangs, it is told after a third
SECTIONS = (".text", ".init.text", ".exit.text", ".data", ".rodata", ".rodata.str1.8", ".rodata.str1.1")
# What a program that is told to stop says first: a case, the kernel's log, or the kernel's end.
REASONS = (r"^  FAILED (.*?)(?: \(\d+ ms\))?$", r"^  KERNEL;(.*)$",
           r"^(?:\[[ \d.]+\] )?(BUG: .*|.*Oops.*|Kernel panic.*)$")
HANGS = r"^    \w+ hangs$"  # what it says before it tells such a case as failed, too
ENDLESS = "does not end"


@dataclass
class Machine:
    name: str
    architecture: str
    meta: str
    variables: tuple[str, ...] = ()
    kernel: Path = Path()
    out: Path = Path()
    unchanged: bytes | None = None

    def prepare(self, folder: Path, case: str) -> None:
        said = subprocess.run([HERE / "kernels.sh", "bookworm", self.architecture, self.meta], check=True,
                              stdout=subprocess.PIPE, text=True)
        self.kernel, self.out = Path(said.stdout.strip()), folder / self.meta
        subprocess.run([HERE / "build.sh", self.kernel / "build", self.architecture, self.out, *self.variables],
                       check=True)
        self.unchanged = self.build()
        reason = self.boot(case)
        if reason:
            sys.exit(f"mutation.py: the driver as it is fails on {self.name}: {reason}; mend that first")

    def build(self) -> bytes | None:
        """What the driver's code is, in a few bytes; None where it does not compile."""
        arch, prefix = {"amd64": ("x86", ""), "arm64": ("arm64", "aarch64-linux-gnu-")}[self.architecture]
        driver = self.out / "gdrdrv"
        # Arguments in another order are no mutant where the compiler sees that they cannot be.
        compiler = f"{prefix}gcc -Werror=int-conversion -Werror=incompatible-pointer-types"
        made = subprocess.run(
            ["make", "--no-print-directory", "-s", "-j2", f"ARCH={arch}", f"CROSS_COMPILE={prefix}",
             f"CC={compiler}", "NVIDIA_SRC_DIR=", *self.variables, "-C", driver, f"KDIR={self.kernel / 'build'}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if made.returncode:
            return None
        (self.out / "root" / "gdrdrv.ko").write_bytes((driver / "gdrdrv.ko").read_bytes())
        code = hashlib.sha1()
        for path in sorted(driver.glob("*.o")):
            if path.name not in ("gdrdrv.o", "gdrdrv.mod.o", ".module-common.o"):
                wanted = [word for section in SECTIONS for word in ("-j", section)]
                code.update(subprocess.run([f"{prefix}objdump", "-drs", *wanted, path], capture_output=True).stdout)
        return code.digest()

    def boot(self, case: str) -> str:
        """The first thing that failed; nothing if all went well."""
        environment = os.environ | {"LIMIT": str(LIMIT_S), "KERNEL_OPTIONS": "oops=panic"}
        options = ["stop=yes", f"only={case}"]
        if "NVIDIA_IS_OPENSOURCE=y" in self.variables:
            options.append("large_entries=yes")
        image = (self.kernel / "image").resolve()
        told = self.out / "boot.log.text"
        told.unlink(missing_ok=True)
        booted = subprocess.run([HERE / "boot.sh", image, self.architecture, self.out, "boot", *options],
                                env=environment, capture_output=True)
        if not booted.returncode:
            return ""
        if not told.exists():
            sys.exit(f"mutation.py: nothing was booted:\n{booted.stderr.decode(errors='replace')}")
        log = told.read_text(errors="replace")
        if re.search(HANGS, log, re.M):
            return ENDLESS
        for pattern in REASONS:
            found = re.search(pattern, log, re.M)
            if found:
                return found[1]
        if "VERDICT 0" in log:
            return "" if case else "the host's look at the memory"
        return ENDLESS

    def verdict_on(self, mutant: mutants.Mutant, case: str) -> str:
        file = self.out / "gdrdrv" / mutant.file
        text = file.read_text()
        file.write_text(mutant.apply(text))
        code = self.build()
        reason = self.boot(case) if code not in (None, self.unchanged) else ""
        if reason == ENDLESS:  # or was this computer only slow?
            reason = self.boot(case)
        file.write_text(text)
        if code is None:
            return "does not compile"
        if code == self.unchanged:
            return "is the same"
        if reason == ENDLESS:
            return f"{ENDLESS} on {self.name}"
        return f"fails on {self.name}: {reason}" if reason else "survives"


def all_mutants() -> dict[str, list[mutants.Mutant]]:
    found = {}
    for path in sorted(DRIVER.glob("*.[ch]")):
        if path.name in LEFT_OUT:
            continue
        found[path.name] = mutants.mutants_of(path.name, path.read_text())
        for each in found[path.name]:
            if each.operator == "return" and each.replacement == "{}":  # which is not C
                each.replacement = "0"
                each.mutated = each.mutated.replace("return {};", "return 0;")
    return found


def chosen(options: argparse.Namespace) -> list[mutants.Mutant]:
    found = all_mutants()
    if options.only:
        return [each for some in found.values() for each in some if each.id in options.only.split(",")]
    if options.lines:
        result = []
        for where in options.lines:
            name, first, last = re.fullmatch(r"([\w.]+):(\d+)(?:-(\d+))?", where).groups()
            result += [each for each in found[name] if int(first) <= each.line <= int(last or first)]
        return result
    share = mutants.drawn({name: len(some) for name, some in found.items()}, options.count, options.seed)
    result = [each for name, some in found.items()
              for each in mutants.in_turn(some, options.seed)[:share.get(name, 0)]]
    random.Random(options.seed).shuffle(result)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=70)
    parser.add_argument("--seed", default="gdrdrv")
    parser.add_argument("--lines", nargs="+", metavar="FILE:FIRST-LAST")
    parser.add_argument("--only", metavar="NUMBER,...")
    parser.add_argument("--case", default="", help="run only cases with this in their names")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--arm64", action="store_true")
    parser.add_argument("--arm64-alone", action="store_true")
    options = parser.parse_args()
    some = chosen(options)
    if options.list:
        for each in some:
            print(f"{each.id} {each.file}:{each.line} {each.operator}: {each.original}  ->  {each.mutated}")
        return
    machines = [] if options.arm64_alone else [
        Machine("6.12", "amd64", "linux-image-6.12-cloud-amd64", ("NVIDIA_IS_OPENSOURCE=y",)),
        Machine("6.1", "amd64", "linux-image-cloud-amd64")]
    if options.arm64 or options.arm64_alone:
        machines.append(Machine("6.1 for arm64", "arm64", "linux-image-cloud-arm64"))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for machine in machines:
            machine.prepare(Path(folder), options.case)
        for each in some:
            verdicts = []
            for machine in machines:
                verdicts.append(machine.verdict_on(each, options.case))
                if verdicts[-1].startswith("fails"):
                    break
            verdict = next(verdict for kind in ("fails", ENDLESS, "survives", "is the same", "does not compile")
                           for verdict in verdicts if verdict.startswith(kind))
            counts["endless" if verdict.startswith(ENDLESS) else verdict.split()[0]] += 1
            print(each.id, f"{each.file}:{each.line}", each.operator, verdict, each.original, each.mutated,
                  sep="\t", flush=True)
    print(f"{counts['fails']} fail a case, {counts['endless']} do not end, {counts['survives']} survive")


if __name__ == "__main__":
    main()
