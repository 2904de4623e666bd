#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiles the kernel driver against the kernel headers of the system that it runs on: Debian, Ubuntu, Fedora and what
# is made from it, SUSE. Installs them, and so needs root: it is meant for a container.
#   gdrcopy/driver_tests/against_headers.sh
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# shellcheck disable=SC1091
. /etc/os-release
case " $ID ${ID_LIKE-} " in
    *" ubuntu "*) headers=linux-headers-generic pattern='/usr/src/linux-headers-*-generic' ;;
    *" debian "*) headers=linux-headers-amd64 pattern='/usr/src/linux-headers-*-amd64' ;;
    *" fedora "* | *" rhel "*) headers=kernel-devel pattern='/usr/src/kernels/*' ;;
    *" suse "*) headers=kernel-default-devel pattern='/usr/src/linux-*-obj/x86_64/default' ;;
    *)
        echo "$PRETTY_NAME: this script does not know its packages" >&2
        exit 2
        ;;
esac
if command -v apt-get > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install --yes --no-install-recommends gcc make libc6-dev "$headers"
elif command -v dnf > /dev/null; then
    dnf --quiet --assumeyes install gcc make elfutils-libelf-devel diffutils "$headers"
else
    zypper --quiet --non-interactive install gcc make "$headers"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found=
for folder in $(compgen -G "$pattern"); do
    [[ -e $folder/Makefile ]] || continue
    found=1
    for open in n y; do # the open driver's build uses more of the kernel
        cp -r "$repository/gdrcopy/driver" "$work/kernel"
        echo "==== $PRETTY_NAME: $folder, NVIDIA_IS_OPENSOURCE=$open"
        make -C "$work/kernel" KDIR="$folder" NVIDIA_IS_OPENSOURCE=$open
        rm -r "$work/kernel"
    done
done
[[ $found ]] || {
    echo "$PRETTY_NAME: $headers has installed no $pattern" >&2
    exit 1
}
