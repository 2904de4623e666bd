# SPDX-License-Identifier: MIT
# Sourced by the tests of packages and of the README: a clean Debian in a directory, which is gone when the test ends.
# It is made once by mmdebstrap for each release and list of packages, and kept in BARMAP_CACHE, ~/.cache/barmap by
# default. Needs root and Debian's archive, or a mirror of it (BARMAP_DEBIAN_MIRROR).
# shellcheck shell=bash disable=SC2154 # $repository is its own
cache=${BARMAP_CACHE-$HOME/.cache/barmap}
mirror=${BARMAP_DEBIAN_MIRROR-http://deb.debian.org}
inside_environment=()

# need_tools PACKAGE...
need_tools() {
    if [[ $EUID -ne 0 ]]; then
        echo "skipped: a chroot needs root: run this with sudo" >&2
        exit 77
    fi
    "$repository/scripts/packages" mmdebstrap debian-archive-keyring "$@" || exit 77
    unshare --mount --pid --fork true || {
        echo "skipped: this machine allows no namespaces of mounts and processes, which a chroot needs" >&2
        exit 77
    }
}

# in_namespace ARGUMENT...: runs the test with these in a namespace of its own, since what is mounted there goes
# with the process. Returns in there only.
in_namespace() {
    [[ ${BARMAP_IN_NAMESPACE-} == 1 ]] || BARMAP_IN_NAMESPACE=1 exec unshare --mount --pid --fork "$0" "$@"
}

# release_of NAME: Debian's code name; NAME is debian12, debian13 or such a name
release_of() {
    case $1 in
        debian12) echo bookworm ;;
        debian13) echo trixie ;;
        bookworm | trixie | forky | sid) echo "$1" ;;
        *)
            echo "there is no Debian $1 here: name debian12 or debian13" >&2
            return 2
            ;;
    esac
}

# inside DIRECTORY COMMAND...
inside() {
    local root=$1
    shift
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "${inside_environment[@]}" chroot "$root" "$@"
}

# archive RELEASE: the lines of Debian's archive
archive() {
    echo "deb $mirror/debian $1 main"
    [[ $1 != sid && $1 != forky ]] || return 0
    echo "deb $mirror/debian $1-updates main"
    echo "deb $mirror/debian-security $1-security main"
}

# use_network_of_host DIRECTORY: apt, pip and git in there reach what they reach out here: by the same proxies,
# certificates and settings. Adds to inside_environment.
use_network_of_host() {
    local name file
    apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries)' > "$1/etc/apt/apt.conf.d/99host" || true
    for name in $(compgen -e); do
        case $name in
            PIP_* | *_proxy | *_PROXY | SSL_CERT_FILE | SSL_CERT_DIR | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | GIT_SSL_CAINFO)
                inside_environment+=("$name=${!name}")
                if [[ -f ${!name} ]]; then
                    install -D --mode 644 "${!name}" "$1${!name}"
                elif [[ -d ${!name} && ! -e $1${!name} ]]; then
                    mkdir -p "$1${!name}"
                    mount --bind "${!name}" "$1${!name}"
                fi
                ;;
        esac
    done
    for file in /etc/ssl/certs/ca-certificates.crt /etc/pip.conf /etc/resolv.conf; do
        [[ ! -e $file ]] || install -D --mode 644 "$file" "$1$file"
    done
}

# make_clean_debian RELEASE PACKAGE...: in the directory $root, until the test ends
make_clean_debian() {
    local release=$1 packages base
    shift
    packages=$(IFS=, && echo "$*")
    base=$cache/$release-$(archive "$release" | cat - <(echo "$packages") | sha256sum | cut -c1-12).tar
    mkdir -p "$cache"
    if [[ ! -e $base ]]; then
        echo "making a clean Debian ($release), which takes minutes the first time" >&2
        apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries)' > "$cache/apt.conf" || true
        archive "$release" | mmdebstrap --quiet --mode=root --variant=apt --include="$packages" \
            --aptopt="$cache/apt.conf" "$release" "$base.new.tar" -
        mv "$base.new.tar" "$base"
    fi

    root=$(mktemp -d)
    # All that is mounted in there goes before a file is removed.
    mount --bind "$root" "$root"
    trap 'cd / && umount --recursive --lazy "$root" && rm -rf --one-file-system "$root"' EXIT
    tar -C "$root" --extract --file "$base"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    use_network_of_host "$root"
    inside "$root" apt-get -qq update
}

# make_debian_for_packages RELEASE: a clean one, with a compiler, what packages of barmap depend on, and the headers of
# two kernels: of another version if the release has one, else of another kind
make_debian_for_packages() {
    local kernel second
    make_clean_debian "$1" gcc g++ libc6-dev pkg-config dkms python3-numpy man-db linux-headers-cloud-amd64
    second=$(inside "$root" apt-cache search --names-only '^linux-headers-6[.]12[0-9.+deb-]*-cloud-amd64$' |
        cut -d' ' -f1 | sort -V | tail -n 1)
    if [[ ! $second || -e $root/usr/src/$second ]]; then
        second=linux-headers-amd64
    fi
    inside "$root" apt-get -qq --yes --no-install-recommends install "$second" > "$cache/kernels.log"
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
