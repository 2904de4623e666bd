#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the RPM packages with `rpm --root` in a clean Debian 12, uses them there, and erases them: nothing
# may be left behind. rpm resolves what they require: a package without files provides what that system has.
# DKMS builds the kernel module for two kernels, and packages of the module for one kernel are used, if they
# are there for one of these. Needs root and Debian's archive.
#   tests/packaging/rpm_root.sh [DIRECTORY OF PACKAGES]      dist/rpm by default
# The clean system is made once and kept in BARMAP_CACHE, ~/.cache/barmap by default.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$repository/tests/packaging
packages=$(realpath "${1-$repository/dist/rpm}")
# shellcheck source=tests/packaging/clean_debian.sh
. "$here/clean_debian.sh"
need_tools rpm
mapfile -t files < <(find "$packages" -name '*.rpm' ! -name '*.src.rpm' ! -name 'kmod-*' | sort)
mapfile -t modules < <(find "$packages" -name 'kmod-*.rpm' | sort)
[[ ${#files[@]} -gt 0 ]] || {
    echo "there are no packages in $packages: run packaging/rpm/build first" >&2
    exit 1
}
in_namespace "$packages"

make_debian_for_packages bookworm
# Where RPM's systems have libraries, and Python its packages; Debian looks elsewhere. These directories are there of
# the distribution's own packages: all others must be of barmap's.
echo /usr/lib64 > "$root/etc/ld.so.conf.d/lib64.conf"
mkdir -p "$root"/usr/lib64/{cmake,pkgconfig} "$root/usr/lib/python3.11/site-packages" "$root/usr/lib/udev/rules.d" \
    "$root/usr/share/licenses"
# shellcheck disable=SC2034 # of clean_debian.sh
inside_environment+=(LIBRARY_PATH=/usr/lib64 PKG_CONFIG_PATH=/usr/lib64/pkgconfig
    PYTHONPATH=/usr/lib/python3.11/site-packages)
inside "$root" ldconfig
made=$root/tmp/made # packages of this test

# in_root OPTION...: rpm, with the database where RPM's systems have it
in_root() {
    rpm --root "$root" --dbpath /var/lib/rpm "$@"
}

# make_package NAME VERSION TAG...: without files, in $made
make_package() {
    local name=$1 version=$2
    shift 2
    {
        printf 'Name: %s\nVersion: %s\nRelease: 1\nLicense: MIT\nSummary: made by a test\n' "$name" "$version"
        [[ $# -eq 0 ]] || printf '%s\n' "$@"
        printf '%%description\n%%files\n'
    } > "$made/$name.spec"
    rpmbuild -bb --quiet --define "_topdir $made" --define "_rpmdir $made" --define "_rpmfilename $name.rpm" \
        "$made/$name.spec"
}

# What the system has, in RPM's words.
system() {
    find "$root"/usr/lib/x86_64-linux-gnu -name '*.so.[0-9]*' | /usr/lib/rpm/elfdeps --provides | sort -u
    printf '%s\n' 'rtld(GNU_HASH)' /bin/sh /sbin/ldconfig /usr/bin/python3 /usr/bin/pkg-config 'python(abi) = 3.11' \
        python3-numpy dkms
}
mkdir "$made"
mapfile -t provided < <(system | sed 's/^/Provides: /')
make_package debian 12 "${provided[@]}"
in_root --force-debian --install "$made/debian.rpm"
files_of "$root" > "$cache/before-rpm.txt"

echo "==== rpm --install"
in_root --force-debian --install "${files[@]}" > "$cache/install-rpm.log" 2>&1 || {
    tail -n 30 "$cache/install-rpm.log"
    exit 1
}
unchanged() {
    in_root --verify --all || {
        echo "$1" >&2
        exit 1
    }
}
unchanged "this is not what was packed"

echo "==== use"
cp "$here"/use* "$here/dkms.sh" "$root/tmp"
inside "$root" sh -eu /tmp/use.sh
if inside "$root" env PYTHONDONTWRITEBYTECODE=1 python3 -O -v -c 'import barmap, gdrcopy, vkgdr' 2>&1 |
    grep "code object from '*/.*/site-packages/.*[.]py'*\$"; then
    echo "this is not there as bytecode for python3 -O" >&2
    exit 1
fi
unchanged "use has changed what is installed"

echo "==== in place of gdrcopy"
make_package consumer 1 "Requires: gdrcopy >= 2.4, gdrcopy-devel >= 2.4, gdrcopy-kmod >= 2.4"
in_root --force-debian --install "$made/consumer.rpm"
in_root --erase consumer
for original in gdrcopy gdrcopy-devel gdrcopy-kmod; do
    make_package "$original" 2.4.4
    if in_root --force-debian --install --test "$made/$original.rpm" 2> "$cache/refused.log"; then
        echo "$original of gdrcopy could be installed beside barmap's" >&2
        exit 1
    fi
    grep "$original.* conflicts with" "$cache/refused.log"
done

echo "==== dkms"
# As by an update with the same version: the module must be there afterwards.
in_root --force-debian --reinstall "$packages"/barmap-dkms-*.rpm > "$cache/install-rpm.log" 2>&1
for kernel in "$root"/usr/src/linux-headers-*-amd64; do
    kernel=${kernel##*/linux-headers-}
    inside "$root" dkms status -k "$kernel" | grep -q '^barmap/.*: installed' || {
        echo "the package has not installed the module for $kernel" >&2
        exit 1
    }
done
inside "$root" sh -eu /tmp/dkms.sh

if [[ ${#modules[@]} -gt 0 ]]; then
    echo "==== modules for one kernel"
    if in_root --force-debian --install --test "${modules[@]}" 2> /dev/null; then
        echo "a module for one kernel could be installed beside barmap-dkms" >&2
        exit 1
    fi
    in_root --erase barmap-dkms > "$cache/erase-rpm.log" 2>&1
    in_root --force-debian --install "${modules[@]}" 2> "$cache/install-rpm.log"
    for each in "${modules[@]}"; do
        kernel=$(rpm --query --queryformat '%{NAME}' --package "$each" | sed 's/^kmod-barmap-//')
        inside "$root" modprobe --set-version "$kernel" --show-depends gdrdrv |
            grep "insmod /lib/modules/$kernel/updates/gdrdrv.ko"
    done
fi

echo "==== rpm --erase"
mapfile -t names < <(in_root --query --all --queryformat '%{NAME}\n' | grep -v '^debian$')
in_root --erase "${names[@]}" > "$cache/erase-rpm.log" 2>&1
nothing_is_left "$cache/before-rpm.txt" "$root"
echo "the packages were installed, used and erased; nothing is left"
