# SPDX-License-Identifier: MIT
"""barmap for Spack: `spack repo add packaging/spack`, then `spack dev-build barmap@0.1.0`."""

from pathlib import Path

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # Spack before 1.0
    pass


class Barmap(CMakePackage):
    """CPU mappings of GPU memory: a process gets a CPU address for memory of a CUDA GPU, so that
    small data moves by plain loads and stores. NVIDIA's driver is enough; no kernel module is
    needed. Also drop-in replacements of gdrcopy's libgdrapi and of libvkgdr."""

    license("MIT AND BSD-3-Clause", when="+program")
    license("MIT", when="~program")

    # The repository that this recipe lies in, for `spack install barmap@main`. packaging/recipes writes a release's
    # recipe, with the addresses of the repository and of the archive. Without them, dev-build takes the sources from
    # the current directory.
    git = f"file://{Path(__file__).resolve().parents[4]}"
    version("main", branch="main")
    version("0.1.0")

    variant("program", default=True, description="Build the program barmap")
    variant("gdrcopy", default=True, description="Build libgdrapi, and gdrcopy's programs with the program")
    variant("vkgdr", default=True, description="Build libvkgdr")
    variant("preload", default=True, description="Build libbarmap-memcpy")
    variant("sim", default=True, description="Build the simulated GPU")
    variant("kernels", default=False, description="Compile the kernels of barmap ring, by clang", when="+program")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("python@3.9:", type="build")  # for the manual pages
    depends_on("vulkan-headers", type="build")
    depends_on("cli11", type="build", when="+program")
    depends_on("fmt", type="build", when="+program")
    depends_on("nlohmann-json", type="build", when="+program")
    depends_on("llvm@14:+clang targets=nvptx", type="build", when="+kernels")

    conflicts("%gcc@:10", msg="barmap is C++20")
    conflicts("platform=darwin", msg="barmap is for Linux")
    conflicts("platform=windows", msg="barmap is for Linux")
    # Both have libgdrapi.so.2 and gdrcopy_sanity.
    conflicts("^gdrcopy", when="+gdrcopy")

    def cmake_args(self):
        return [
            self.define("BARMAP_TESTS", False),
            self.define("BARMAP_DROPINS_IN_PREFIX", True),
            self.define("BARMAP_STATIC_RUNTIME", False),
            self.define_from_variant("BARMAP_PROGRAM", "program"),
            self.define_from_variant("BARMAP_GDRCOPY", "gdrcopy"),
            self.define_from_variant("BARMAP_VKGDR", "vkgdr"),
            self.define_from_variant("BARMAP_PRELOAD", "preload"),
            self.define_from_variant("BARMAP_SIM_GPU", "sim"),
            self.define("BARMAP_PTX_COMPILER", self.spec["llvm"].prefix.bin.join("clang++") if "+kernels" in self.spec else "OFF"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        if self.spec.satisfies("+program +sim"):
            barmap = Executable(self.prefix.bin.barmap)
            barmap("sim", "--", "barmap", "check", "--max-size", "16M")
