#!/bin/sh
# What scripts rely on, held still: the order of fields in JSON and CSV, exit codes, and every byte
# of what is computed without a clock. A change that is meant: `make update-frozen`, and read the diff.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154  # lib.sh gives tmp, rc, out and err
. "$(dirname "$0")/lib.sh"
golden=${ATTNSCOPE_SRCDIR:-$(dirname "$0")/../..}/tests/cli/frozen.txt
case $golden in /*) ;; *) golden=$OLDPWD/$golden ;; esac

export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=100
quick="backend=cpu time=0.02 S=32 H=2 D=32 threads=1"

# Commands whose every byte is computed: no clock, no machine.
computed() {
    sed 's/^ *//; /^$/d' <<'LIST'
    plan fa2 gpu=H100
    plan wmma_serial S=512 gpu=L4 --json
    plan splitkv Sq=64 Sk=64k H=1 f32 gpu=A100 --csv
    plan fa2_mma D=128 S=4k causal gpu=H200 --md
    plan row_online f32 D=8192 S=32 gpu=H100 --json
    plan naive D=96 Sq=3 Sk=1000 H=8 Hkv=2 bf16 layout=bshd gpu=L4 --json
    plan row_tile f32 D=4096 gpu=H100 --json
    plan splitkv,fa2 only=grid,limits gpu=H100
    plan fa2 only=smem gpu=L4
    plan naive S=64k H=32 B=8 gpu=RTX-4090 only=why
    plan fa2 D=128 gpu=H100 only=why
    plan row_tile f32 D=4096 only=waves gpu=L4
    plan fa2 only=smem,grid
    plan cpu_tiled gpu=L4
    occupancy threads=512 regs=54 smem=29820 carveout=65536 grid=128 gpu=L4
    occupancy threads=128 regs=80 smem=43780 carveout=102400 grid=128 gpu=L4 --json
    occupancy threads=2048 cc=90 --json
    occupancy cc=89 --csv
    explain occupancy_pct fa2 gpu=H100
    explain smem wmma_serial gpu=L4
    explain compulsory_intensity fa2 gpu=L4
    explain error_ratio
    roofline fa2,naive gpu=H100 S=4k
    roofline fa2,naive gpu=H100 S=4k --json
    roofline fa2 gpu=L4 --csv
    timeline fa2,qtile_seq gpu=L4 S=512 B=1 origin=model
    timeline fa2 gpu=L4 S=512 B=1 causal origin=model --json
    timeline splitkv gpu=L4 S=512 B=1 origin=model --csv
    sweep fa2 S=64..4k:x4 metric=occupancy_pct gpu=L4
    sweep fa2 S=64..4k:x4 metric=occupancy_pct gpu=L4 --json
    sweep fa2,splitkv BR=16,32,64 S=1k,2k metric=waves gpu=L4 --csv
    sweep fa2 BR=16,32 BC=16,32 metric=smem_bytes gpu=L4 --md
    trace softmax
    trace softmax --json
    trace banks lanes=2 --json
    trace access
    trace reduce lanes=1 --json
    trace splitkv --csv
    trace sum --json
    trace pipe
    kernels --json
    kernels --md
    kernels --csv
    devices
    devices --json
    device L4
    device H100 --json
    lessons --csv
    show
    show --json
    source qtile_seq line=5
    source fa2 diff qtile_tpq counts=no

    help
    help run
    help plan
    help BR
    apropos occupancy
    help metrics
    run nosuch
    run fa2 S=0
    run fa2 S=
    plan fa2 gpu=H10
    plan fa2 D=1000
    occupancy threads=0
    set nothing=1
    sweep fa2
    compare fa2
    show $3
    frobnicate
    open nosuch.rec
    source nosuch
    lesson nosuch
    run fa2 backend=cuda
    sweep fa2 S=64..32
    export
    explain nosuch
    timeline fa2 origin=live
    --nosuch
LIST
}

# Commands that measure: their fields, in order, and their status.
measured() {
    sed 's/^ *//; /^$/d' <<LIST
    run naive,fa2 $quick --json
    run naive $quick --csv
    run naive $quick --md
    check naive,fa2 $quick --json
    check fa2 $quick --csv
    compare naive,fa2 $quick --json
    compare naive,fa2 $quick --csv
    sweep naive S=16,32 H=1 time=0.02 threads=1 backend=cpu --json
    sweep naive S=16,32 H=1 time=0.02 threads=1 backend=cpu --csv
    run fa2,nosuch $quick --json
    run fa2_mma time=0.02 S=32 --json
    audit fa1-sequential-l4 section=3 --csv
    doctor --json
    results --json
    open h200 --json
    open h200 --csv
    timeline naive $quick origin=live --json
    compare h200 h200 --json
LIST
}

# The fields of JSON or CSV in the order of their first appearance; parameters are those of the kernel that
# happens to be first.
fields() {
    case $1 in
    *--json*) sed 's/"param_values":{[^}]*}/"param_values":{}/g' | grep -oE '"[a-z_A-Z0-9]+":' | awk '!seen[$0]++' | tr -d '": ' | tr '\n' ' ' ;;
    *--md*) grep -m 1 '^| ' ;;
    *) head -n 1 | sed 's/[0-9.]\{3,\}/#/g' ;;
    esac
}

show() { # every command with its status and what is held of it
    computed | while IFS= read -r line; do
        # shellcheck disable=SC2086  # words of a command
        set -f; run $line; set +f
        printf '$ %s\n= %s\n' "$line" "$rc"
        { printf '%s\n' "$out"; printf '%s\n' "$err" | sed '/^$/d; s/^/! /'; } | sed "s#$tmp#TMP#g; /^attnscope .* UTC,/d; s/\"hash\":\"[0-9a-f]\{12\}\"/\"hash\":\"#\"/; s/,shipped,[0-9a-f]\{12\}/,shipped,#/"
    done
    measured | while IFS= read -r line; do
        # shellcheck disable=SC2086  # words of a command
        set -f; run $line; set +f
        printf '$ %s\n= %s\n%s\n' "$line" "$rc" "$(printf '%s\n' "$out" | fields "$line")"
    done
}

show >"$tmp/now"
if [ "${1:-}" = --update ]; then
    cp "$tmp/now" "$golden"
    exit
fi
# One test a command, so that a failure names it.
cut() { awk -v n="$1" '/^\$ /{k++} k==n' "$2"; }
n=$(grep -c '^\$ ' "$golden")
rc=0
i=1
while [ "$i" -le "$n" ]; do
    cut "$i" "$golden" >"$tmp/want"
    cut "$i" "$tmp/now" >"$tmp/got"
    out=$(diff "$tmp/want" "$tmp/got") err=
    is "$(head -n 1 "$tmp/want")" [ -z "$out" ]
    i=$((i + 1))
done
out='' err=''
is "no command more than the list has" [ "$(grep -c '^\$ ' "$tmp/now")" -eq "$n" ]
finish
