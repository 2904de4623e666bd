#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs libbarmap, libgdrapi and the Python package in the guest, on the driver under test and a libcuda of the
# fake GPU's.
#   programs.sh KERNEL BUILD       a folder of kernels.sh, and a build tree of barmap with the program
# PYTHON is the interpreter, python3 by default; it must have venv.
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
g++ -std=c++20 -O2 -Wall -Wextra -Werror -I "$here/../../core/include" -o "$root/bin/events" "$here/library/events.cpp" \
    -L "$build/lib" -lbarmap -pthread
cp -L "$build"/bin/barmap "$build"/bin/gdrcopy_sanity "$root/bin"
cp -L "$build"/lib/libgdrapi.so.2 "$root/lib"

# The interpreter, its library as if it were installed in /usr, and the packages; the tests of none of them.
{ read -r python && read -r standard; } < <("${PYTHON-python3}" -c '
import os, sys, sysconfig
print(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
print(sysconfig.get_path("stdlib"))')
"$python" -m venv "$out/environment"
"$out/environment/bin/python" -m pip install --quiet --disable-pip-version-check --target "$root/packages" \
    "$here/../.."
cp "$python" "$root/bin/python3"
library=$root/usr/lib/$(basename "$standard")
mkdir -p "$library"
tar -C "$standard" --exclude=test --exclude=__pycache__ --exclude='config-*' --exclude=idlelib \
    --exclude=ensurepip --exclude=dist-packages --exclude=site-packages --exclude=tkinter -c . |
    tar -C "$library" -x
find "$root/packages" -name tests -prune -exec rm -r {} +
cp "$here/library/events.py" "$root"

find "$root/bin" "$root/lib" "$library" "$root/packages" -type f \( -name '*.so*' -o -path '*/bin/*' \) |
    (LD_LIBRARY_PATH=$build/lib xargs -n 1 ldd 2> /dev/null || true) | awk '$2 == "=>" && $3 ~ "^/" {print $3}' |
    sort -u | xargs -I{} cp -Ln {} "$root/lib"
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64"
cp "$here/programs.list" "$root/programs"
MEMORY=1000 GPU_MIB=64 "$here/boot.sh" "$(readlink -f "$kernel/image")" amd64 "$out" programs modes=programs only=host
