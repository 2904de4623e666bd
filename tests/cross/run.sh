#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds barmap and its tests for other processors, and runs them in an emulator (qemu-user).
#   tests/cross/run.sh [--all] [arm64|ppc64le]
# Without --all: the unit tests and those of the copy routines with pages of 4 and of 64 KiB; on the first
# processor also what the contract suite says of pages and bytes, with 64 KiB, the newest of each driver, and one
# older GPU.
# With --all: everything with both, on both.
# Ends with 77 where there is no cross compiler or no emulator. docs/install.md says what this does not show.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."

all=
if [[ ${1-} == --all ]]; then
    all=1
    shift
fi
case ${1-} in
    '') processors=(arm64 ppc64le) ;;
    arm64 | ppc64le) processors=("$1") ;;
    *)
        sed -n '3,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
esac

declare -A triplets=([arm64]=aarch64-linux-gnu [ppc64le]=powerpc64le-linux-gnu)
declare -A emulators=([arm64]=qemu-aarch64 [ppc64le]=qemu-ppc64le)
declare -A loaders=([arm64]=ld-linux-aarch64.so.1 [ppc64le]=ld64.so.2)

needed=(cmake ninja-build googletest libvulkan-dev qemu-user)
for processor in "${processors[@]}"; do
    needed+=("g++-${triplets[$processor]}")
done
scripts/packages --optional "${needed[@]}"
for processor in "${processors[@]}"; do
    for program in "${triplets[$processor]}-g++" "${emulators[$processor]}"; do
        command -v "$program" > /dev/null || {
            echo "skipped: all of it: there is no $program here"
            exit 77
        }
    done
done
if [[ ! -e /usr/src/googletest ]]; then
    echo "skipped: all of it: GoogleTest's sources are not in /usr/src/googletest"
    exit 77
fi

left_out=('process_test.knows_a_child_of_a_bare_clone' 'region_test.stays_out_of_forked_children' 'region_test.maps_a_single_file_without_a_reservation'
    'region_test.no_fork_comes_between_mmap_and_madvise' 'region_test.no_signal_comes_between_mmap_and_madvise' 'region_test.fills_the_hole_of_a_failed_mapping_again'
    'kernel_test.a_failing_fixed_mmap_has_unmapped_what_was_there'
    '*a_forked_child_has_no_mapping*'
    '*allocate_test.a_forked_child_may_drop_it*' '*/vulkan')
echo "left out, for want of MADV_DONTFORK, MADV_WIPEONFORK, mincore and Vulkan there: ${left_out[*]}"
if [[ ! $all ]]; then
    older=('*/rm_535' '*/gdrdrv_2_[04]' '*/channel_ada_535' '*/channel_turing_550')
    echo "left out without --all, as older drivers and GPUs: ${older[*]}"
    left_out+=("${older[@]}")
    # A pool reserves as much address space as the GPU has memory, and the emulator goes through each page of it.
    export BARMAP_SIM_MEMORY=128M # other tests need more
fi

jobs=$((($(nproc) + ${#processors[@]} - 1) / ${#processors[@]}))
# What is the same on every processor is tested on one.
whole=${processors[0]}
pages_and_bytes='adaptive_copy_test.cpp;allocate_test.cpp;data_test.cpp;engine_test.cpp;pages_test.cpp;ring_test.cpp;ring_wrap_test.cpp'
launcher=
command -v ccache > /dev/null && launcher=ccache

# build PROCESSOR FOLDER
build() {
    local targets=(unit_tests copy_tests barmap_sim gdrapi vkgdr)
    local options=(-DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -UBARMAP_ONLY_CONTRACT_TESTS)
    if [[ $all ]]; then
        targets+=(fake_tests contract_tests)
    elif [[ $1 == "$whole" ]]; then
        targets+=(contract_tests)
        options+=(-DBARMAP_ONLY_CONTRACT_TESTS="$pages_and_bytes")
    fi
    cmake -S tests/cross -B "$2" -G Ninja --toolchain "$here/$1.cmake" "${options[@]}" &&
        cmake --build "$2" --parallel "$jobs" --target "${targets[@]}"
}

# system PROCESSOR FOLDER: the libraries of the other system, as those for pages of 64 KiB would be. An
# emulator on smaller pages does not let a program write behind the end of a file whose last page it has
# mapped, where a library's zeroed data may be; so each is filled up to whole pages.
system() {
    local triplet=${triplets[$1]} library
    mkdir -p "$2/system/lib"
    ln -sfn lib "$2/system/lib64"
    for library in "${loaders[$1]}" libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6; do
        cp -L "$("$triplet-g++" -print-file-name="$library")" "$2/system/lib/$library"
    done
    truncate --size=%65536 "$2"/system/lib/* "$2/barmap/lib/barmap-sim/libcuda.so.1"
}

# tests PROCESSOR FOLDER PAGE_BYTES NAME...
tests() {
    local processor=$1 folder=$2 page=$3 name
    shift 3
    export EMULATOR="${emulators[$processor]} -p $page -L $folder/system"
    for name; do
        printf '%s, pages of %d KiB, %s tests: ' "$processor" $((page / 1024)) "$name"
        TEST_JOBS=$jobs $EMULATOR "$folder/barmap/bin/${name}_tests" "${left_out[@]}" > "$folder/$name.log" || {
            cat "$folder/$name.log"
            return 1
        }
        sed -n '/ passed, /,$p' "$folder/$name.log"
    done
}

# one PROCESSOR: everything
one() {
    local processor=$1 folder=$PWD/build/cross/$1
    mkdir -p "$folder"
    build "$processor" "$folder" > "$folder/build.log" 2>&1 || {
        tail -n 40 "$folder/build.log"
        return 1
    }
    system "$processor" "$folder"
    tests/cross/fences_test.py "$processor" || return 1
    tests "$processor" "$folder" 4096 unit copy ${all:+fake contract}
    tests "$processor" "$folder" 65536 unit copy
}

# the_others PROCESSOR: what takes longer than to build, on all of this machine's own processors
the_others() {
    jobs=$(nproc)
    tests "$1" "$PWD/build/cross/$1" 65536 ${all:+fake} contract
}

export BARMAP_SIM=1
running=()
for processor in "${processors[@]}"; do
    mkdir -p build/cross
    one "$processor" > "build/cross/$processor.log" 2>&1 &
    running+=($!)
done
failed=0
for i in "${!processors[@]}"; do
    wait "${running[$i]}" || failed=1
    cat "build/cross/${processors[$i]}.log"
done
[[ $failed -eq 0 ]] || exit 1
for processor in "${processors[@]}"; do
    [[ ! $all && $processor != "$whole" ]] || the_others "$processor"
done
echo "passed for ${processors[*]}, in $(qemu-aarch64 --version | head -n 1 | cut -d ' ' -f 1-3), in $SECONDS s"
