# SPDX-License-Identifier: MIT
"""No variable and no argv[0] makes a program with more rights than its user load anything, or say anything.

Usage: environment_test.py INTRUDER VICTIM... (unittest's own options are not taken)
"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

INTRUDER, *VICTIMS = (Path(each).resolve() for each in sys.argv[1:])
NOBODY = 65534
# Source: linux/capability.h, struct vfs_cap_data, revision 2, effective; CAP_DAC_OVERRIDE is 1.
CAPABILITY = struct.pack("<5I", 0x02000001, 1 << 1, 0, 0, 0)
LOADED, DONE = "intruder loaded", "done"
MISSPELT = {"BARMAP_ENGIN": "none", "BARMAP_TEST_ANYTHING": "1"}


class Environment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.root.chmod(0o755)
        # Wherever a program may look beside itself, or beside what it is told it is.
        self.here = self.root / "here" / "bin"
        for place in ("here/bin/barmap-sim", "here/lib/barmap-sim", "here/barmap-sim"):
            (self.root / place).mkdir(parents=True, exist_ok=True)
            for name in ("libcuda.so.1", "libcuda.so", "libvulkan.so.1"):
                shutil.copy(INTRUDER, self.root / place / name)
        (self.here / "x").touch()  # for argv[0]: some ways to take it for a path need a file
        self.intruder = self.root / "here/barmap-sim/libcuda.so.1"

    def tricks(self):
        """Name, environment, argv[0]."""
        sim = {"BARMAP_SIM": "1"}
        yield "a library named", {**sim, "BARMAP_SIM_LIBRARY": str(self.intruder)}, None
        yield "a library named alone", {"BARMAP_SIM_LIBRARY": str(self.intruder)}, None
        yield "argv[0] beside barmap-sim", sim, str(self.here / "x")
        yield "argv[0] of no file", sim, str(self.here / "absent")
        yield "argv[0] through ..", sim, str(self.here / "../bin/x")
        yield "argv[0] without a folder", sim, "x"
        yield "argv[0] of nothing", sim, ""
        everything = str(self.intruder.parent)
        yield "the loader's variables", {**sim, "LD_LIBRARY_PATH": everything,
                                         "LD_PRELOAD": str(self.intruder),
                                         "LD_AUDIT": str(self.intruder)}, None
        yield "Vulkan's variables", {"VK_ICD_FILENAMES": str(self.intruder),
                                     "VK_DRIVER_FILES": str(self.intruder),
                                     "BARMAP_BACKEND": "vulkan"}, None

    def run_victim(self, program, environment, argv0, user=None):
        result = subprocess.run([str(program) if argv0 is None else argv0], executable=program,
                                env=environment, cwd=self.here, user=user, capture_output=True,
                                extra_groups=[] if user else None, text=True, check=False)
        self.assertIn(DONE, result.stdout, result.stderr)
        self.said = result.stderr
        return result.stdout

    def test_an_ordinary_program_loads_what_it_is_told(self):
        """Or this test would find nothing elsewhere."""
        for victim in VICTIMS:
            name, environment, argv0 = next(self.tricks())
            with self.subTest(victim=victim.name, trick=name):
                self.assertIn(LOADED, self.run_victim(victim, environment, argv0))

    def test_an_ordinary_program_does_not_trust_argv0(self):
        for victim in VICTIMS:
            for name, environment, argv0 in self.tricks():
                if argv0 is not None:
                    with self.subTest(victim=victim.name, trick=name):
                        self.assertNotIn(LOADED, self.run_victim(victim, environment, argv0))

    def test_an_ordinary_program_is_told_of_a_misspelt_variable_once(self):
        for victim in VICTIMS:
            with self.subTest(victim=victim.name):
                self.run_victim(victim, MISSPELT, None)
                self.assertEqual(1, self.said.count("unknown environment variable"), self.said)
                self.assertIn("BARMAP_ENGIN; did you mean BARMAP_ENGINE?\n", self.said)

    def privileged(self, give_rights):
        if os.geteuid() != 0:
            self.skipTest("only root makes privileged programs")
        for victim in VICTIMS:
            program = self.root / victim.name
            shutil.copy(victim, program)
            try:
                give_rights(program)
            except OSError as failure:
                self.skipTest(f"this file system keeps no such rights: {failure}")
            said = self.run_victim(program, {}, None, NOBODY)
            if "privileged" not in said:
                self.skipTest("programs get no rights from files here (nosuid, no_new_privs)")
            for name, environment, argv0 in self.tricks():
                with self.subTest(victim=victim.name, trick=name):
                    said = self.run_victim(program, environment, argv0, NOBODY)
                    self.assertIn("privileged", said)
                    self.assertNotIn(LOADED, said)
            self.assertIn("privileged", self.run_victim(program, MISSPELT, None, NOBODY))
            self.assertNotIn("unknown environment variable", self.said)

    def test_a_setuid_program_loads_nothing(self):
        self.privileged(lambda program: program.chmod(0o4755))

    def test_a_program_with_file_capabilities_loads_nothing(self):
        # The one that lets it read its libraries, wherever they were built.
        self.privileged(lambda program: (program.chmod(0o755),
                                         os.setxattr(program, "security.capability", CAPABILITY)))


if __name__ == "__main__":
    outcome = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.skipped else 0)
