# SPDX-License-Identifier: MIT
# A package that asks for gdrcopy's names is content with barmap's, and gdrcopy's own cannot be
# installed beside them.
make_package() { # NAME VERSION DEPENDS
    mkdir -p "made/DEBIAN"
    printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: test <test@localhost>\n' \
        "$1" "$2" > made/DEBIAN/control
    [ -z "$3" ] || echo "Depends: $3" >> made/DEBIAN/control
    echo "Description: made by a test" >> made/DEBIAN/control
    dpkg-deb --build made "$1.deb" > /dev/null
    rm -r made
}
make_package consumer 1 "libgdrapi (>= 2.4), gdrdrv-dkms (>= 2.4), gdrcopy-tests"
dpkg --install consumer.deb > /dev/null
dpkg --purge consumer > /dev/null
for original in libgdrapi gdrdrv-dkms gdrcopy-tests; do
    make_package "$original" 2.4.4-1 ""
    if dpkg --install "$original.deb" > /dev/null 2>&1; then
        echo "$original of gdrcopy was installed beside barmap's" >&2
        exit 1
    fi
done
rm -f consumer.deb libgdrapi.deb gdrdrv-dkms.deb gdrcopy-tests.deb
echo "in the place of gdrcopy's packages"
