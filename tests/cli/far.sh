#!/bin/sh
# Far and near ends that mean ill: what they say is refused with a sentence, or believed within bounds, and nothing of it
# is a label of ours, an escape sequence, a file or memory without end. See far.py and near.py.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR disable=SC2016
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
command -v python3 >/dev/null || {
    echo '1..0 # SKIP no python3'
    exit 0
}
mkdir -p "$HOME/.config/attnscope" "$tmp/run"
echo 'host box box' >"$HOME/.config/attnscope/config"
export ATTNSCOPE ATTNSCOPE_SSH="$ATTNSCOPE_SRCDIR/tests/cli/far.py" XDG_RUNTIME_DIR="$tmp/run"

# ---- a far end ----
# its fault, a status, what is said
far() {
    export FAR_FAULT="$1"
    run run naive,fa2 S=16 H=1 D=16 f32 backend=cpu host=box
    is "$1: status $2" [ "$rc" -eq "$2" ]
    is "  it is told" says "$out$err" "$3"
    is "  safely" sh -c '! printf %s "$1$2" | LC_ALL=C grep -q "$(printf "\033\\|\233")"' - "$out" "$err"
    is "  within bounds" [ "${#out}" -lt 200000 ]
}
export FAR_SAVE="$tmp/job"
far early 3 'no kernel could run'
unset FAR_SAVE
far labels 3 '^B=1 H=1 S=16 D=16 f32 .*normal \| seed 42'
is "  what was asked is ours to say" [ "$(printf '%s\n' "$out" | grep -cE 'B=9|ramp|seed 7|nowhere|pinned')" -eq 0 ]
is "  a row that never came is a failure" says "$err" 'not every kernel could run'
far entry 3 "a row that is none of the job's"
far rows 3 'x{1000} \.\.\.$|xxx \.\.\.'
far long 3 'yyy \.\.\.'
far deep 3 'the payload is no JSON object'
far extra 3 'an extra that is none'
far huge 3 'broken frame: 4294967295 bytes, the limit is'
far twice 3 'the worker gave no figures'
far words 3 "does not begin with the protocol's mark"
far state 3 'a state that is none'
export FAR_FAULT=endless
# A shell's background has no Ctrl-C of its own.
FAR_SAVE="$tmp/begun" env --default-signal=INT "$ATTNSCOPE" run naive S=16 H=1 D=16 f32 backend=cpu host=box \
    >out 2>&1 </dev/null &
asked=$!
for _ in $(seq 300); do
    [ -s begun ] && break
    sleep 0.1
done
sleep 1
kill -INT "$asked"
rc=0
wait "$asked" || rc=$?
is "news without an end end with Ctrl-C" says "$(cat out)" 'cancelled'

# ---- a near end ----
near() {
    out=$(NEAR_JOB="$tmp/job" timeout 120 python3 "$ATTNSCOPE_SRCDIR/tests/cli/near.py" "$1")
    is "$1: the next job is done" says "$out" '"then": "done: None"'
    is "  and it ends in order" says "$out" 'status 0'
    is "  in little memory" [ "$(printf '%s' "$out" | sed -n 's/.*"memory": \([0-9]*\)}.*/\1/p')" -lt 200 ]
}
printf 'def f(q, k, v, causal):\n    open("%s/pwned", "w")\n    return q\n' "$tmp" >"$tmp/evil.py"
near sources
is "  names that lead out are none" [ "$(printf '%s' "$out" | grep -o 'the sources are not files of CUDA or C' | wc -l)" -eq 13 ]
near request
is "  no file is read or written" [ "$(printf '%s' "$out" | grep -o 'files of the other machine are not here' | wc -l)" -eq 2 ]
is "  nor Python run that lies there" [ ! -e pwned ]
near turns
is "  what only a far end says ends it" [ "$(printf '%s' "$out" | grep -o '"gone"' | wc -l)" -eq 5 ]
near flood
near deaf
is "  who takes no answers gets no more" says "$out" '"said": \["gone"'
near words
near deep
is "nothing of it stays" silent "$(ls -A run)"
finish
