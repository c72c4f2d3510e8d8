#!/bin/sh
# Sweeps in parts, by this machine, GNU parallel and Slurm, and stores that are joined.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR disable=SC2015,SC2016,SC2030,SC2031
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
. "$ATTNSCOPE_SRCDIR/tests/cli/slurm.sh"
command -v python3 >/dev/null || {
    echo '1..0 # SKIP no python3'
    exit 0
}
cells=${SHARDS_CELLS:-30} # 1000 in check-long
wide=$((cells / 10))
line="naive,fa2 S=1..$wide:+1 D=8..80:+8 H=1 f32 backend=sim metric=warp_instructions"
# What a store has, without what differs from run to run: when, and how long it took.
rows() { # database
    python3 - "$1" <<'END'
import json, sqlite3, sys
for command, row in sorted((c, r) for c, r in sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True).execute("SELECT command, row FROM results")):
    o = json.loads(row)
    for name in [n for n in o if n in ("time", "noise", "other_cores", "steal_pct")]:
        del o[name]
    print(command, json.dumps(o, sort_keys=True))
END
}
count() { rows "$1" | wc -l; }
home() { # name: another one for what follows
    HOME=$tmp/$1
    mkdir -p "$HOME"
    db=$HOME/.local/share/attnscope/results.db
    parts=$HOME/.local/state/attnscope/sweeps
}

home alone
# shellcheck disable=SC2086 # words
run sweep $line --csv
is "a sweep in one process" [ "$rc" -eq 0 ]
alone=$out
rows "$db" >alone.rows
is "  keeps a row of each cell and kernel" [ "$(wc -l <alone.rows)" -eq $((cells * 2)) ]
plain() { printf '%s\n' "$1" | python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    print(r["kernel"], r["S"], r["D"], r["warp_instructions"], r["check"])'; }

engine() { # words
    # shellcheck disable=SC2086,SC2048
    run sweep $line --csv $*
    is "$1: all cells are there" [ "$rc" -eq 0 ]
    is "  as in one process" [ "$(plain "$out")" = "$(plain "$alone")" ]
    rows "$db" >engine.rows
    is "  and the same rows are kept, each once ($cells cells)" cmp -s alone.rows engine.rows
    is "  nothing else stays" [ "$(find "$parts" -type f ! -name lock | wc -l)" -eq 0 ]
}
home local
engine engine=local shards=3
if parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
    home parallel
    engine engine=parallel shards=4 jobs=2
else
    skip "no GNU parallel"
fi

if slurm_start; then
    home slurm
    engine engine=slurm shards=3
    home slurm_cut
    # shellcheck disable=SC2086
    "$ATTNSCOPE" sweep $line engine=slurm shards=3 >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 200); do
        squeue -h -r | grep -q ' R ' && break
        sleep 0.1
    done
    kill -INT "$pid"
    rc=0
    wait "$pid" || rc=$?
    is "Ctrl-C ends Slurm's jobs, too" [ "$rc" -eq 130 ]
    for _ in $(seq 100); do
        [ -z "$(squeue -h -r)" ] && break
        sleep 0.1
    done
    is "  all of them" silent "$(squeue -h -r)"
else
    skip "no Slurm (slurmctld, slurmd, slurm-client, munge; root)"
fi
slurm_stop

# ---- cut short ----
home cut
# shellcheck disable=SC2086
"$ATTNSCOPE" sweep $line engine=local shards=4 >/dev/null 2>&1 &
pid=$!
for _ in $(seq 200); do
    part=$(find "$parts" -name 'part-*.db' 2>/dev/null | head -1)
    [ -n "$part" ] && [ "$(count "$part" 2>/dev/null || echo 0)" -ge 4 ] && break
    sleep 0.05
done
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
is "Ctrl-C ends it" [ "$rc" -eq 130 ]
had=$(count "$db")
is "  what parts had is kept" [ "$had" -ge 4 ]
is "  and nobody works on" sh -c '! grep -lzq "^ATTNSCOPE_RESULTS=$1" /proc/[0-9]*/environ 2>/dev/null' - "$parts"
engine engine=local shards=2
is "  what was there was not measured again" [ "$(count "$db")" -eq $((cells * 2)) ]
run results limit=500 --json
is "  and what parts have measured is one's own" [ "$(printf '%s' "$out" | grep -o '"whose":"[^"]*"' | sort -u)" = '"whose":"yours"' ]
home killed
# shellcheck disable=SC2086
"$ATTNSCOPE" sweep $line engine=local shards=4 >/dev/null 2>&1 &
pid=$!
for _ in $(seq 200); do
    [ -n "$(find "$parts" -name 'part-*.db' 2>/dev/null)" ] && break
    sleep 0.05
done
kill -KILL "$pid"
wait "$pid" 2>/dev/null
# shellcheck disable=SC2086
run sweep $line engine=local shards=2
if [ "$rc" -ne 0 ]; then
    is "the program is killed: its parts are waited for" says "$err" 'parts of this sweep are still at work'
    for _ in $(seq $((600 + cells * 3))); do
        flock -n "$(find "$parts" -name lock)" true && break
        sleep 0.2
    done
fi
engine engine=local shards=2

# ---- kernels that take turns stay together ----
home paired
run sweep naive,fa2 S=8,16,24 H=1 D=16 f32 backend=cpu n=5 time=0.05 base=naive engine=local shards=3 --json
is "kernels that are compared stay in one part" [ "$(printf '%s\n' "$out" | grep -c '"ratio":[0-9]')" -eq 6 ]

# ---- what goes wrong ----
home wrong
run sweep naive S=8,16 H=1 D=16 f32 backend=sim metric=warp_instructions engine=parallel --print
is "--print writes and runs nothing" [ "$rc" -eq 0 ] && [ ! -s "$db" ]
is "  and says where" [ -s "$out" ]
is "  a line for each part" [ "$(grep -c 'points=' "$out")" -eq 2 ]
is "  where a point alone is no range" [ "$(grep -c 'points=[0-9]*\.\.' "$out")" -eq 0 ]
sh "$out"
is "  lines that anybody may run" [ "$(find "$(dirname "$out")" -name 'part-*.db' | wc -l)" -eq 2 ]
run sweep naive S=8,16 H=1 D=16 f32 backend=sim metric=warp_instructions engine=local --csv
is "  and whose rows the line collects" [ "$rc $(count "$db")" = '0 2' ]
run sweep naive S=8,16 engine=slum
is "an engine that there is not" says "$rc $err" '^2 .*local, parallel or slurm'
run sweep naive S=8,16 shards=3
is "parts of nothing" [ "$rc" -eq 2 ]
run sweep naive S=8,16 metric=occupancy_pct engine=local
is "what is computed needs no engine" [ "$rc" -eq 2 ]
run --restricted sweep naive S=8,16 engine=local
is "a restricted session starts none" says "$rc $err" '^2 .*restricted'
for list in 0 3 x 2..1 '1,' 1..9999999999 -1; do
    run sweep naive S=8,16 H=1 D=16 f32 backend=sim metric=warp_instructions "points=$list"
    case $list in
    1,) is "points=$list" [ "$rc" -eq 0 ] ;;
    *) is "points=$list are none" [ "$rc" -eq 2 ] ;;
    esac
