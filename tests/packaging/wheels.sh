#!/bin/bash
# SPDX-License-Identifier: MIT
# Tests the wheels: each is installed into a new environment of every Python here that takes it, where
# python/tests is run; into clean Debians, alone and beside another version of the library (use_wheel.py; needs root);
# those for arm64 into Debian's Pythons in an emulator (qemu-user), where they are
# imported and used on the simulated GPU. Which were not tested is said, and it ends with 77.
#   tests/packaging/wheels.sh [DIRECTORY OF WHEELS [ARGUMENT OF PYTEST...]]      dist/wheel by default
#   tests/packaging/wheels.sh --debian RELEASE [DIRECTORY OF WHEELS]     in that clean Debian only, as bullseye
# Pythons are those on PATH and of pyenv. Debian's are kept in BARMAP_CACHE, ~/.cache/barmap by default.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
debian=
if [[ ${1-} == --debian ]]; then
    debian=$2
    shift 2
fi
wheels=$(realpath "${1-$repository/dist/wheel}")
cache=${BARMAP_CACHE-$HOME/.cache/barmap}
mirror=${BARMAP_DEBIAN_MIRROR-http://deb.debian.org}
export PIP_DISABLE_PIP_VERSION_CHECK=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# version PYTHON: as 39; fails if it is none that is asked here
version() {
    "$@" -c 'import sys, sysconfig, venv
print("%d%d" % sys.version_info[:2])
sys.exit(sys.version_info < (3, 9) or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' 2> /dev/null
}

# wheel_for VERSION PROCESSOR
wheel_for() {
    compgen -G "$wheels/barmap-*-cp$1-cp$1-*_$2.whl" ||
        { [[ $1 -ge 312 ]] && compgen -G "$wheels/barmap-*-cp312-abi3-*_$2.whl"; }
}

if [[ $debian ]]; then
    # shellcheck source=tests/packaging/clean_debian.sh
    . "$repository/tests/packaging/clean_debian.sh"
    # shellcheck disable=SC2119 # what the script was given is not for this
    need_tools
    in_namespace --debian "$debian" "$wheels"
    make_clean_debian "$debian" ca-certificates python3-venv
    number=$(inside "$root" python3 -c 'import sys; print("%d%d" % sys.version_info[:2])')
    wheel=$(wheel_for "$number" x86_64) || exit 77
    printf '\n==== %s, %s: %s\n' "$debian" "$(inside "$root" python3 --version)" "$(basename "$wheel")"
    cp "$wheel" "$wheels"/barmap_compat-*.whl "$repository"/tests/packaging/use_{barmap,wheel}.py "$root/tmp"
    inside "$root" sh -euc 'cd /root && python3 -m venv venv && venv/bin/pip --quiet install /tmp/*.whl
        venv/bin/python /tmp/use_barmap.py && venv/bin/python /tmp/use_wheel.py'
    exit
fi

untested=()
for wheel in "$wheels"/barmap-*-manylinux*.whl; do
    [[ -e $wheel ]] || continue
    untested+=("$(basename "$wheel")")
done
if [[ ${#untested[@]} -eq 0 ]]; then
    echo "there is no wheel in $wheels: packaging/wheel/build makes them" >&2
    exit 1
fi
if [[ $(printf '%s\n' "${untested[@]}" | cut -d- -f2 | sort -u | wc -l) -gt 1 ]]; then
    echo "there are wheels of several versions in $wheels" >&2
    exit 1
fi
# tested WHEEL
tested() {
    local each rest=()
    for each in "${untested[@]}"; do
        [[ $each == "$(basename "$1")" ]] || rest+=("$each")
    done
    untested=("${rest[@]}")
}

declare -A seen
for python in python3.{9..20} "${PYENV_ROOT-$HOME/.pyenv}"/versions/*/bin/python3; do
    number=$(version "$python") || continue
    [[ ! ${seen[$number]-} ]] || continue
    wheel=$(wheel_for "$number" x86_64) || continue
    seen[$number]=1
    printf '\n==== %s: %s\n' "$("$python" --version)" "$(basename "$wheel")"
    PYTHON=$python "$repository/python/tests/run.sh" --wheel "$wheel" "${@:2}"
    tested "$wheel"
done

for suite in bullseye bookworm trixie; do
    status=0
    "${BASH_SOURCE[0]}" --debian "$suite" "$wheels" || status=$?
    [[ $status -eq 0 || $status -eq 77 ]] || exit "$status"
    [[ $status -eq 0 ]] || untested+=("in a clean Debian, $suite")
done

"$repository/scripts/packages" --optional mmdebstrap qemu-user
mkdir -p "$cache"
for suite in bullseye bookworm trixie; do
    command -v mmdebstrap > /dev/null && command -v qemu-aarch64 > /dev/null || break
    root=$cache/arm64-$suite-2
    if [[ ! -e $root ]]; then
        rm -rf "$root.new"
        mmdebstrap --quiet --mode=root --variant=extract --architectures=arm64 \
            --include=python3,libpython3-stdlib,libstdc++6 "$suite" "$root.new" "$mirror/debian"
        [[ -e $root.new/lib ]] || ln -s usr/lib "$root.new/lib"
        mv "$root.new" "$root"
    fi
    python=(qemu-aarch64 -L "$root" "$(realpath "$root/usr/bin/python3")")
    number=$("${python[@]}" -c 'import sys; print("%d%d" % sys.version_info[:2])')
    wheel=$(wheel_for "$number" aarch64) || continue
    printf '\n==== %s of arm64: %s\n' "$("${python[@]}" --version)" "$(basename "$wheel")"
    python3 -m pip --quiet install --target "$work/$suite" --only-binary :all: --implementation cp \
        --python-version "${number:0:1}.${number:1}" --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
        --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 \
        "$wheel" "$wheels"/barmap_compat-*.whl
    PYTHONPATH=$work/$suite "${python[@]}" "$repository/tests/packaging/use_barmap.py"
    # `python -m barmap` would start the program without the emulator.
    for command in info "check --max-size 64K"; do
        # shellcheck disable=SC2086
        BARMAP_SIM=1 qemu-aarch64 -L "$root" "$work/$suite/barmap/bin/barmap" $command > "$work/said" || {
            cat "$work/said"
            exit 1
        }
    done
    tail -n 1 "$work/said"
    tested "$wheel"
done
if [[ ${#untested[@]} -gt 0 ]]; then
    printf '\nnot tested, for want of a Python to run them: %s\n' "${untested[*]}"
    exit 77
fi
