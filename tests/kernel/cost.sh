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
./build.sh "$kernel/build" amd64 "$out"

# measure LABEL PARAMETERS
measure() {
    (cd "$out/root" && find . | cpio --quiet -o -H newc | gzip -1) > "$out/cpio.gz"
    timeout 600 qemu-system-x86_64 -accel tcg -icount shift=0,sleep=off -cpu max -m 512 -nodefaults -no-user-config \
        -display none -no-reboot -monitor none -serial "file:$out/log" \
        -object memory-backend-ram,id=bar,size=16M,share=on -device ivshmem-plain,memdev=bar \
        -kernel "$kernel/image" -initrd "$out/cpio.gz" \
        -append "console=ttyS0 panic=-1 modes=cost parameters=$2" < /dev/null
    tr -d '\r' < "$out/log" | sed -n "s/^COST/$1/p"
}

measure "ours, persistent  " use_persistent_mapping=1
measure "ours, callback    " use_persistent_mapping=0
if [[ $original ]]; then
    cp -r "$original/src/gdrdrv" "$out/original"
    cp ../../kernel/interface/nv-p2p.h "$out/original"
    flags=
    [[ $(basename "$(readlink "$kernel/build")") =~ headers-(6\.[3-9]|6\.1[0-9]|7) ]] && flags=HAVE_VM_FLAGS_SET=y
    make -s -C "$kernel/build" M="$out/original" NVIDIA_SRC_DIR="$out/original" HAVE_PROC_OPS=y $flags \
        NVIDIA_IS_OPENSOURCE=y modules > "$out/original.log" 2>&1 || { cat "$out/original.log" >&2; exit 1; }
    cp "$out/original/gdrdrv.ko" "$out/root/gdrdrv.ko"
    measure "theirs, persistent" use_persistent_mapping=1
    measure "theirs, callback  " use_persistent_mapping=0
fi
