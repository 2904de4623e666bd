#!/bin/bash
# Runs libbarmap and libgdrapi in the guest, on the driver under test and a libcuda of the fake GPU's.
#   programs.sh KERNEL BUILD       a folder of kernels.sh, and a build tree of barmap with tools
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernel=$1 build=$(cd "$2" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$here/build.sh" "$kernel/build" amd64 "$out"
root=$out/root
mkdir -p "$root"/{bin,lib,lib64}
gcc -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -pthread -o "$root/lib/libcuda.so.1" \
    "$here"/fake_cuda/*.c
programs=("$build"/bin/barmap "$build"/bin/gdrcopy_sanity)
cp -L "${programs[@]}" "$root/bin"
cp -L "$build"/lib/libgdrapi.so.2 "$root/lib"
LD_LIBRARY_PATH=$build/lib ldd "${programs[@]}" "$build"/lib/libgdrapi.so.2 | awk '$2 == "=>" {print $3}' |
    sort -u | xargs -I{} cp -Ln {} "$root/lib"
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64"
cp "$here/programs.list" "$root/programs"
MEMORY=1000 GPU_MIB=64 "$here/boot.sh" "$(readlink -f "$kernel/image")" amd64 "$out" programs modes=programs only=host
