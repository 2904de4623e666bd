#!/bin/bash
# SPDX-License-Identifier: MIT
# Boots a kernel in QEMU (TCG) with the drivers and the guest's program; judges by what it printed, and by
# what it wrote into the fake GPU's memory.
#   boot.sh IMAGE ARCHITECTURE OUT LABEL [NAME=VALUE...]     what follows is for the guest's program
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
image=$1 architecture=$2 out=$3 label=$4
shift 4

bar=$out/$label.bar log=$out/$label.log
case "$architecture $*" in
    *large_entries=yes*) : "${GPU_MIB:=2048}" ;; # there are cases of a GiB
    amd64*) : "${GPU_MIB:=256}" ;;
esac
"$here/bar.py" fill "$bar" "${GPU_MIB:=16}"
(cd "$out/root" && find . | cpio --quiet -o -H newc | gzip -1) > "$out/$label.cpio.gz"

gpu=(-object "memory-backend-file,id=bar,share=on,mem-path=$bar,size=${GPU_MIB}M" -device ivshmem-plain,memdev=bar)
case $architecture in
    # The kernel's tests of its timer at start and of its clock later, against the host's, fail where the host is busy.
    amd64) qemu=(qemu-system-x86_64 -cpu max) console="ttyS0 no_timer_check tsc=reliable" ;;
    arm64) qemu=(qemu-system-aarch64 -machine virt -cpu max) console=ttyAMA0 ;;
    ppc64el) qemu=(qemu-system-ppc64 -machine pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off -cpu power9) console=hvc0 ;;
esac
processors=${PROCESSORS:-2} memory=${MEMORY:-512}
begin=$SECONDS
# With several threads QEMU may run an instruction while the guest's kernel changes it, as that does for its static keys
# at start. A kernel that ends so, before the guest's program has loaded a driver, is booted again.
for attempt in 1 2 3; do
    code=0
    timeout "${LIMIT:=300}" "${qemu[@]}" -accel tcg,thread=multi -smp "$processors" -m "$memory" -nodefaults \
        -no-user-config -display none -no-reboot -monitor none -serial "file:$log" "${gpu[@]}" \
        -kernel "$image" -initrd "$out/$label.cpio.gz" \
        -append "console=$console panic=-1 panic_on_warn=${PANIC_ON_WARN:-0} ${KERNEL_OPTIONS:-} limit=$LIMIT $*" < /dev/null || code=$?
    if [[ $code -ne 0 || $attempt == 3 ]] || grep -q '^MODE ' "$log" || ! grep -q 'Oops: int3' "$log"; then
        break
    fi
    echo "$label: the kernel ended at an instruction that it was changing, before the guest's program began: again" >&2
done

tr -d '\r' < "$log" > "$log.text"
summary="$label: $(sed -n 's/ passed$//p' "$log.text" | tail -n 1) cases passed, $((SECONDS - begin)) s"
if [[ $code -ne 0 ]] || ! grep -qx 'VERDICT 0' "$log.text"; then
    echo "FAILED $summary (QEMU ended with $code; 124 is a time-out); the end of $log.text:" >&2
    grep -E '^  FAILED|^    |^  KERNEL|^  LEAK' "$log.text" | grep -v 'calls$' | head -n 40 >&2 || true
    grep -E -A 30 'BUG:|WARNING:|Oops|Kernel panic' "$log.text" | head -n 60 >&2 || tail -n 20 "$log.text" >&2
    exit 1
fi
"$here/bar.py" look "$bar" "$log.text"
rm -f "$out/$label.cpio.gz" "$bar"
echo "$summary"
