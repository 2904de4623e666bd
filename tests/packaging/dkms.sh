# SPDX-License-Identifier: MIT
# DKMS builds and installs the module for every kernel whose headers are there, at least two.
kernels=0
for build in /lib/modules/*/build; do
    kernel=$(basename "$(dirname "$build")")
    case $kernel in *-amd64) ;; *) continue ;; esac
    dkms install -k "$kernel" barmap/0.1.0 > /tmp/dkms.log 2>&1 || { cat /tmp/dkms.log; exit 1; }
    dkms status -k "$kernel" barmap/0.1.0 | grep -q ': installed' ||
        { echo "dkms does not call it installed for $kernel" >&2; exit 1; }
    module=$(find "/lib/modules/$kernel" -name 'gdrdrv.ko*')
    modinfo -k "$kernel" -F vermagic "$module" | grep -q "^$kernel " ||
        { echo "$module is not for $kernel" >&2; exit 1; }
    echo "$module"
    kernels=$((kernels + 1))
done
[ $kernels -ge 2 ] || { echo "there are headers of $kernels kernels only" >&2; exit 1; }
