#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages in a clean Debian 12, uses them, and purges them: nothing may be left
# behind. DKMS builds and installs the kernel module for two kernels there. Needs root and Debian's archive.
#   tests/packaging/chroot.sh [DIRECTORY OF PACKAGES]      dist/deb by default
# The clean system is made once and kept in BARMAP_CACHE, ~/.cache/barmap by default.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$repository/tests/packaging
packages=$(realpath "${1-$repository/dist/deb}")
cache=${BARMAP_CACHE-$HOME/.cache/barmap}
mirror=${BARMAP_DEBIAN_MIRROR-http://deb.debian.org}

if [[ $EUID -ne 0 ]]; then
    echo "a chroot needs root: run this with sudo" >&2
    exit 77
fi
"$repository/scripts/packages" debootstrap lintian
compgen -G "$packages/*.deb" > /dev/null || {
    echo "there are no packages in $packages: run packaging/deb/build first" >&2
    exit 1
}

if [[ ${BARMAP_IN_NAMESPACE-} != 1 ]]; then
    echo "==== lintian"
    lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs "$packages"/*.deb
fi

# A namespace of its own: what is mounted here goes with the process.
if [[ ${BARMAP_IN_NAMESPACE-} != 1 ]]; then
    BARMAP_IN_NAMESPACE=1 exec unshare --mount --pid --fork "${BASH_SOURCE[0]}" "$packages"
fi

# inside DIRECTORY COMMAND...
inside() {
    local root=$1
    shift
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

attach() {
    mount -t proc proc "$1/proc"
    mount --bind /dev "$1/dev"
}

# What barmap's packages depend on is there before them, and so are a compiler and kernels' headers.
make_base() {
    local root=$cache/making
    rm -rf "$root"
    debootstrap --variant=minbase bookworm "$root" "$mirror/debian" > "$cache/debootstrap.log"
    printf 'deb %s bookworm%s main\n' "$mirror/debian" "" "$mirror/debian" -updates \
        "$mirror/debian-security" -security > "$root/etc/apt/sources.list"
    attach "$root"
    inside "$root" apt-get -qq update
    inside "$root" apt-get -qq --yes --no-install-recommends install gcc g++ libc6-dev pkg-config dkms \
        python3-numpy man-db linux-headers-cloud-amd64 \
        "$(inside "$root" apt-cache search --names-only '^linux-headers-6[.]12[0-9.+deb-]*-cloud-amd64$' |
            cut -d' ' -f1 | sort -V | tail -n 1)"
    umount "$root/proc" "$root/dev"
    tar -C "$root" --create --file "$base.new" .
    mv "$base.new" "$base"
    rm -rf "$root"
}

mkdir -p "$cache"
base=$cache/bookworm-$(sed -n '/^make_base/,/^}/p' "${BASH_SOURCE[0]}" | sha256sum | cut -c1-12).tar
[[ -e $base ]] || make_base

root=$(mktemp -d)
trap 'umount -q "$root/proc" "$root/dev"; rm -rf "$root"' EXIT
tar -C "$root" --extract --file "$base"
attach "$root"
inside "$root" apt-get -qq update
# As the image of each kernel does, which need not be here.
for kernel in "$root"/usr/src/linux-headers-*-amd64; do
    inside "$root" depmod "${kernel##*/linux-headers-}" 2> /dev/null
done

# Every file, without what every installation of anything changes.
files() {
    inside "$root" find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /var/cache \
        -o -path /var/lib/apt -o -path /var/log \) -prune -o -printf '%y %m %p %l\n' | LC_ALL=C sort
}
files > "$cache/before.txt"

echo "==== apt install"
mkdir "$root/tmp/packages"
cp "$packages"/*.deb "$root/tmp/packages"
rm -f "$root"/tmp/packages/barmap-modules-*.deb # made below for the kernels that are there
# shellcheck disable=SC2016
inside "$root" sh -c 'apt-get --quiet --yes install /tmp/packages/*.deb' \
    > "$cache/install.log" 2>&1 || {
    tail -n 30 "$cache/install.log"
    exit 1
}

echo "==== use"
cp "$here/use.sh" "$here/use_barmap.cpp" "$here/use_gdrapi.c" "$here/use_barmap.py" \
    "$here/in_place_of_gdrcopy.sh" "$root/tmp"
inside "$root" sh -eu /tmp/use.sh
echo "==== dkms"
cp "$here/dkms.sh" "$root/tmp"
inside "$root" sh -eu /tmp/dkms.sh
echo "==== modules for one kernel"
mkdir "$root/tmp/barmap"
cp -r "$repository/CMakeLists.txt" "$repository/kernel" "$repository/packaging" "$root/tmp/barmap"
cp "$here/kmod.sh" "$root/tmp"
inside "$root" sh -eu /tmp/kmod.sh

echo "==== apt purge"
mapfile -t names < <(for each in "$root"/tmp/packages/*.deb; do dpkg-deb --field "$each" Package; done)
inside "$root" apt-get -qq --yes purge "${names[@]}" > "$cache/purge.log" 2>&1
files > "$cache/after.txt"
if ! diff -u "$cache/before.txt" "$cache/after.txt"; then
    echo "the packages left something behind, or took it with them" >&2
    exit 1
fi
echo "the packages were installed, used and purged; nothing is left"
