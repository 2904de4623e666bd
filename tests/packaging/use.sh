# SPDX-License-Identifier: MIT
# What a user does with the packages, run inside the clean system.
cd "$(dirname "$0")" || exit 1
barmap --version
barmap info > /dev/null
barmap sim -- barmap check --max-size 16M > check.txt || { cat check.txt; exit 1; }
tail -n 1 check.txt
# shellcheck disable=SC2016 # for the shell in there
barmap sim -- barmap run -- sh -c 'grep -q /libbarmap-memcpy.so /proc/$$/maps && grep -q /libbarmap.so.1 /proc/$$/maps'
barmap sim -- gdrcopy_sanity -s
barmap sim -- gdrcopy_validate
BARMAP_SIM=1 /usr/libexec/barmap/validate

gcc -Wall -Werror use_gdrapi.c -o use_gdrapi -lgdrapi -ldl
barmap sim -- ./use_gdrapi
# shellcheck disable=SC2046
g++ -std=c++20 -Wall -Werror use_barmap.cpp -o use_barmap $(pkg-config --cflags --libs barmap)
BARMAP_SIM=1 ./use_barmap

python3 -c "import barmap; print('python3-barmap', barmap.info()['barmap'])"
python3 use_barmap.py
BARMAP_SIM=1 python3 -m barmap info | grep imulated > /dev/null
test -e /usr/share/doc/barmap/ordering.md || exit 1 # which the headers cite
man -w barmap barmap_device_create barmap-lat barmap-check gdrcopy_copybw > /dev/null
