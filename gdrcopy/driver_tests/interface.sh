#!/bin/bash
# SPDX-License-Identifier: MIT
# Which nv-p2p.h the build takes where there are several, that it says so, and that all files are compiled with it.
#   interface.sh KERNEL       a folder of kernels.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernel=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# expect FOLDER [VARIABLE=VALUE...]
expect() {
    local wanted="nv-p2p.h: $1" said
    shift
    said=$(make -n MAKE=: -C "$here/../driver" "NVIDIA_SOURCES=$out" "$@" | grep '^nv-p2p.h') || true
    if [[ $said != "$wanted" ]]; then
        echo "the build takes '$said', not '$wanted'" >&2
        exit 1
    fi
}

expect "$(cd "$here/../driver" && pwd)/interface" NVIDIA_VERSION=
for folder in nvidia-99.5/nvidia nvidia-535.86.10/nvidia nvidia-open-595.45.04/kernel-open/nvidia \
    kernel-modules/nvidia-580.95/nvidia; do
    mkdir -p "$out/$folder"
    touch "$out/$folder/nv-p2p.h"
done
mkdir -p "$out/nvidia-600.1/nvidia" # without the header
echo 'MODULE_LICENSE("Dual MIT/GPL");' > "$out/nvidia-open-595.45.04/kernel-open/nvidia/nv.c"
expect "$out/nvidia-open-595.45.04/kernel-open/nvidia (open driver)" NVIDIA_VERSION=
expect "$out/nvidia-535.86.10/nvidia" NVIDIA_VERSION=535.86.10
expect "$out/kernel-modules/nvidia-580.95/nvidia" NVIDIA_VERSION=580.95
expect "$out/nvidia-open-595.45.04/kernel-open/nvidia (open driver)" NVIDIA_VERSION=700.1
expect /elsewhere NVIDIA_SRC_DIR=/elsewhere

cp -r "$here/../driver" "$out/driver"
mkdir "$out/header"
mv "$out/driver/interface/nv-p2p.h" "$out/header"
echo '#error "the build does not take this one"' > "$out/driver/interface/nv-p2p.h"
make --no-print-directory -s -C "$out/driver" "KDIR=$kernel/build" "NVIDIA_SRC_DIR=$out/header" CC=gcc > "$out/log" 2>&1 || {
    cat "$out/log" >&2
    exit 1
}
