# lib.sh - TAP for shell tests of the program.
#
#   . "$(dirname "$0")/lib.sh"
#   run plan naive S=0        runs the program: $rc, $out, $err
#   is "a bad size is a usage error" [ "$rc" -eq 2 ]
#   says "$err" 'S=0'         true if the text has the pattern (grep -E)
#   worked_for PID 30         waits until a child of the process has had 30 hundredths of a second of processors
#   finish                    prints the plan
#
# Every test has a home of its own, removed at the end.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
: "${ATTNSCOPE:=./attnscope}"
case $ATTNSCOPE in /*) ;; *) ATTNSCOPE=$PWD/$ATTNSCOPE ;; esac
if [ -n "${ATTNSCOPE_WORKER:-}" ]; then export ATTNSCOPE_WORKER; fi

tmp=$(mktemp -d "${TMPDIR:-/tmp}/attnscope-cli-XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
HOME=$tmp/home
mkdir "$HOME"
export HOME
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
cd "$tmp" || exit 99

number=0
run() {
    rc=0
    "$ATTNSCOPE" "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null || rc=$?
    out=$(cat "$tmp/.out")
    err=$(cat "$tmp/.err")
}
# The same with standard input from a text.
run_input() {
    text=$1
    shift
    rc=0
    printf '%s\n' "$text" | "$ATTNSCOPE" "$@" >"$tmp/.out" 2>"$tmp/.err" || rc=$?
    out=$(cat "$tmp/.out")
    err=$(cat "$tmp/.err")
}
is() {
    number=$((number + 1))
    name=$1
    shift
    if "$@"; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        echo "# failed: $*"
        printf '%s\n' "status $rc" "$err" "$out" | head -20 | sed 's/^/# /'
    fi
}
skip() {
    number=$((number + 1))
    echo "ok $number - # SKIP $1"
}
says() {
    printf '%s\n' "$1" | grep -Eq -- "$2"
}
silent() {
    [ -z "$1" ]
}
# In the place of a pause, which a busy machine makes too short. Status 1: none has had as much within a minute.
worked_for() {
    for _ in $(seq 600); do
        sed -n 's/.*) //p' /proc/[0-9]*/stat 2>/dev/null |
            awk -v pid="$1" -v least="$2" '$2 == pid && $12 + $13 >= least { found = 1 } END { exit !found }' && return
        sleep 0.1
    done
    return 1
}
finish() {
    echo "1..$number"
}
