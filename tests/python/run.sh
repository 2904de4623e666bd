#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the Python package, installs it into an environment of its own and tests it on the
# simulated GPU. Needs python3 with venv, a C++20 compiler, and pip's access to an index.
#   tests/python/run.sh [--wheel FILE] [ARGUMENT OF PYTEST...]
# With --wheel, this wheel is tested, and nothing is built. PYTHON is the interpreter to use, python3 by default.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
package=$repository
if [[ ${1-} == --wheel ]]; then
    package=$(realpath "$2")
    shift 2
fi

for variable in ${!BARMAP_@}; do
    unset "$variable"
done
if command -v ccache > /dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL-$(nproc)}

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"${PYTHON-python3}" -m venv "$environment"
# In a directory without the sources, so that what is installed is tested.
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "$package[test]"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    "$repository/python/compat"
cd "$environment"
# tests DIRECTORY [ARGUMENT OF PYTEST...]; that arguments select none of them is no failure.
tests() {
    local status=0
    bin/python -m pytest -q -p no:cacheprovider --rootdir "$repository" --import-mode=prepend \
        "$repository/tests/python$1" "${@:2}" || status=$?
    [[ $status == 0 || $status == 5 && $# -gt 2 ]]
}
# Side by side, since each is one process; their output one after the other.
tests "" --ignore="$repository/tests/python/pygpu" "$@" &> all.txt &
all=$!
for runtime in cuda hip; do
    BARMAP_RUNTIME=$runtime tests /pygpu "$@" || touch failed
done &> pygpu.txt
wait $all || touch failed
cat all.txt pygpu.txt
[[ ! -e failed ]]
