#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds a small kernel with sanitizers from Debian's linux-source, and prints its folder in the cache, laid
# out as kernels.sh does. What it is made of is part of the folder's name, so it is built once.
#   sanitizer_kernel.sh kasan|kcsan 6.1|6.12
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$1 series=$2

cache=${XDG_CACHE_HOME:-$HOME/.cache}/barmap/kernels
version=$(apt-cache policy linux-source-$series | sed -n 's/^ *Candidate: //p')
hash=$({ echo "$version" && gcc --version && cat "$here"/config/{base,"$name"}.config; } | sha256sum | cut -c 1-16)
folder=$cache/$name-$series-$hash
if [[ ! -e $folder/complete ]]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && apt-get -qq -o APT::Sandbox::User= download "linux-source-$series" >&2)
    dpkg -x "$folder"/*.deb "$folder"
    mkdir "$folder/build"
    tar -xf "$folder"/usr/src/linux-source-$series.tar.xz -C "$folder/build" --strip-components 1
    rm -r "$folder"/*.deb "$folder/usr"
    (
        cd "$folder/build"
        make -s tinyconfig &&
            scripts/kconfig/merge_config.sh -m .config "$here"/config/{base,"$name"}.config &&
            make -s olddefconfig
    ) > "$folder/config.log" 2>&1 || {
        tail -n 30 "$folder/config.log" >&2
        exit 1
    }
    # An option that another one excludes would vanish without a word.
    missing=$(grep -h '^CONFIG' "$here"/config/{base,"$name"}.config | grep -v '=n$' |
        grep -vxFf "$folder/build/.config" || true)
    if [[ $missing ]]; then
        echo "the kernel's configuration lacks: $missing" >&2
        exit 1
    fi
    nice make -C "$folder/build" -s -j"$(nproc)" bzImage modules > "$folder/build.log" 2>&1 || {
        tail -n 30 "$folder/build.log" >&2
        exit 1
    }
    ln -s "$folder/build/arch/x86/boot/bzImage" "$folder/image"
    touch "$folder/complete"
fi
echo "$folder"
