#!/bin/sh
# Faults planted in the ladder's CUDA kernels (faults.tsv): all patches apply, and the kernels are still kernels. Where there is
# something that compiles PTX, `sanitize` must find them: six here, in check-long (FAULTS_OF=all) every one.
# FAULTS_OF="ID ID ..." tries those alone.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC3046
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../cli/lib.sh"
unset ATTNSCOPE_COMPILE
faults() {
    rc=0
    PYTHONDONTWRITEBYTECODE=1 python3 "$here/faults.py" "$@" >"$tmp/.out" 2>"$tmp/.err" || rc=$?
    out=$(cat "$tmp/.out")
    err=$(cat "$tmp/.err")
}
command -v python3 >/dev/null || {
    echo "1..0 # SKIP needs python3"
    exit 0
}

faults check
is "every patch applies, and its line of the table is right" [ "$rc" -eq 0 ]
is "there are 60 at least" [ "$(printf '%s' "$out" | sed 's/ .*//')" -ge 60 ]
faults list
is "the list has shapes and lines" says "$out" '^fa2-no-release	fa2	race	S=200 H=2 D=64	[0-9,]+	'
faults plant no-such-fault "$tmp"
is "an unknown id is told" says "$err" 'there is no fault no-such-fault'

kernels=$HOME/.local/share/attnscope/kernels
mkdir -p "$kernels"
faults plant all "$kernels"
is "all can be planted" [ "$rc" -eq 0 ]
planted=$out
run kernels --csv
missing=
for name in $(printf '%s\n' "$planted" | cut -f1); do
    printf '%s\n' "$out" | grep -q "^$name,.*cuda" || missing="$missing $name"
done
[ -z "$missing" ] || echo "# not kernels:$missing"
is "and each is a kernel of one's own" [ -z "$missing" ]
bad=
for fault in fa2-no-release naive-score-beyond mma-k-not-waited; do
    name=$(echo "$fault" | tr - _)
    run -c "set D=64 S=200 gpu=H200; source $name --alone"
    { [ "$rc" -eq 0 ] && says "$out" "$name\\(" && ! says "$out" '#include "'; } || bad="$bad $fault"
done
is "a planted kernel is one file" [ -z "$bad" ]

# judge itself: what it must take, and what not
verdict() { # id, rows
    printf '%s' "$2" >"$tmp/rows"
    faults judge "$1" "$tmp/rows"
}
line=$(printf '%s\n' "$planted" | awk -F'\t' '$1 == "fa2_no_release" { sub(/,.*/, "", $4); print $4 }')
verdict fa2-no-release "[{\"kind\": \"race_block\", \"line\": 1, \"second_at_line\": $line}]"
is "a race on a line of the table is the fault" [ "$rc" -eq 0 ]
verdict fa2-no-release '[{"kind": "race_block", "line": 1}]'
is "on another line it is not" [ "$rc" -eq 1 ]
verdict fa2-no-release "[{\"kind\": \"misaligned\", \"line\": $line}, {\"kind\": null, \"check\": \"fail\"}]"
is "nor is another kind, or a wrong output" [ "$rc" -eq 1 ]
verdict fa2-lse-base2 '[{"kind": null, "check": "fail"}]'
is "a wrong output is found by its check" [ "$rc" -eq 0 ]
verdict fa2-lse-base2 '[]'
is "nothing is not found" [ "$rc" -eq 1 ]

# Simulated. Needs the verb and somebody who makes PTX.
run help sanitize
if [ "$rc" -ne 0 ]; then
    skip "this program has no sanitize"
    finish
    exit 0
fi
if ! command -v nvcc >/dev/null && ! [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] && ! command -v clang >/dev/null; then
    skip "neither nvcc nor clang makes PTX here"
    finish
    exit 0
fi
# Without a fault there is none to find: fa2, or every kernel in every shape of the table.
clean="fa2 S=200 H=2 D=64"
[ "${FAULTS_OF:-}" = all ] && {
    faults list
    clean=$(printf '%s\n' "$out" | cut -f2,4 | tr '\t' ' ' | sort -u)
}
bad=$(printf '%s\n' "$clean" | while read -r kernel shape; do
    # shellcheck disable=SC2086
    "$ATTNSCOPE" sanitize "$kernel" $shape >/dev/null 2>&1 </dev/null || echo "# $kernel $shape"
done)
[ -z "$bad" ] || echo "$bad"
is "kernels as they are have no hazard" [ -z "$bad" ]
[ "${FAULTS_OF:-}" = all ] && FAULTS_OF=$(grep -v '^#' "$here/faults.tsv" | cut -f1)
for fault in ${FAULTS_OF:-fa2-no-syncwarp fa2-tail-not-masked mma-v-not-waited row_atomic-no-zero tpq-shuffle-diverges last-no-fence}; do
    name=$(echo "$fault" | tr - _)
    shape=$(printf '%s\n' "$planted" | awk -F'\t' -v n="$name" '$1 == n { print $3 }')
    # shellcheck disable=SC2086
    run sanitize "$name" $shape --json
    if says "$err" 'nobody makes PTX|no compiler|cannot compile'; then
        skip "$fault: $err"
        continue
    fi
    found=$rc
    printf '%s' "$out" >"$tmp/rows"
    faults judge "$fault" "$tmp/rows"
    is "$fault is found where it is" [ "$found$rc" = 10 ]
done
finish
