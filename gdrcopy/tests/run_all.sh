#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the consumer programs, and what else was built beside them, against a libgdrapi, and prints a
# line of JSON for each and one for all. For machines with a GPU: nothing but bash is needed.
#   run_all.sh PROGRAMS LIBRARIES    PROGRAMS: build/PRESET/bin/dropin, LIBRARIES: the folder with
#                                    libgdrapi.so and what it needs
# Exit code: 1 if a program failed or none ran, else 0. Skipped is what says so with 77.
set -uo pipefail
if [[ $# != 2 || ! -d $1 || ! -e $2/libgdrapi.so.2 ]]; then
    sed -n '3,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
programs=$(cd "$1" && pwd)
libraries=$(cd "$2" && pwd)
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} GDRCOPY_PATH_L=$libraries

# A JSON string of the last lines of a text.
quoted() {
    local text
    text=$(tail -n 20 | tr -d '\000-\010\013\014\016-\037' | sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g')
    printf '"%s"' "${text//$'\n'/\\n}"
}

passed=0 failed=0 skipped=0
for program in "$programs"/*; do
    [[ -f $program && -x $program ]] || continue
    arguments=()
    [[ ${program##*/} == random_calls ]] && arguments=(--seed 1 --calls 200000)
    begin=$EPOCHREALTIME
    output=$(timeout --kill-after=5 120 "$program" "${arguments[@]}" 2>&1 < /dev/null)
    code=$?
    end=$EPOCHREALTIME
    case $code in
        0) result=ok passed=$((passed + 1)) ;;
        77) result=skipped skipped=$((skipped + 1)) ;;
        *) result=failed failed=$((failed + 1)) ;;
    esac
    printf '{"program": "%s", "result": "%s", "exit_code": %d, "ms": %d, "output": %s}\n' \
        "${program##*/}" "$result" "$code" $(((${end/[.,]/} - ${begin/[.,]/}) / 1000)) \
        "$(quoted <<< "$output")"
done
printf '{"ok": %d, "failed": %d, "skipped": %d}\n' "$passed" "$failed" "$skipped"
((failed == 0 && passed > 0))
