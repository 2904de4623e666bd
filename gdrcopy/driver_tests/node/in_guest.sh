#!/bin/sh
# SPDX-License-Identifier: MIT
# In the guest of node.sh: the driver is loaded when this begins, and is loaded when it ends.
set -eu
export PATH=/bin

expect() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || { echo "    $1: got $2, wanted $3"; exit 1; }
}
expect_node() { # WHAT MODE
    numbers=$(cat /sys/class/misc/gdrdrv/dev)
    expect "$1: the numbers" "$(stat -c %t:%T /dev/gdrdrv)" "$(printf %x:%x "${numbers%:*}" "${numbers#*:}")"
    expect "$1: the mode" "$(stat -c %a /dev/gdrdrv)" "$2"
}
expect_parameter() { # WANTED
    expect use_persistent_mapping "$(cat /sys/module/gdrdrv/parameters/use_persistent_mapping)" "$1"
}

# The driver is there already.
sh /insmod.sh use_persistent_mapping=0 info_enabled=1
expect_parameter 0
expect_node "loaded again" 666

# A node that gdrcopy's script made stays when its driver goes.
rmmod gdrdrv
mknod /dev/gdrdrv c 1 3
sh /insmod.sh
expect_parameter 1
expect_node "a stale node" 666

# Nobody makes the node.
rm /dev/gdrdrv
# shellcheck disable=SC2016
sed -i 's|^\$as_root insmod.*|&; $as_root rm -f /dev/gdrdrv|' /insmod.sh
sh /insmod.sh
expect_node "no udev" 666

# gdrcopy's scripts and its modprobe rule for SUSE make a node of their own.
rm /dev/gdrdrv
# shellcheck disable=SC2046
mknod -m 660 /dev/gdrdrv c $(sed -n 's/ gdrdrv$//p' /proc/devices) 0
: < /dev/gdrdrv
rmmod gdrdrv
rm /dev/gdrdrv
insmod /gdrdrv.ko

# udev's rule, and an administrator's in its place.
systemd-udevd --daemon --resolve-names=never
chmod 600 /dev/gdrdrv
udevadm trigger --action=add /sys/class/misc/gdrdrv
udevadm settle
expect_node "the rule" 666
udevadm test /sys/class/misc/gdrdrv 2>&1 | grep 60-gdrdrv.rules
echo 'KERNEL=="gdrdrv", SUBSYSTEM=="misc", MODE="0640"' > /etc/udev/rules.d/60-gdrdrv.rules
udevadm control --reload
rmmod gdrdrv
insmod /gdrdrv.ko
udevadm settle
expect_node "an administrator's rule" 640
udevadm control --exit
