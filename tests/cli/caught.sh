#!/bin/sh
# What a kernel did and must not is a failed check, by whatever verb and backend it was seen: exit status 1. What
# could not run at all is 3.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154  # lib.sh gives tmp, rc, out and err
. "$(dirname "$0")/lib.sh"
fake=${ATTNSCOPE_FAKECUDA:-}
export COLUMNS=160
unset ATTNSCOPE_LIBCUDA
src=${ATTNSCOPE_SRCDIR:-$OLDPWD}
case $src in /*) ;; *) src=$OLDPWD/$src ;; esac
small='S=40 H=1 D=16'

fails() { # WORDS, what its row says: the status is 1, the row has failed and has no time
    run "$@" --json
    [ "$rc" -eq 1 ] && says "$out" '"check":"fail"' && says "$out" '"reason":"[^"]*it overwrote its inputs' &&
        ! says "$out" '"kernel":"spoil[^}]*"median_us":[0-9]'
}

# ---- in C ----
sed -e 's/@name .*/@name spoilc/' -e 's/attn_fa2/attn_spoilc/' -e 's|^    const int64_t i0 = blk->x.*|&\n    *(volatile char *)(uintptr_t)a->k ^= 1;|' "$src/kernels/cpu/fa2.c" >spoilc.c
run kernel add spoilc.c
# shellcheck disable=SC2086
for words in "check spoilc" "run spoilc n=3 time=0.05" "compare naive,spoilc n=3 time=0.05"; do
    is "${words%% *} of a C kernel that writes to its inputs: 1" fails $words $small f32 backend=cpu
done
sed -i 's|^ *\*(volatile char.*||' spoilc.c
run kernel allow spoilc
# shellcheck disable=SC2086
run check spoilc $small f32 backend=cpu
is "and 0 when it does not" [ "$rc" -eq 0 ]

# ---- simulated ----
sed -e 's/@name .*/@name spoil/' -e 's/    row_full(/    spoil(/' -e 's|^    const int n = visible_keys(a, i);|&\n    if (threadIdx.x == 0 \&\& i == 0)\n        *(elem *)q_row(a, i) = to_elem(0.f);|' "$src/kernels/cuda/row_full.cu" >spoil.cu
run kernel add spoil.cu
# shellcheck disable=SC2086
run check spoil $small --json
if says "$out" '"check":null'; then
    skip "no compiler for the simulator's PTX"
else
    # shellcheck disable=SC2086
    for words in check run; do
        is "$words of one simulated: 1" fails $words spoil $small backend=sim
    done
    # Beside what has a time, or in its place where there is no GPU.
    # shellcheck disable=SC2086
    is "compare with a right one: 1" fails compare row_full,spoil $small
    # shellcheck disable=SC2086
    run sanitize spoil $small
    is "sanitize: 1, too" [ "$rc" -eq 1 ]
    is "in its own words" says "$out" 'spoil: it overwrote its inputs, Q, K or V: Q\[0\]\[0\]\[0\]\[0\] at spoil\.cu:[0-9]+'
    is "with the line" says "$out" '^input_written: .*'
    is "that did it" says "$(printf '%s\n' "$out" | grep -A3 '^input_written')" '\*\(elem \*\)q_row\(a, i\) = to_elem'
    # Who is stopped has no counts, and has failed all the same.
    sed -i 's|^        \*(elem \*)q_row.*|        for (;;) __nanosleep(1);|' spoil.cu
    for verb in sanitize check run; do
        # shellcheck disable=SC2086
        run $verb spoil $small backend=sim
        is "$verb of one that does not end: 1" [ "$rc" -eq 1 ]
    done
    sed -i 's|^        for (;;).*|        nonsense;|' spoil.cu
    for verb in sanitize check run; do
        # shellcheck disable=SC2086
        run $verb spoil $small backend=sim
        is "$verb of one that does not compile: 3" [ "$rc" -eq 3 ]
    done
fi

# ---- on a GPU, as the fake driver plays it ----
if [ -n "$fake" ]; then
    export ATTNSCOPE_LIBCUDA="$fake/fakecuda.so" ATTNSCOPE_LIBNVRTC="$fake/fakecuda.so"
    export FAKECUDA=regs=168,compute:1=inputs
    for verb in check run; do
        # shellcheck disable=SC2086
        is "$verb on a GPU: 1" fails $verb fa2 $small backend=cuda
    done
else
    skip "no fake driver"
fi
finish
