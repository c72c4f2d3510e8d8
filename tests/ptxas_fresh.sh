#!/bin/sh
# kernels/cuda/ptxas.tsv speaks of the sources as they are: a stale row would put an old register
# count on screen. Needs python3, no compiler.
# SPDX-License-Identifier: GPL-3.0-or-later
cd "${ATTNSCOPE_SRCDIR:-.}" || exit 99
command -v python3 >/dev/null 2>&1 || { echo "1..0 # SKIP no python3"; exit 0; }
echo 1..1
if out=$(tools/update-ptxas --check 2>&1); then
    echo "ok 1 - ptxas.tsv is fresh"
else
    echo "not ok 1 - ptxas.tsv is fresh"
    printf '%s\n' "$out" | sed 's/^/# /'
    echo "# make update-ptxas renews it (needs nvcc)"
fi
