#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Loads gdrdrv.ko from this directory, as gdrcopy's script of this name does; needs root.
#   gdrcopy/driver/insmod.sh [PARAMETER=VALUE...]       for example use_persistent_mapping=0
# udev makes the node, or the kernel. Where neither does (in some containers), it is made here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo

if [ ! -e "$here/gdrdrv.ko" ]; then
    echo "there is no $here/gdrdrv.ko: run make in $here first" >&2
    exit 1
fi
if [ -e /sys/module/gdrdrv ]; then
    $as_root rmmod gdrdrv
fi
# A node that is still there was made by hand, and has the number of the driver that was unloaded.
$as_root rm -f /dev/gdrdrv
$as_root insmod "$here/gdrdrv.ko" "$@"

for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -e /dev/gdrdrv ] && break
    sleep 0.1
done
if [ ! -e /dev/gdrdrv ]; then
    numbers=$(tr : ' ' < /sys/class/misc/gdrdrv/dev)
    # shellcheck disable=SC2086
    $as_root mknod -m 666 /dev/gdrdrv c $numbers
fi