done
mkdir bin
printf '#!/bin/sh\necho no such queue >&2\nexit 1\n' >bin/sbatch
chmod +x bin/sbatch
PATH=$tmp/bin:$PATH run sweep naive S=8,24 H=1 D=16 f32 backend=sim metric=warp_instructions engine=slurm
is "an engine that fails: what is missing is told" says "$rc $err" '^3 .*2 of 2 points are missing.*goes on with them'
is "  and what it said is there" grep -q 'no such queue' "$(find "$parts" -name engine.log)"
printf '#!/bin/sh\necho "$@" >"%s/asked"\necho 17\ncase $* in *--wait*) ;; *) exit 1 ;; esac\nfor script; do :; done\ni=0\nwhile [ $i -lt 2 ]; do i=$((i + 1)); SLURM_ARRAY_TASK_ID=$i sh "$script" || exit 1; done\n' "$tmp" >bin/sbatch
PATH=$tmp/bin:$PATH run sweep naive S=8,24 H=1 D=16 f32 backend=sim metric=warp_instructions engine=slurm sbatch=--partition=gpu --csv
is "an array of Slurm's, as sbatch takes it" [ "$rc" -eq 0 ]

# ---- merge ----
home one
run run naive,fa2 S=8 H=1 D=16 f32 backend=cpu n=5 time=0.05
run record "$tmp/one.rec" -- run naive S=16 H=1 D=16 f32 backend=cpu n=5 time=0.05
cp "$db" one.db
python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("PRAGMA wal_checkpoint(TRUNCATE)"); c.execute("PRAGMA journal_mode=DELETE")' "$db"
cp "$db" one.db
rows one.db >one.rows
home two
run run naive S=32 H=1 D=16 f32 backend=cpu n=5 time=0.05
rows "$db" >two.rows
run merge "$tmp/one.db" --csv
is "rows of another store are taken" says "$out" 'one.db,3,0,0'
rows "$db" | sed "s/\"merged_whose\": \"someone's\", //" | LC_ALL=C sort >both.rows
cat one.rows two.rows | LC_ALL=C sort >want.rows
is "  whole" cmp -s want.rows both.rows
run merge "$tmp/one.db" "$tmp/one.rec" "$tmp/one.db" --csv
is "  once" [ "$(printf '%s\n' "$out" | grep -c ',0,[13],0')" -eq 3 ]
is "  and no row twice" [ "$(count "$db")" -eq 4 ]
home three
run merge "$tmp/one.rec" --csv
is "a recording's row is taken" says "$out" 'one.rec,1,0,0'
run results --json
is "  as it was measured" says "$out" '"origin":"live"'
run merge "$tmp/one.db" --csv
is "  and is the store's" says "$out" 'one.db,2,1,0'
sed 's/"median_us":[0-9.]*/"median_us":0.001/' one.rec >bent.rec
home four
run merge "$tmp/bent.rec" --csv
is "rows that were changed by hand are left out" says "$out" 'bent.rec,0,0,1'
cp one.db bitten.db
python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("UPDATE results SET row = substr(row, 1, 40) WHERE id = 2"); c.commit()' bitten.db
home five
run merge "$tmp/bitten.db" --csv
is "a row that cannot be read is told and left out" says "$out $err" 'bitten.db,2,0,0,1.* 1 damaged row left out'
is "  and no empty one is in its place" [ "$(count "$db")" -eq 2 ]
home four
head -c 3000 one.db >broken.db
run merge "$tmp/broken.db"
is "a damaged file is a sentence" says "$rc $err" '^[23] .*(damaged|malformed)'
run merge /nowhere.db
is "no file is one" [ "$rc" -ge 2 ]
run --restricted merge "$tmp/one.db"
is "a restricted session merges none" says "$rc $err" '^2 .*restricted'
finish
