#!/bin/sh
# Sweeps over hosts and devices: each machine has a queue of its own, comparisons stay on one, and one that goes away costs
# its own points alone.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR disable=SC2015,SC2016,SC2030,SC2031
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}"
. "$ATTNSCOPE_SRCDIR/tests/cli/sshd.sh"
sshd_start
config=$HOME/.config/attnscope/config
db=$HOME/.local/share/attnscope/results.db
line=$ATTNSCOPE_SRCDIR/tests/cli/line.py
mkdir -p "$(dirname "$config")" far_home2
far2=$(printf %s "$far" | sed 's/far_home/far_home2/')
printf 'host box box %s\nhost other other %s\n' "$far" "$far2" >"$config"
fields() { # names: of the rows of a JSON answer, one row a line
    printf '%s' "$out" | python3 -c '
import json, sys
for r in json.load(sys.stdin):
    print(*[r.get(n) for n in sys.argv[1:]])' "$@"
}
kept() { # words of SQL
    python3 - "$db" "$1" <<'END'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM results " + sys.argv[2]).fetchone()[0])
END
}
tiny='H=1 D=16 f32 backend=cpu n=5 time=0.05'

# ---- an axis of hosts ----
# shellcheck disable=SC2086 # words
run sweep fa2,naive S=16,32 host=here,box,other $tiny --json
is "a sweep over hosts" [ "$rc" -eq 0 ]
is "  rows say which" [ "$(fields kernel S host check | sort -u | wc -l)" -eq 12 ]
is "  of each kernel and shape there is one on each" [ "$(fields host | sort | uniq -c | tr -s ' \n' ' ')" = ' 4 box 4 here 4 other ' ]
is "  kept with the host, those of here without" [ "$(kept "WHERE json_extract(row, '\$.host') IS NULL") $(kept "WHERE json_extract(row, '\$.host') = 'box'")" = '4 4' ]
# shellcheck disable=SC2086
run sweep fa2 S=16,32 host=here,box $tiny
is "as a table" says "$out" 'host=here +host=box'
is "  a ratio across hosts is called that" says "$(printf '%s' "$out" | tr '\n' ' ')" 'fa2: host=box takes [0-9.]+ times the time of host=here \(2 points\) these are ratios across hosts'
# shellcheck disable=SC2086
run sweep fa2,naive S=16 host=box,other H=1 D=16 f32 backend=cpu n=5 time=0.05 base=naive --json
is "kernels that take turns do so on one host" [ "$rc $(fields kernel host ratio | grep -vc None)" = '0 4' ]
# shellcheck disable=SC2086
run sweep fa2,naive S=16,32 host=box,other H=1 D=16 f32 backend=cpu n=5 time=0.05 base=naive
is "  and it is said" says "$out" 'each ratio is of kernels that took turns on one host'
run sweep fa2 S=16 backend=cpu@here,box H=1 D=16 f32 n=5 time=0.05 --json
is "backend=cpu@a,b is an axis, too" [ "$(fields host | tr '\n' ' ')" = 'here box ' ]

# ---- beside each other ----
# A second of samples at each of four points.
begin=$(date +%s%N)
run sweep naive S=16,32 host=box,other H=1 D=16 f32 backend=cpu time=1 n=1000000 --json
beside=$((($(date +%s%N) - begin) / 1000000))
printf 'host box box %s\nhost other other %s\nhost box2 box %s\n' "$far" "$far2" "$far2" >"$config"
begin=$(date +%s%N)
run sweep naive S=16,32 host=box,box2 H=1 D=16 f32 backend=cpu time=1 n=1000000 --json
after=$((($(date +%s%N) - begin) / 1000000))
is "two machines work beside each other ($beside ms; one by two names takes $after ms)" [ $((beside * 4)) -lt $((after * 3)) ]

# ---- before it runs ----
before=$(connections)
run sweep fa2,naive S=16,32 host=here,box,box2 H=1 D=16 f32 backend=cpu n=5 time=0.05 --print --json
is "--print says where each point will run" [ "$rc $(fields point host kernels | tr '\n' ' ')" = '0 1 here fa2,naive 2 box fa2,naive 3 box2 fa2,naive 4 here fa2,naive 5 box fa2,naive 6 box2 fa2,naive ' ]
run sweep fa2 S=16,32 host=here,box,box2 H=1 D=16 f32 backend=cpu n=6 --print
is "  and on which machines" says "$out" '^box, box2 \(box\): 4 points of 1 kernel$'
is "  and asks nobody" [ "$(connections)" -eq "$before" ]
run sweep fa2 BR=16,32 metric=occupancy_pct --print
is "  what is planned runs nowhere" [ "$rc" -eq 2 ]

# ---- what cannot be ----
before=$(connections)
run sweep fa2 S=16 host=box,bx backend=cpu
is "all of them must be named" says "$rc $err" '^2 .*there is no host "bx"'
run sweep fa2 S=16 host=box,other,box backend=cpu
is "  once" says "$rc $err" '^2 .*host=box is in the list twice'
run sweep fa2 S=16,32 host=box,--help backend=cpu
is "  an option is no name" [ "$rc" -eq 2 ]
run --restricted sweep fa2 S=16 host=here,box backend=cpu
is "a restricted session chooses none" says "$rc $err" "^2 .*user's choice"
run sweep fa2 BR=16,32 host=here,box metric=occupancy_pct
is "what is planned is the same everywhere" says "$rc $err" '^2 .*occupancy_pct is planned'
run sweep fa2 S=16,32 host=here,box gpu=H200
is "  so is what is recorded" says "$rc $err" '^2 .*recorded'
run sweep fa2 S=16 device=0,0 backend=cpu
is "a device twice" says "$rc $err" '^2 .*device=0 is in the list twice'
run sweep fa2 S=16 device=0,64 backend=cpu
is "a device that none can be" [ "$rc" -eq 2 ]
is "  and for all that nobody was asked" [ "$(connections)" -eq "$before" ]

