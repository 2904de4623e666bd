#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages in a clean Debian, uses them, and purges them: nothing may be left behind. DKMS builds
# and installs the kernel module for two kernels there. Needs root and Debian's archive (clean_debian.sh).
#   tests/packaging/chroot.sh [--suite debian12|debian13] [DIRECTORY OF PACKAGES]      debian12, dist/deb by default
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$repository/tests/packaging
# shellcheck source=tests/packaging/clean_debian.sh
. "$here/clean_debian.sh"
suite=debian12
if [[ ${1-} == --suite ]]; then
    suite=$2
    shift 2
fi
release=$(release_of "$suite")
packages=$(realpath "${1-$repository/dist/deb}")
need_tools lintian
compgen -G "$packages/*.deb" > /dev/null || {
    echo "there are no packages in $packages: run packaging/deb/build first" >&2
    exit 1
}

if [[ ${BARMAP_IN_NAMESPACE-} != 1 ]]; then
    echo "==== lintian"
    lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs "$packages"/*.deb
fi
in_namespace --suite "$suite" "$packages"

make_debian_for_packages "$release"
files_of "$root" > "$cache/before.txt"

mkdir "$root/tmp/packages"
cp "$packages"/*.deb "$root/tmp/packages"
rm -f "$root"/tmp/packages/barmap-modules-*.deb # made below for the kernels that are there
echo "==== the line of docs/install.md"
# shellcheck disable=SC2016
inside "$root" bash -c 'apt-get --quiet --simulate install /tmp/packages/libbarmap{1,-memcpy}_*.deb \
    /tmp/packages/{barmap-tools,barmap-sim,python3-barmap}_*.deb' |
    grep '^Inst barmap-tools'

echo "==== apt install"
# shellcheck disable=SC2016
inside "$root" sh -c 'apt-get --quiet --yes install /tmp/packages/*.deb' \
    > "$cache/install.log" 2>&1 || {
    tail -n 30 "$cache/install.log"
    exit 1
}

echo "==== use"
cp "$here"/use* "$here/in_place_of_gdrcopy.sh" "$here/dkms.sh" "$here/kmod.sh" "$root/tmp"
inside "$root" sh -eu /tmp/use.sh
inside "$root" sh -eu /tmp/in_place_of_gdrcopy.sh
echo "==== dkms"
inside "$root" sh -eu /tmp/dkms.sh
echo "==== modules for one kernel"
mkdir "$root/tmp/barmap"
cp -r "$repository/CMakeLists.txt" "$repository/gdrcopy" "$repository/packaging" "$root/tmp/barmap"
inside "$root" sh -eu /tmp/kmod.sh

echo "==== apt purge"
mapfile -t names < <(for each in "$root"/tmp/packages/*.deb; do dpkg-deb --field "$each" Package; done)
inside "$root" apt-get -qq --yes purge "${names[@]}" > "$cache/purge.log" 2>&1
nothing_is_left "$cache/before.txt" "$root"
echo "the packages were installed, used and purged; nothing is left"
