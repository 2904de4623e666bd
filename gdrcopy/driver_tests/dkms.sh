#!/bin/bash
# SPDX-License-Identifier: MIT
# DKMS builds the driver from its configuration for the kernels named, in folders of its own.
#   dkms.sh KERNEL...       folders of kernels.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# DKMS 3.2 (3.0 does not) builds nothing before a package of that very name is installed, and the names of NVIDIA's differ.
if grep -q '^BUILD_DEPENDS' "$here/../driver/dkms.conf"; then
    echo "gdrcopy/driver/dkms.conf depends on another package of DKMS's" >&2
    exit 1
fi

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$here/../driver/dkms.conf")
mkdir "$out"/{tree,install,source}
cp -r "$here/../driver" "$out/source/barmap-$version"
dkms=(dkms --sourcetree "$out/source" --dkmstree "$out/tree" --installtree "$out/install")
"${dkms[@]}" add -m barmap -v "$version" > "$out/log"
for kernel in "$@"; do
    name=$(basename "$(readlink "$kernel/build")")
    "${dkms[@]}" build -m barmap -v "$version" -k "${name#linux-headers-}" \
        --kernelsourcedir "$kernel/build" >> "$out/log" 2>&1 || {
        cat "$out/log" "$out"/tree/barmap/*/build/make.log >&2
        exit 1
    }
done
built=$(find "$out/tree" -name 'gdrdrv.ko*' | wc -l)
others=$(find "$out/tree" -name '*.ko*' ! -name 'gdrdrv.ko*')
if [[ $built -ne $# || $others ]]; then
    echo "DKMS built $built drivers for $# kernels, and: $others" >&2
    exit 1
fi
echo "DKMS builds the driver for $built kernels"
