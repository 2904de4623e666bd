# SPDX-License-Identifier: MIT
# Sourced by the tests of packages: a clean Debian 12 in a directory, which is gone when the test ends. What
# barmap's packages depend on is there before them, and so are a compiler and the headers of two kernels.
# It is made once and kept in BARMAP_CACHE, ~/.cache/barmap by default. Needs root and Debian's archive.
# shellcheck shell=bash disable=SC2154 # $repository is its own
cache=${BARMAP_CACHE-$HOME/.cache/barmap}
mirror=${BARMAP_DEBIAN_MIRROR-http://deb.debian.org}
inside_environment=()

# need_tools PACKAGE...
need_tools() {
    if [[ $EUID -ne 0 ]]; then
        echo "a chroot needs root: run this with sudo" >&2
        exit 77
    fi
    "$repository/scripts/packages" debootstrap "$@" || exit 77
}

# in_namespace ARGUMENT...: runs the test with these in a namespace of its own, since what is mounted there goes
# with the process. Returns in there only.
in_namespace() {
    [[ ${BARMAP_IN_NAMESPACE-} == 1 ]] || BARMAP_IN_NAMESPACE=1 exec unshare --mount --pid --fork "$0" "$@"
}

# inside DIRECTORY COMMAND...
inside() {
    local root=$1
    shift
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "${inside_environment[@]}" chroot "$root" "$@"
}

attach() {
    mount -t proc proc "$1/proc"
    mount --bind /dev "$1/dev"
}

make_base() {
    local root=$cache/making
    rm -rf --one-file-system "$root"
    debootstrap --variant=minbase bookworm "$root" "$mirror/debian" > "$cache/debootstrap.log"
    printf 'deb %s bookworm%s main\n' "$mirror/debian" "" "$mirror/debian" -updates \
        "$mirror/debian-security" -security > "$root/etc/apt/sources.list"
    attach "$root"
    inside "$root" apt-get -qq update
    inside "$root" apt-get -qq --yes --no-install-recommends install gcc g++ libc6-dev pkg-config dkms \
        python3-numpy man-db linux-headers-cloud-amd64 \
        "$(inside "$root" apt-cache search --names-only '^linux-headers-6[.]12[0-9.+deb-]*-cloud-amd64$' |
            cut -d' ' -f1 | sort -V | tail -n 1)"
    umount "$root/proc" "$root/dev"
    tar -C "$root" --create --file "$base.new" .
    mv "$base.new" "$base"
    rm -rf --one-file-system "$root"
}

# make_clean_debian: in the directory $root, until the test ends
make_clean_debian() {
    local kernel base
    mkdir -p "$cache"
    base=$cache/bookworm-$(declare -f make_base | sha256sum | cut -c1-12).tar
    [[ -e $base ]] || make_base

    root=$(mktemp -d)
    trap 'umount -q "$root/proc" "$root/dev"; rm -rf --one-file-system "$root"' EXIT
    tar -C "$root" --extract --file "$base"
    attach "$root"
    # As the image of each kernel does, which need not be here.
    for kernel in "$root"/usr/src/linux-headers-*-amd64; do
        inside "$root" depmod "${kernel##*/linux-headers-}" 2> /dev/null
    done
}

# files_of ROOT: every file, without what every installation of anything changes; with its size where a package's
# scripts may write into what is not its own
files_of() {
    inside "$1" find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /var/cache \
        -o -path /var/lib/apt -o -path /var/lib/rpm -o -path /var/log \) -prune \
        -o -type f \( -path '/etc/*' -o -path '/usr/lib/modules/*' \) -printf '%y %m %p %s\n' \
        -o -printf '%y %m %p %l\n' | LC_ALL=C sort
}

# nothing_is_left BEFORE ROOT: BEFORE has what files_of wrote before the installation
nothing_is_left() {
    files_of "$2" > "$cache/after.txt"
    diff -u "$1" "$cache/after.txt" || {
        echo "the packages left something behind, or took it with them" >&2
        exit 1
    }
}
