#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs gdrcopy/driver/insmod.sh in the guest, and udev with the driver's rule: who makes the node, and its mode.
#   node.sh KERNEL       a folder of kernels.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernel=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$here/build.sh" "$kernel/build" amd64 "$out"
root=$out/root
mkdir -p "$root"/{bin,lib,lib64,run,usr/lib/udev/rules.d,etc/udev/rules.d}
cp "$here"/../driver/insmod.sh "$root"
cp "$here"/../driver/60-gdrdrv.rules "$root/usr/lib/udev/rules.d"
cp "$here"/node/in_guest.sh "$root"
cp -L "$(command -v dash)" "$root/bin/sh"
for tool in cat chmod dirname env id mknod rm sleep stat tr grep sed insmod rmmod; do
    cp -L "$(command -v $tool)" "$root/bin/$tool"
done
# udev is not installed here, since it would take over.
(cd "$out" && apt-get -qq -o APT::Sandbox::User= download udev libkmod2 >&2)
for each in "$out"/*.deb; do
    dpkg -x "$each" "$out/udev"
done
cp "$(find "$out/udev" -path "*bin/udevadm" -type f)" "$root/bin"
ln -s udevadm "$root/bin/systemd-udevd"
ldd "$root"/bin/* | awk '$2 == "=>" && $3 ~ "^/" {print $3}' |
    sort -u | xargs -I{} cp -Ln {} "$root/lib"
cp -L "$(find "$out/udev" -name 'libkmod.so.2')" "$root/lib"
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64"
echo "persistent /bin/sh /in_guest.sh" > "$root/programs"
"$here/boot.sh" "$(readlink -f "$kernel/image")" amd64 "$out" node modes=programs only=host
