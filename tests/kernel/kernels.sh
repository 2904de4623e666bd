#!/bin/bash
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
    case $suite in
        sid | *-backports) ;;
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
    ln -s "$tree" "$folder/build"
    for each in "$folder"/boot/vmlinu[xz]-*; do
        ln -s "$each" "$folder/image"
    done
    touch "$folder/complete"
fi
echo "$folder"
