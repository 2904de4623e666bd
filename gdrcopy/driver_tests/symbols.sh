#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver uses no symbol that the kernel exports for GPL modules only: with the proprietary nvidia.ko, it
# could not be loaded then.
#   symbols.sh MODULE_SYMVERS DRIVER...
set -euo pipefail
list=$1
shift
for driver in "$@"; do
    used=$(nm --undefined-only "$driver" | awk '{print $2}' | sort)
    gpl=$(awk '$4 == "EXPORT_SYMBOL_GPL" {print $2}' "$list" | sort)
    found=$(comm -12 <(echo "$used") <(echo "$gpl"))
    if [[ $found ]]; then
        echo "$driver uses symbols that are for GPL modules only:" $found >&2
        exit 1
    fi
done
