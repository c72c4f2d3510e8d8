#!/bin/sh
# kernels/cuda/ptxas.tsv speaks of the sources as they are: a stale row would put an old register
# count on screen. And no configuration that ships (defaults, what lessons ask, what `auto` and the suites of `bench` choose) spills
# registers without being named in spills.tsv beside it. Needs python3, no compiler.
# SPDX-License-Identifier: GPL-3.0-or-later
cd "${ATTNSCOPE_SRCDIR:-.}" || exit 99
command -v python3 >/dev/null 2>&1 || { echo "1..0 # SKIP no python3"; exit 0; }
n=0
is() { # what, words of update-ptxas
    n=$((n + 1))
    if out=$(tools/update-ptxas "$2" 2>&1); then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "$out" | sed 's/^/# /'
    fi
}
echo 1..2
is "ptxas.tsv is fresh (else: make update-ptxas, which needs nvcc)" --check
is "what ships does not spill, but for what spills.tsv names" --spills
