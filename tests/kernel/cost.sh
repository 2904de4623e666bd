#!/bin/bash
# Counts the instructions that pin, map, unmap and unpin take in the guest, user space and kernel together.
#   cost.sh [GDRCOPY]     a checkout of gdrcopy, whose driver is measured beside ours
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"
original=${1-}

kernel=$(./kernels.sh bookworm amd64 linux-image-cloud-amd64)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
./build.sh "$kernel/build" amd64 "$out/open" NVIDIA_IS_OPENSOURCE=y
./build.sh "$kernel/build" amd64 "$out/any"

# measure LABEL DRIVER
measure() {
    cp "$2" "$out/any/root/gdrdrv.ko"
    (cd "$out/any/root" && find . | cpio --quiet -o -H newc | gzip -1) > "$out/cpio.gz"
    for mode in 1 0; do
        timeout 600 qemu-system-x86_64 -accel tcg -icount shift=0,sleep=off -cpu max -m 512 -nodefaults \
            -no-user-config -display none -no-reboot -monitor none -serial "file:$out/log" \
            -object memory-backend-ram,id=bar,size=16M,share=on -device ivshmem-plain,memdev=bar \
            -kernel "$kernel/image" -initrd "$out/cpio.gz" \
            -append "console=ttyS0 panic=-1 nokaslr norandmaps modes=cost parameters=use_persistent_mapping=$mode" < /dev/null
        echo "$1, $([[ $mode == 1 ]] && echo persistent || echo callback) mode"
        tr -d '\r' < "$out/log" | sed -n 's/^COST/ /p'
    done
}

measure "ours, for the open nvidia.ko" "$out/open/root/gdrdrv.ko"
measure "ours, for either" "$out/any/gdrdrv/gdrdrv.ko"
if [[ $original ]]; then
    cp -r "$original/src/gdrdrv" "$out/original"
    cp ../../kernel/interface/nv-p2p.h "$out/original"
    make -s -C "$kernel/build" M="$out/original" NVIDIA_SRC_DIR="$out/original" HAVE_PROC_OPS=y \
        NVIDIA_IS_OPENSOURCE=y modules > "$out/original.log" 2>&1 || {
        cat "$out/original.log" >&2
        exit 1
    }
    measure "gdrcopy's" "$out/original/gdrdrv.ko"
fi
