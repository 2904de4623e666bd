#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the kernel driver in emulated machines (QEMU, TCG) against a fake of NVIDIA's driver.
#   gdrcopy/driver_tests/run.sh --short    Debian's kernels 6.1 and 6.12, and a build for the newest; under two minutes
#   gdrcopy/driver_tests/run.sh --long     also 5.10 and the newest booted, arm64 and ppc64le, kernels with sanitizers under
#                                  minutes of stress, and the coverage of the driver's lines
# Fetched and built kernels stay in ${XDG_CACHE_HOME:-~/.cache}/barmap. Ends with 77 where QEMU cannot be had.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"

mode=${1-}
case $mode in
    --short | --long) ;;
    *)
        sed -n '3,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
esac

needed=(qemu-system-x86 cpio gcc make python3)
[[ $mode == --long ]] && needed+=(qemu-system-arm qemu-system-ppc gcc-aarch64-linux-gnu gcc-powerpc64le-linux-gnu
    libc6-dev-arm64-cross libc6-dev-ppc64el-cross flex bison libelf-dev bc dkms python3-venv)
if [[ $(dpkg --print-architecture 2> /dev/null) != amd64 || ! -e /usr/share/keyrings/debian-archive-keyring.gpg ]]; then
    echo "skipped: the kernels of these tests come from Debian, for amd64"
    exit 77
fi
../../scripts/packages --optional "${needed[@]}"
command -v qemu-system-x86_64 cpio > /dev/null || {
    echo "skipped: there is no qemu-system-x86_64 or cpio here"
    exit 77
}

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
begin=$SECONDS
step() {
    printf '== %s (after %d s)\n' "$1" $((SECONDS - begin))
}

# Prints the option with which the guest expects large entries of page tables, where this kernel has them for devices
# and the driver is built for the open nvidia.ko.
large_entries() {
    grep -qs '^CONFIG_ARCH_SUPPORTS_PMD_PFNMAP=y' "$1/build/.config" && echo large_entries=yes || true
}

# stock SUITE ARCHITECTURE META_PACKAGE [VARIABLE=VALUE...]: all cases on this kernel
stock() {
    local suite=$1 architecture=$2 meta=$3 kernel folder more=
    shift 3
    kernel=$(./kernels.sh "$suite" "$architecture" "$meta")
    folder=$out/$(basename "$kernel")${*:+-open}
    step "$(basename "$kernel")${*:+ ($*)}"
    ./build.sh "$kernel/build" "$architecture" "$folder" "$@"
    # What is not built for the open nvidia.ko must also load with the other one.
    [[ $* == *NVIDIA_IS_OPENSOURCE=y* ]] || ./symbols.sh "$kernel/build/Module.symvers" "$folder/gdrdrv/gdrdrv.ko"
    [[ $* == *NVIDIA_IS_OPENSOURCE=y* ]] && more=$(large_entries "$kernel")
    ./boot.sh "$(readlink -f "$kernel/image")" "$architecture" "$folder" boot $more
}

./interface.sh "$(./kernels.sh bookworm amd64 linux-image-cloud-amd64)"

# One is built for either of NVIDIA's drivers, one for the open one.
stock bookworm amd64 linux-image-cloud-amd64
stock bookworm amd64 linux-image-6.12-cloud-amd64 NVIDIA_IS_OPENSOURCE=y
step "headers like RHEL 9.5's"
./backport.sh "$(./kernels.sh bookworm amd64 linux-image-cloud-amd64)"
# Large entries take other functions there.
step "a build for the newest kernel and the open nvidia.ko"
./build.sh "$(./kernels.sh sid amd64 linux-image-cloud-amd64)/build" amd64 "$out/newest" NVIDIA_IS_OPENSOURCE=y
if [[ $mode == --long ]]; then
    stock bullseye amd64 linux-image-cloud-amd64
    stock sid amd64 linux-image-cloud-amd64
    stock sid amd64 linux-image-cloud-amd64 NVIDIA_IS_OPENSOURCE=y
    stock trixie amd64 linux-image-cloud-amd64 NVIDIA_IS_OPENSOURCE=y
    LIMIT=600 stock bookworm arm64 linux-image-cloud-arm64
    LIMIT=600 stock bookworm ppc64el linux-image-powerpc64le

    step "DKMS"
    ./dkms.sh "$(./kernels.sh bookworm amd64 linux-image-cloud-amd64)" \
        "$(./kernels.sh bookworm amd64 linux-image-6.12-cloud-amd64)"
    step "insmod.sh and udev's rule"
    ./node.sh "$(./kernels.sh bookworm amd64 linux-image-cloud-amd64)"
    step "libbarmap and libgdrapi in the guest"
    build=../../build/dev
    if [[ ! -x $build/bin/gdrcopy_sanity ]]; then
        (cd ../.. && cmake --preset dev && cmake --build --preset dev) > "$out/library.log" 2>&1 || {
            tail -n 30 "$out/library.log" >&2
            exit 1
        }
    fi
    LIMIT=900 ./programs.sh "$(./kernels.sh bookworm amd64 linux-image-cloud-amd64)" "$build"

    # The older one has no large entries.
    for series in 6.1 6.12; do
        kernel=$(./sanitizer_kernel.sh kasan $series)
        step "KASAN, UBSAN, lockdep, kmemleak, failing allocations: $(basename "$kernel")"
        ./build.sh "$kernel/build" amd64 "$out/kasan-$series" GDRDRV_COVERAGE=y NVIDIA_IS_OPENSOURCE=y
        MEMORY=1500 LIMIT=1500 PANIC_ON_WARN=1 ./boot.sh "$kernel/image" amd64 "$out/kasan-$series" boot \
            modes=persistent,callback,device,long seconds=150 $(large_entries "$kernel")
        ./coverage.py "$out/kasan-$series/gdrdrv" "$out/kasan-$series/boot.log.text" 90

        kernel=$(./sanitizer_kernel.sh kcsan $series)
        step "KCSAN: $(basename "$kernel")"
        ./build.sh "$kernel/build" amd64 "$out/kcsan-$series" NVIDIA_IS_OPENSOURCE=y
        # The log must keep all of it until the end.
        KERNEL_OPTIONS=log_buf_len=16M MEMORY=1000 LIMIT=1500 PROCESSORS=4 ./boot.sh "$kernel/image" amd64 \
            "$out/kcsan-$series" boot modes=persistent,callback,device,long seconds=150 $(large_entries "$kernel")
        grep -h "^  the kernel's own\|^DATA RACES" "$out/kcsan-$series/boot.log.text" || true
    done
fi
echo "the kernel driver passes ${mode#--} tests ($((SECONDS - begin)) s)"
