#!/bin/bash
# SPDX-License-Identifier: MIT
# What users have: the README's commands, packages and wheels on Debian 12 and 13, python/tests with the oldest and the
# newest Python that can be had, and the RPM packages. Each in a clean system (clean_debian.sh), and each takes up to an
# hour of a processor. Needs root. A part that fails does not stop the others.
#   tests/packaging/systems.sh [PART...]      all parts by default:
#     debian12, debian13   README.md and docs/install.md typed, with Debian's packages and a wheel built, installed and
#                          used (readme.sh); then the packages in a system without a compiler's cache (chroot.sh)
#     python-oldest        python/tests with Python 3.9 of pyenv
#     python-newest        python/tests with the Python of Debian's sid
#     rpm                  the RPM packages by rpm --root (rpm_root.sh)
# The recipes for conda and Spack are compared with the sources by recipes_test.py; their tools are not Debian's.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$repository/tests/packaging
# shellcheck source=tests/packaging/clean_debian.sh
. "$here/clean_debian.sh"

if [[ ${1-} == --python-of ]]; then # by this script itself, for the namespace
    need_tools git
    in_namespace "$@"
    make_clean_debian "$2" ca-certificates git
    git clone --quiet --no-hardlinks "$repository" "$root/root/barmap"
    inside "$root" sh -eu -c 'cd /root/barmap
        scripts/packages g++ cmake ninja-build libcli11-dev libfmt-dev nlohmann-json3-dev libvulkan-dev python3-dev \
            python3-venv
        python3 --version
        exec python/tests/run.sh' < /dev/null
    exit
fi

debian() {
    "$here/readme.sh" --suite "$1" --no-tests --packages "$repository/dist/$1" &&
        "$here/chroot.sh" --suite "$1" "$repository/dist/$1/deb"
}

python_oldest() {
    local each
    for each in python3.9 "${PYENV_ROOT-$HOME/.pyenv}"/versions/3.9.*/bin/python3; do
        if "$each" -c 'import sys, venv; sys.exit(sys.version_info[:2] != (3, 9))' 2> /dev/null; then
            PYTHON=$each "$repository/python/tests/run.sh"
            return
        fi
    done
    echo "skipped: there is no Python 3.9 here"
    return 77
}

rpm_packages() {
    "$repository/packaging/rpm/build" "$repository/dist/rpm" && "$here/rpm_root.sh"
}

parts=("$@")
[[ $# -gt 0 ]] || parts=(debian12 debian13 python-oldest python-newest rpm)
outcomes=() failed=0
for part in "${parts[@]}"; do
    printf '\n======== %s\n' "$part"
    status=0
    case $part in
        debian12 | debian13) debian "$part" || status=$? ;;
        python-newest) "${BASH_SOURCE[0]}" --python-of sid || status=$? ;;
        python-oldest) python_oldest || status=$? ;;
        rpm) rpm_packages || status=$? ;;
        *)
            sed -n '3,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
            exit 2
            ;;
    esac
    case $status in
        0) outcomes+=("$part: passed") ;;
        77) outcomes+=("$part: skipped") ;;
        *) outcomes+=("$part: FAILED") && failed=1 ;;
    esac
done
printf '\n'
printf '%s\n' "${outcomes[@]}"
exit $failed
