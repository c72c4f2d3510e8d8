#!/bin/sh
# Verdicts beside the truth: a kernel against itself and against one that does 5 % more work, on this
# machine as it is and beside a load of two. Prints false and right verdicts, and refusals. Takes
# minutes: `make check-long`. COMPARES=200 of each kind, 20 here; TIME=2 seconds a kernel at most.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
source=$(cd "${ATTNSCOPE_SRCDIR:-$(dirname "$0")/../..}" && pwd) || exit 99
. "$(dirname "$0")/lib.sh"

compares=${COMPARES:-20} time=${TIME:-2} threads=1
command -v cc >/dev/null || { echo '1..0 # SKIP no C compiler'; exit 77; }

# Every row of attention is computed ROUNDS times over: 20 rounds, or 21.
cat >work.c <<'END'
#include <math.h>
#include "kernel/attn_args.h"
int attn_run_f32(const struct AttnArgs *a, void *stream);
static const float *row(const void *base, const int64_t stride[3], int h, int s)
{
    return (const float *)base + h * stride[1] + s * stride[2];
}
static void one_row(const struct AttnArgs *a, int h, int i)
{
    const float *q = row(a->q, a->q_stride, h, i);
    float *o = (float *)a->o + h * a->o_stride[1] + i * a->o_stride[2], s[256], m = -1e30f, l = 0;
    for (int j = 0; j < a->Sk; j++) {
        const float *k = row(a->k, a->k_stride, h, j);
        float dot = 0;
        for (int d = 0; d < a->D; d++)
            dot += q[d] * k[d];
        s[j] = dot * a->scale;
        m = s[j] > m ? s[j] : m;
    }
    for (int d = 0; d < a->D; d++)
        o[d] = 0;
    for (int j = 0; j < a->Sk; j++) {
        const float *v = row(a->v, a->v_stride, h, j);
        const float p = expf(s[j] - m);
        l += p;
        for (int d = 0; d < a->D; d++)
            o[d] += p * v[d];
    }
    for (int d = 0; d < a->D; d++)
        o[d] /= l;
    __asm__ volatile("" : : "r"(o) : "memory");
}
int attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    for (int h = 0; h < a->H; h++)
        for (int i = 0; i < a->Sq; i++)
            for (int r = 0; r < ROUNDS; r++)
                one_row(a, h, i);
    return 0;
}
END
for rounds in 20 21; do
    cc -O2 -shared -fPIC -DROUNDS=$rounds -I"$source/src" work.c -o "w$rounds.so" -lm || exit 99
    run kernel add "$tmp/w$rounds.so" dtypes=f32 backend=cpu name="work$rounds"
    is "a kernel of $rounds rounds" [ "$rc" -eq 0 ]
done

shape='B=1 H=1 S=16 D=64 f32'
# ask BASE OTHER: the verdict on OTHER
ask() {
    # shellcheck disable=SC2086
    run compare "$1,$2" $shape threads=$threads time="$time" seed="$3" --no-store --json
    verdict=$(printf '%s\n' "$out" | grep -v '"verdict":"base"' | sed -n 's/.*"verdict":"\([A-Z]*\)".*/\1/p')
}
# compare_all WHERE BASE OTHER TRUTH
compare_all() {
    false=0 right=0 open=0 n=0
    while [ $n -lt "$compares" ]; do
        n=$((n + 1))
        ask "$2" "$3" $n
        case $verdict in
        "$4") right=$((right + 1)) ;;
        AMBIGUOUS | '') open=$((open + 1)) ;;
        *) false=$((false + 1)) ;;
        esac
    done
    echo "# $1: $3 against $2: false $false, right ($4) $right, refused $open, of $n; load $(cut -d' ' -f1-2 /proc/loadavg)"
}
# Each kind once: a false verdict in a hundred is allowed, and one in a smaller number.
all_kinds() {
    most=$((compares / 100))
    [ $most -ge 1 ] || most=1
    compare_all "$1" work20 work20 SAME
    is "$1: itself is not faster or slower" [ $false -le $most ]
    compare_all "$1" work20 work21 SLOWER
    wrong=$false good=$right
    compare_all "$1" work21 work20 FASTER
    is "$1: 5 % is not taken for its opposite" [ $((wrong + false)) -le $((2 * most)) ]
    good=$((good + right)) share=$2
    echo "# $1: right in $good of $((2 * compares))"
    [ -z "$share" ] || is "$1: 5 % is seen" [ $((100 * good)) -ge $((share * 2 * compares)) ]
}

# Only on a quiet machine is it known how much is to be seen.
busy=$(awk -v cores="$(getconf _NPROCESSORS_ONLN)" '{ print ($1 > 0.3 * cores) }' /proc/loadavg)
if [ "$busy" = 1 ]; then all_kinds 'as it is (busy)' ''; else all_kinds quiet 90; fi
sh -c 'while :; do :; done' &
one=$!
sh -c 'while :; do :; done' &
two=$!
trap 'kill $one $two; rm -rf "$tmp"' EXIT
if [ "$busy" = 1 ]; then all_kinds 'beside a load of two (and others)' ''; else all_kinds 'beside a load of two' 60; fi
finish
