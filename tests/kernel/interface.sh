#!/bin/bash
# SPDX-License-Identifier: MIT
# Which nv-p2p.h the build takes where there are several, and that it says so.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# expect FOLDER [VARIABLE=VALUE...]
expect() {
    local wanted="nv-p2p.h: $1" said
    shift
    said=$(make -n MAKE=: -C "$here/../../kernel" "NVIDIA_SOURCES=$out" "$@" | grep '^nv-p2p.h') || true
    if [[ $said != "$wanted" ]]; then
        echo "the build takes '$said', not '$wanted'" >&2
        exit 1
    fi
}

expect "$(cd "$here/../../kernel" && pwd)/interface" NVIDIA_VERSION=
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
