#!/bin/bash
# SPDX-License-Identifier: MIT
# Types the commands of README.md and docs/install.md, as they are printed, in a clean Debian that has nothing of
# barmap's but a clone of this repository (what is not committed is not in it). Their programs are compiled and started,
# on a simulated GPU. scripts/test, which the README has, comes last, so that what it installs helps no other command.
#   tests/packaging/readme.sh [--suite debian12|debian13] [--no-tests] [--packages DIRECTORY] [--ccache DIRECTORY]
# --no-tests leaves out scripts/test. With --packages, the commands that build and install packages are typed too, and
# the packages are copied to DIRECTORY. --ccache is a cache for the compiler in there, to save time.
# Which commands are not typed, and why: tests/packaging/page_commands.py REPOSITORY --list
# Exits with 77 where a chroot cannot be made (clean_debian.sh).
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$repository/tests/packaging
# shellcheck source=tests/packaging/clean_debian.sh
. "$here/clean_debian.sh"
all=("$@")
suite=debian12 options=() packages='' ccache=''
while [[ $# -gt 0 ]]; do
    case $1 in
        --suite) suite=$2 && shift ;;
        --no-tests) options+=("$1") ;;
        --packages) options+=("$1") && packages=$(realpath -m "$2") && shift ;;
        --ccache) ccache=$(realpath -m "$2") && shift ;;
        *)
            sed -n '3,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
            exit 2
            ;;
    esac
    shift
done
release=$(release_of "$suite")
need_tools git python3
in_namespace "${all[@]}"

# What the machine of a user has who clones a repository, reads manual pages and becomes root.
make_clean_debian "$release" ca-certificates git man-db sudo
typed=$root/root/typed.sh
"$here/page_commands.py" "$repository" "${options[@]}" > "$typed"
git clone --quiet --no-hardlinks "$repository" "$root/root/barmap"
cp -r "$here/stand_in" "$root/root/stand_in"
echo 'APT::Get::Assume-Yes "true";' > "$root/etc/apt/apt.conf.d/99yes" # what the user answers
if [[ $ccache ]]; then
    mkdir -p "$ccache" "$root/root/.ccache"
    mount --bind "$ccache" "$root/root/.ccache"
    inside "$root" apt-get -qq --yes --no-install-recommends install ccache > /dev/null
    inside_environment+=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=/root/.ccache
        CCACHE_COMPILERCHECK=content)
fi

status=0
inside "$root" bash /root/typed.sh < /dev/null || status=$?
if [[ $packages && -d $root/root/barmap/dist ]]; then
    mkdir -p "$packages"
    cp -r "$root/root/barmap/dist/." "$packages"
fi
exit $((status != 0)) # 77 has a meaning of its own
