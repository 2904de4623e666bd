# SPDX-License-Identifier: MIT
# The packages of the module for one kernel, without DKMS: made, installed and found by modprobe.
dpkg --purge barmap-dkms > /dev/null 2>&1
for headers in /usr/src/linux-headers-*-amd64; do
    kernel=${headers#/usr/src/linux-headers-}
    SOURCE_DATE_EPOCH=1795262400 /tmp/barmap/packaging/kmod/build-deb "$kernel" /tmp/packages > /dev/null
    dpkg --install "/tmp/packages/barmap-modules-$kernel"_*.deb > /dev/null
    modprobe --set-version "$kernel" --show-depends gdrdrv |
        grep "insmod /lib/modules/$kernel/updates/gdrdrv.ko"
done
