#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts the instructions that pin, map, touch, unmap and unpin take in the guest, user space and kernel together.
#   cost.sh [--long] [GDRCOPY]     a checkout of gdrcopy, whose driver is measured beside ours; --long: in callback
#                                  mode, too
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"
modes=1
if [[ ${1-} == --long ]]; then
    modes="1 0"
    shift
fi
original=${1-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# measure LABEL IMAGE FOLDER DRIVER
measure() {
    cp "$4" "$3/root/gdrdrv.ko"
    (cd "$3/root" && find . | cpio --quiet -o -H newc | gzip -1) > "$out/cpio.gz"
    for mode in $modes; do
        timeout 900 qemu-system-x86_64 -accel tcg -icount shift=0,sleep=off -cpu max -m 512 -nodefaults \
            -no-user-config -display none -no-reboot -monitor none -serial "file:$out/log" \
            -object memory-backend-ram,id=bar,size=2G,share=on -device ivshmem-plain,memdev=bar \
            -kernel "$2" -initrd "$out/cpio.gz" \
            -append "console=ttyS0 panic=-1 nokaslr norandmaps modes=cost parameters=use_persistent_mapping=$mode" < /dev/null
        # A guest that panics ends QEMU with 0.
        grep -q '^COST' "$out/log" || {
            echo "$1: the guest has measured nothing; the end of its log:" >&2
            tail -n 30 "$out/log" >&2
            exit 1
        }
        echo "$1, $([[ $mode == 1 ]] && echo persistent || echo callback) mode"
        tr -d '\r' < "$out/log" | sed -n 's/^COST/ /p'
    done
}

for meta in linux-image-cloud-amd64 linux-image-6.12-cloud-amd64; do
    kernel=$(./kernels.sh bookworm amd64 "$meta")
    image=$(readlink -f "$kernel/image") version=$(basename "$kernel" | sed 's/linux-image-\([0-9.]*\).*/Linux \1/')
    for flavour in y n; do
        folder=$out/$meta-$flavour
        ./build.sh "$kernel/build" amd64 "$folder" NVIDIA_IS_OPENSOURCE=$flavour
        measure "$version, ours for $([[ $flavour == y ]] && echo "the open nvidia.ko" || echo "either nvidia.ko")" \
            "$image" "$folder" "$folder/gdrdrv/gdrdrv.ko"
    done
    if [[ $original ]]; then
        cp -r "$original/src/gdrdrv" "$out/original-$meta"
        cp ../driver/interface/nv-p2p.h "$out/original-$meta"
        make -s -C "$kernel/build" M="$out/original-$meta" NVIDIA_SRC_DIR="$out/original-$meta" HAVE_PROC_OPS=y \
            HAVE_VM_FLAGS_SET="$(grep -q vm_flags_set "$kernel"/usr/src/*-common/include/linux/mm.h && echo y)" \
            NVIDIA_IS_OPENSOURCE=y modules > "$out/original.log" 2>&1 || {
            cat "$out/original.log" >&2
            exit 1
        }
        measure "$version, gdrcopy's" "$image" "$folder" "$out/original-$meta/gdrdrv.ko"
    fi
done
