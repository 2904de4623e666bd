#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs unmodified programs over barmap's libgdrapi on a machine with GPUs, and prints what they measure.
#   tests/clients/run.sh DROPINS [UCX]
# DROPINS is lib/barmap-dropins of an installed barmap; UCX the prefix of a UCX with CUDA and gdrcopy.
# NCCL is PyTorch's, where there is PyTorch and a second GPU. docs/clients.md has the figures.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dropins=$(cd "${1:?the folder of the drop-in libraries}" && pwd)/lib
ucx=${2-}
unset "${!BARMAP_@}"

# result: what ucx_perftest prints at the end, or the error that it prints instead
result() {
    awk '/Final:/ { print "median " $3 " µs, average " $4; done = 1 } /ERROR/ { error = $0 }
         END { if (!done) print "failed: " error }'
}

if [[ $ucx ]]; then
    export UCX_MODULE_DIR=$ucx/lib/ucx UCX_WARN_UNUSED_ENV_VARS=n
    export LD_LIBRARY_PATH=$ucx/lib:$dropins
    test=("$ucx/bin/ucx_perftest" -t tag_lat -m cuda -n 100000)
    "$ucx/bin/ucx_info" -v | head -n 1
    for bytes in 8 64 1024 8192; do
        for without in '' '^gdr_copy'; do
            export UCX_TLS=${without:-all}
            what="UCX, $bytes B, $([[ $without ]] && echo without || echo with) gdr_copy"
            printf '%s, one process: ' "$what"
            timeout 60 "${test[@]}" -s "$bytes" -l 2>&1 | result
            printf '%s, two processes: ' "$what"
            timeout 60 "${test[@]}" -s "$bytes" -p 13399 > /dev/null 2>&1 &
            sleep 2
            timeout 60 "${test[@]}" -s "$bytes" -p 13399 localhost 2>&1 | result
            wait
        done
    done
    unset LD_LIBRARY_PATH UCX_TLS
fi

if command -v torchrun > /dev/null && [[ $(nvidia-smi -L | wc -l) -ge 2 ]]; then
    export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_DEBUG=INFO NCCL_IB_DISABLE=1
    for cumem in 0 1; do
        for with in 1 0 1 0 1 0; do
            NCCL_CUMEM_ENABLE=$cumem NCCL_GDRCOPY_ENABLE=$with LD_LIBRARY_PATH=$dropins \
                timeout 120 torchrun --nproc-per-node=2 "$here/nccl_allreduce.py" 2>&1 |
                grep -aE '"program"|GDRCOPY enabled' | sed 's/^.*NCCL INFO/NCCL:/' | sort -u
        done
    done
fi
