#!/bin/bash
# SPDX-License-Identifier: MIT
# Fetches a Debian kernel with its headers, unpacks it into the cache, and prints the folder. In it,
# "image" is the kernel to boot and "build" the tree to build modules with.
#   kernels.sh SUITE ARCHITECTURE META_PACKAGE     (bookworm amd64 linux-image-cloud-amd64)
# Nothing is installed, and the system's own package lists stay as they are.
set -euo pipefail
suite=$1 architecture=$2 meta=$3

cache=${XDG_CACHE_HOME:-$HOME/.cache}/barmap/kernels
root=$cache/apt/$suite-$architecture
mkdir -p "$root"/{lists/partial,archives/partial,empty}
: > "$root/status"

# The tools that build modules are this machine's.
host=$(dpkg --print-architecture)
{
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
    # sid has no security suite, and bookworm's ends for ppc64el before bookworm does.
    case $suite-$architecture in
        sid-* | bookworm-ppc64el) ;;
        *) echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security $suite-security main" ;;
    esac
} > "$root/sources.list"
cat > "$root/apt.conf" << CONF
Dir::State "$root";
Dir::State::lists "$root/lists";
Dir::State::status "$root/status";
Dir::Cache "$root";
Dir::Etc::sourcelist "$root/sources.list";
Dir::Etc::sourceparts "$root/empty";
Dir::Etc::preferencesparts "$root/empty";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; "$host"; };
APT::Sandbox::User "";
Acquire::Languages "none";
CONF
export APT_CONFIG=$root/apt.conf

# Once a day is enough; without a network, what is there is used.
if [[ -z $(find "$root/updated" -mtime -1 2> /dev/null) ]]; then
    apt-get -qq update >&2 && touch "$root/updated" || [[ -e $root/updated ]]
fi

depends() {
    apt-cache depends --no-recommends "$1" | sed -n 's/^ *Depends: //p'
}
image=$(depends "$meta" | grep -m 1 '^linux-image-')
headers=${image/linux-image-/linux-headers-}
headers=${headers/-unsigned/}
version=$(apt-cache policy "$image" | sed -n 's/^ *Candidate: //p')
folder=$cache/${image}_$version
if [[ ! -e $folder/complete ]]; then
    rm -rf "$folder"
    mkdir -p "$folder/debs"
    packages=("$image" "$headers")
    # Newer releases have the kernel itself in a package of its own.
    packages+=($(depends "$image" | grep '^linux-binary-' || true))
    for each in $(depends "$headers"); do
        case $each in
            linux-headers-*) packages+=("$each") ;;
            linux-kbuild-*) packages+=("${each%:*}:$host") ;;
        esac
    done
    (cd "$folder/debs" && apt-get -qq download "${packages[@]}" >&2)
    for each in "$folder"/debs/*.deb; do
        dpkg -x "$each" "$folder"
    done
    rm -r "$folder/debs"
    tree=$folder/usr/src/$headers
    sed -i "s|/usr/src|$folder/usr/src|" "$tree/Makefile"
    # Older packages link to absolute places.
    find "$tree" "$folder"/usr/src/*-common -maxdepth 1 -type l | while read -r link; do
        target=$(readlink "$link")
        if [[ $target == /usr/* ]]; then
            ln -sfn "$folder$target" "$link"
        fi
    done
    rm -f "$tree/vmlinux" # for BTF, which would need pahole
    # A kernel of a newer release: its tools run with that release's libraries, and what only its compiler
    # knows is left out.
    for tool in $(find "$folder"/usr/lib/linux-kbuild-* -type f -perm -100); do
        case $tool in */sign-file | */extract-cert) continue ;; esac # nothing is signed here
        { ldd "$tool" 2>&1 || true; } | grep -q 'not found' || continue
        libraries=$folder/libraries
        if [[ ! -d $libraries ]]; then
            mkdir "$libraries"
            (cd "$libraries" && apt-get -qq download libc6 libelf1t64 zlib1g libzstd1 >&2)
            for each in "$libraries"/*.deb; do
                dpkg -x "$each" "$libraries"
            done
        fi
        loader=$(find "$libraries" -name 'ld-linux*.so*' -type f | head -n 1)
        mv "$tool" "$libraries"
        printf '#!/bin/sh\nexec %s --argv0 "$0" --library-path %s %s "$@"\n' "$loader" \
            "$(dirname "$loader")" "$libraries/$(basename "$tool")" > "$tool"
        chmod +x "$tool"
    done
    if ! gcc -fmin-function-alignment=16 -x c -c -o /dev/null /dev/null 2> /dev/null; then
        sed -i '/MIN_FUNCTION_ALIGNMENT/d' "$tree/include/config/auto.conf" "$tree/include/generated/autoconf.h"
    fi
    ln -s "$tree" "$folder/build"
    ln -s "$(find "$folder" -type f -name 'vmlinu[xz]*' ! -name '*.h' | head -n 1)" "$folder/image"
    [[ -e $folder/image ]]
    touch "$folder/complete"
fi
echo "$folder"
