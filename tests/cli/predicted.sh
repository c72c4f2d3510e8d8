#!/bin/sh
# The time model held against shipped recordings of an H200: a sample of them, some of every kernel. It fails when the
# model gets worse: its factors were fitted to these, so what is held here is that counts and factors still go together.
# PREDICTED_N=0 takes all (25 minutes).
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154  # lib.sh gives tmp, rc, out and err
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none

# Median error in %, the error that nine of ten are below, pairs of one shape 1.2 times apart and how many of them are in
# the right order, of the factors in use and of none.
judge() {
    LC_ALL=C awk -F, '
    function off(x, y, r) { r = x / y; return 100 * ((r < 1 ? 1 / r : r) - 1) }
    function sorted(v, n, i, k, t) {
        for (i = 2; i <= n; i++)
            for (k = i; k > 1 && v[k] < v[k - 1]; k--) { t = v[k]; v[k] = v[k - 1]; v[k - 1] = t }
    }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
        n++; shape[n] = $at["shape"]; us[n] = $at["measured_us"]; used[n] = $at["used_us"]
        a[n] = off($at["used_us"], us[n]); b[n] = off($at["unfitted_us"], us[n])
    }
    END {
        for (i = 1; i <= n; i++)
            for (k = 1; k < i; k++)
                if (shape[i] == shape[k] && off(us[i], us[k]) >= 20) {
                    pairs++
                    right += (us[i] > us[k]) == (used[i] > used[k])
                }
        sorted(a, n); sorted(b, n)
        printf "%d %.1f %.1f %.1f %d %d\n", n, a[int((n + 1) / 2)], a[int(0.9 * n)], b[int((n + 1) / 2)], pairs, right
    }'
}
below() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a < b) }'; }

run calibrate gpu=H200 "n=${PREDICTED_N:-36}" --each --csv --dry-run
is "recordings were simulated" [ "$rc" -eq 0 ]
# shellcheck disable=SC2046  # six figures
set -- $(printf '%s\n' "$out" | judge)
is "enough of them: $1" [ "${1:-0}" -ge 28 ]
is "the median error is below 16 %: $2 %" below "$2" 16
is "nine of ten are off by less than 70 %: $3 %" below "$3" 70
is "without factors the median is below 20 %: $4 %" below "$4" 20
is "enough pairs: $5" [ "${5:-0}" -ge 20 ]
is "nine in ten orders are right: $6 of $5" [ "$((10 * ${6:-0}))" -ge "$((9 * ${5:-1}))" ]
finish
