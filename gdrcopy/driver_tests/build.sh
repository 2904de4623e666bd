#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the driver, the fake nvidia.ko and the guest's program for one kernel.
#   build.sh KERNEL_BUILD_TREE ARCHITECTURE OUT [VARIABLE=VALUE...]     (amd64, arm64 or ppc64el)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$1 architecture=$2 out=$3
shift 3

case $architecture in
    amd64) arch=x86 prefix= ;;
    arm64) arch=arm64 prefix=aarch64-linux-gnu- ;;
    ppc64el) arch=powerpc prefix=powerpc64le-linux-gnu- ;;
esac
[[ $(dpkg --print-architecture) == "$architecture" ]] && prefix=

mkdir -p "$out"/{gdrdrv,nvidia,root}
cp -r "$here"/../driver/. "$out/gdrdrv"
cp -r "$here"/fake_nvidia/. "$out/nvidia"

# The compiler is ours, whichever the kernel was built with.
make=(make --no-print-directory -s -j2 ARCH=$arch CROSS_COMPILE=$prefix "CC=${prefix}gcc" W=1 NVIDIA_SRC_DIR= "$@")
log=$out/build.log
"${make[@]}" -C "$tree" M="$out/nvidia" GDRDRV_SOURCE="$out/gdrdrv" modules > "$log" 2>&1 &&
    "${make[@]}" -C "$out/gdrdrv" KDIR="$tree" >> "$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
# No warning in the drivers' own files. (Headers of new kernels have some for an older compiler.)
if grep -E '^([^ ]*/(gdrdrv|nvidia)/)?[a-z0-9_]+\.[ch]:[0-9:]+ warning:|WARNING: modpost' "$log" >&2; then
    echo "the drivers do not build cleanly" >&2
    exit 1
fi
if ! grep -q 'MODULE_INFO(depends, "nvidia");' "$out/gdrdrv/gdrdrv.mod.c"; then
    echo "gdrdrv.ko says that it depends on: $(grep 'MODULE_INFO(depends' "$out/gdrdrv/gdrdrv.mod.c")" >&2
    exit 1
fi
cp "$out"/gdrdrv/gdrdrv.ko "$out"/nvidia/nvidia.ko "$out/root"
"${prefix}gcc" -O2 -g1 -Wall -Wextra -Werror -static -pthread -o "$out/root/init" "$here"/guest/*.c
