#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the Python package, installs it into an environment of its own and tests it on the
# simulated GPU. Needs python3 with venv, a C++20 compiler, and pip's access to an index.
#   python/tests/run.sh [--wheel FILE] [ARGUMENT OF PYTEST...]
# With --wheel, this wheel is tested, and nothing is built. PYTHON is the interpreter to use, python3 by default;
# JUNIT_DIRECTORY, an absolute path, gets a file of JUnit's form from each run of pytest.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
package=
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
trap 'wait; rm -rf "$environment"' EXIT
"${PYTHON-python3}" -m venv "$environment"
pip() {
    "$environment/bin/python" -m pip --quiet --disable-pip-version-check "$@"
}
if [[ ! $package ]]; then
    pip wheel --no-deps --wheel-dir "$environment" "$repository" &
    build=$!
    # What the tests need, meanwhile.
    mapfile -t needed < <(sed -n '/^test = \[/,/^]/s/^ *"\(.*\)",$/\1/p' "$repository/pyproject.toml")
    pip install --no-compile "${needed[@]}"
    wait $build
    package=$(echo "$environment"/*.whl)
fi
# In a directory without the sources, so that what is installed is tested.
pip install --no-compile "$package[test]"
pip install --no-compile --no-deps "$repository/python/compat"
if [[ ${build-} && $# -eq 0 ]]; then
    # Each source of the extension alone, which pip compiles many at once.
    mapfile -t needed < <(sed -n '/^requires = \[/,/^]/s/^ *"\(nanobind.*\)",$/\1/p' "$repository/pyproject.toml")
    pip install --no-compile "${needed[@]}"
    "$environment/bin/python" -B "$repository/tests/layout/alone_test.py" "$repository" "${CXX-c++}" TheTree ||
        touch "$environment/failed"
fi
cd "$environment"
files=("$repository"/python/tests/*_test.py "$repository"/python/tests/compat/*_test.py)
half=$((${#files[@]} / 2))
arguments=("$@")
# tests NAME FILE...; that arguments select none of them is no failure.
tests() {
    local status=0 junit=()
    [[ ! ${JUNIT_DIRECTORY-} ]] || junit=(--junitxml="$JUNIT_DIRECTORY/python.$1.xml")
    bin/python -m pytest -q -p no:cacheprovider --rootdir "$repository" --import-mode=prepend "${junit[@]}" \
        "${@:2}" "${arguments[@]}" &> "$1.txt" || status=$?
    [[ $status == 0 || $status == 5 && ${#arguments[@]} -gt 0 ]] || touch failed
}
# Two at a time, each of which is one process, whose end counts as well; their output one after the other.
tests first "${files[@]:0:half}" &
tests second "${files[@]:half}" &
wait
for runtime in cuda hip; do
    BARMAP_RUNTIME=$runtime tests "$runtime" "$repository/python/tests/pygpu" &
done
wait
cat first.txt second.txt cuda.txt hip.txt
[[ ! -e failed ]]