# ---- a host that goes away ----
rm -f "$db"
printf 'host box box %s\nhost gone nowhere.invalid\n' "$far" >"$config"
run sweep fa2 S=16,32,48 host=gone,box H=1 D=16 f32 backend=cpu n=5 time=0.05 --json
is "a host that is not there costs its points alone" [ "$rc $(fields host check | grep -c 'box pass')" = '3 3' ]
is "  which are told" says "$err" 'gone: 2 of its points are left out; the same line asks for them again'
is "  with a reason" says "$(fields host reason | grep gone)" 'gone: the connection ended with status 255'
printf 'host box box %s\nhost gone other %s\n' "$far" "$far2" >"$config"
run sweep fa2 S=16,32,48 host=gone,box H=1 D=16 f32 backend=cpu n=5 time=0.05 --json
is "given again, the line has the rest" [ "$rc $(fields host check | sort | uniq -c | tr -s ' \n' ' ')" = '0  3 box pass 3 gone pass ' ]
is "  and measures what was missing alone" [ "$(kept "WHERE json_extract(row, '\$.host') = 'box'")" -eq 3 ]

# A line that is cut at any message, on one of two: the same point has another try.
LINE_SSH=$ATTNSCOPE_SSH LINE_PLAN=$tmp/plan LINE_LOG=$tmp/line.log
ATTNSCOPE_SSH=$line
export LINE_SSH LINE_PLAN LINE_LOG ATTNSCOPE_SSH
printf 'host box box %s\nhost other other %s\n' "$far" "$far2" >"$config"
# CUT_EVERY=4: at every fourth of these.
bad=0 again=0 cuts=0
for frame in $(printf '%s\n' 1 2 3 5 8 12 15 20 | awk -v every="${CUT_EVERY:-1}" 'NR % every == 0'); do
    for side in near far; do
        echo "cut $side $frame" >plan
        cuts=$((cuts + 1))
        run sweep fa2,naive S=16,32 host=box,other H=1 D=16 f32 backend=cpu n=5 time=0.05 --no-store --json
        again=$((again + $(printf '%s' "$err" | grep -c 'measured again')))
        [ "$(fields host check | grep -c pass)" -eq 8 ] || { bad=$((bad + 1)); echo "# cut $side $frame: $rc $err $(fields host S check reason)"; }
    done
done
is "a line that is cut costs no row of the sweep" [ "$bad" -eq 0 ]
is "  for a point has another try ($again, $cuts cuts)" [ $((again * 5)) -ge "$cuts" ]
rm -f plan
unset LINE_PLAN
ATTNSCOPE_SSH=$LINE_SSH

# ---- cut short here ----
rm -f "$db"
sweep='sweep naive S=16,32,48,64 host=box,other H=1 D=16 f32 backend=cpu time=0.5 n=1000000'
# shellcheck disable=SC2086
"$ATTNSCOPE" $sweep >/dev/null 2>&1 &
pid=$!
for _ in $(seq 200); do
    [ -s "$db" ] && [ "$(kept '' 2>/dev/null || echo 0)" -ge 2 ] && break
    sleep 0.05
done
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
had=$(kept "WHERE json_extract(row, '\$.stopped') <> 'cancel'")
is "Ctrl-C ends it on all machines" [ "$rc" -eq 130 ]
is "  nothing stays there" silent "$(far_left)"
# shellcheck disable=SC2086
run $sweep --json
is "  and the line goes on with the rest" [ "$rc $(fields host check | sort | uniq -c | tr -s ' \n' ' ')" = '0  4 box pass 4 other pass ' ]
is "  without measuring again what it had ($had)" [ "$(kept "WHERE json_extract(row, '\$.stopped') <> 'cancel'")" -eq 8 ]

# ---- in parts ----
run sweep naive,fa2 S=8,16 host=box,other H=1 D=16 f32 backend=sim metric=warp_instructions engine=local shards=3 --json
is "in parts" [ "$rc $(fields host check | sort | uniq -c | tr -s ' \n' ' ')" = '0  4 box pass 4 other pass ' ]

# ---- devices, by the fake driver there ----
run sweep fa2 S=16 device=0,1 H=1 D=16 f32 backend=cpu n=5 time=0.05 --json
is "a processor is one device" says "$(fields device_index check reason)" '1 None device=1: the CPU backend has one device'
fake="env FAKECUDA=devices=2 ATTNSCOPE_LIBCUDA=$ATTNSCOPE_FAKECUDA/fakecuda.so ATTNSCOPE_LIBNVRTC=$ATTNSCOPE_FAKECUDA/fakecuda.so"
printf 'host box box %s\n' "$(printf %s "$far" | sed "s,^env,$fake,")" >"$config"
run sweep naive S=16,32 device=0,1 host=box H=1 D=16 f16 n=5 time=0.05 --json
is "devices of a host" [ "$(fields S device_index host | tr '\n' ' ')" = '16 0 box 16 1 box 32 0 box 32 1 box ' ]
finish
