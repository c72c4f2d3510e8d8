#!/bin/sh
# kernels/cuda/ptx.xz is the PTX of the sources as they are, to the line: a stale text would not be taken, and
# the simulator would need a compiler. Needs python3 with lzma, no compiler.
# SPDX-License-Identifier: GPL-3.0-or-later
cd "${ATTNSCOPE_SRCDIR:-.}" || exit 99
python3 -c 'import lzma' 2>/dev/null || { echo "1..0 # SKIP no python3 with lzma"; exit 0; }
echo 1..2
if out=$(tools/update-ptx --check 2>&1); then
    echo "ok 1 - ptx.xz is fresh"
else
    echo "not ok 1 - ptx.xz is fresh"
    printf '%s\n' "$out" | sed 's/^/# /'
    echo "# make update-ptx renews it (needs nvcc)"
fi
# The interface program unpacks nothing: liblzma would be half a megabyte of its memory.
linked=$(readelf -d "${ATTNSCOPE:-build/attnscope}" 2>/dev/null | grep -c 'liblzma')
if [ "$linked" -eq 0 ]; then
    echo "ok 2 - liblzma is the worker's alone"
else
    echo "not ok 2 - liblzma is the worker's alone"
fi
