#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles the driver against headers like those of RHEL 9.5, whose Linux 5.14 has VMA flags that only functions may
# write, as Linux 6.3: made here out of the headers of an older Linux. Headers like RHEL 8's are refused in one line.
#   backport.sh KERNEL       a folder of kernels.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernel=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Links, but for the files that are changed and the folders above them.
tree=$(readlink -f "$kernel/build")
common=$(sed -n 's/^include \(.*\)\/Makefile$/\1/p' "$tree/Makefile")
mkdir -p "$out"/{tree,common/include/linux}
ln -s "$tree"/{.config,Module.symvers,arch,include} "$out/tree"
for each in scripts tools; do
    ln -s "$(readlink -f "$tree/$each")" "$out/tree/$each"
done
echo "include $out/common/Makefile" > "$out/tree/Makefile"
for folder in . include include/linux; do
    find "$common/$folder" -mindepth 1 -maxdepth 1 ! -path "$common/./include" ! -path "$common/include/linux" \
        -exec ln -s -t "$out/common/$folder" {} +
done
change() {
    local file=$out/common/include/linux/$1
    rm "$file"
    sed "$2" "$common/include/linux/$1" > "$file"
    if cmp -s "$file" "$common/include/linux/$1"; then
        echo "there is nothing to change in $1" >&2
        exit 1
    fi
}
change mm_types.h \
    's/^\tunsigned long vm_flags;.*/\tunion { const unsigned long vm_flags; unsigned long __vm_flags; };/'
change mm.h '0,/^static inline void vma_init/s//\
static inline void vm_flags_init(struct vm_area_struct *vma, unsigned long flags)\
{\
	vma->__vm_flags = flags;\
}\
&/'

cp -r "$here/../driver" "$out/driver"
make=(make --no-print-directory -s -C "$out/driver" "KDIR=$out/tree" NVIDIA_SRC_DIR=)
"${make[@]}" -j2 "CC=gcc -Werror" > "$out/log" 2>&1 || {
    echo "the driver does not compile against headers like RHEL 9.5's" >&2
    tail -n 20 "$out/log" >&2
    exit 1
}
said=$("${make[@]}" VERSION=4 PATCHLEVEL=18 2>&1 | grep -c 'gdrdrv needs Linux 5.10 or later' || true)
if [[ $said -ne 1 ]]; then
    echo "headers like RHEL 8's are not refused by a plain message" >&2
    exit 1
fi
echo "the driver compiles against headers like RHEL 9.5's"
