#!/bin/sh
# Sweeps that people finish: cut short, killed, gone on with.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154  # lib.sh gives tmp, rc, out and err
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_PYTHON=none ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PROC_GPUS=/nowhere
sweep="sweep naive S=32,48,64,128,256 H=1 D=16 f32 time=0.4 cv=0.0001 threads=1 backend=cpu"

# Starts the sweep, sends the signal when so many results are stored, and waits for its end.
cut_short() { # SIGNAL RESULTS WORD...
    signal=$1 want=$2
    shift 2
    # shellcheck disable=SC2086  # words of a command
    "$ATTNSCOPE" $sweep "$@" >"$tmp/.out" 2>"$tmp/.err" &
    pid=$!
    i=0
    while [ "$i" -lt 300 ] && [ "$(stored)" -lt "$want" ]; do
        sleep 0.1
        i=$((i + 1))
    done
    sleep 0.1
    kill "-$signal" $pid
    rc=0
    wait $pid || rc=$?
    out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
}
stored() { "$ATTNSCOPE" results limit=99 --csv 2>/dev/null | tail -n +2 | grep -c .; }

cut_short INT 2
is "Ctrl-C ends a sweep with 130" [ "$rc" -eq 130 ]
is "the points that are done are printed" says "$out" '^ 48 +[0-9]'
is "those that are not have no figure" says "$out" '^256 +-'
is "what stands behind a figure is explained below" says "$out" "^(±|\\+-): half of what the middle half of a point's samples spans, as a share of their median"
is "and it is said how to go on" says "$err" 'cancelled; [2-4] of 5 points are there, and the same line goes on'
first=$(printf '%s\n' "$out" | awk '$1 == 32 { print $2 }')
n=$(stored)
# shellcheck disable=SC2086
run $sweep --json
is "the same line goes on" [ "$rc" -eq 0 ]
is "and says since when" says "$err" 'going on: [2-4] of 5 points are there since 20.* UTC; --fresh'
is "with the points that there were" [ "$(printf '%s\n' "$out" | grep -c '"kernel":"naive"')" -eq 5 ]
is "whose times are those of then" says "$out" "\"S\":32,.*\"median_us\":$(printf '%s' "$first" | cut -c1-3 | sed 's/\..*//')"
is "and without measuring them again" [ "$(stored)" -le "$((n + 3))" ]
# shellcheck disable=SC2086
run $sweep
is "a sweep that is finished is forgotten: the line measures all" [ -z "$err" ]

before=$(stored)
cut_short KILL $((before + 1))
is "killed" [ "$rc" -eq 137 ]
# shellcheck disable=SC2086
run $sweep time=0.02
is "another line does not go on with it" silent "$err"
# shellcheck disable=SC2086
run $sweep
is "nothing that was finished is lost" says "$err" 'going on: [1-5] of 5 points'

before=$(stored)
cut_short INT $((before + 1))
# shellcheck disable=SC2086
run $sweep --fresh
is "--fresh measures all again" silent "$err"
cut_short INT 0 --no-store
# shellcheck disable=SC2086
run $sweep --no-store
is "--no-store keeps nothing to go on with" silent "$err"

# Kernels that take turns, and who overtakes whom.
run sweep naive,cpu_tiled S=8,16,32 H=1 D=16 f32 time=0.1 threads=1 backend=cpu base=cpu_tiled
is "base= shows ratios with their interval" says "$out" '^16 .* [0-9.]+ \([0-9.]+\.\.[0-9.]+\) (FASTER|SLOWER|SAME|no winner)'
is "in turns" says "$out" 'live \| in turns with cpu_tiled'
is "and a sentence for each of the others" says "$out" '^naive (is|against|overtakes|falls)'
run sweep naive,cpu_tiled S=8,16 H=1 D=16 f32 n=5 time=0.05 threads=1 backend=cpu base=naive --json
is "ratios are fields" says "$out" '"kernel":"cpu_tiled","S":16,.*"ratio":[0-9.]+,"ratio_lo":[0-9.]+'
run sweep naive,cpu_tiled S=8,16 H=1 D=16 f32 n=5 time=0.05 threads=1 backend=cpu
is "times of separate runs name no winner" says "$out" 'separate runs name no winner; base=naive'
is "medians have their spread" says "$out" '^ ?8 +[0-9.]+ .[ 0-9]+%'
run sweep fa2 BR=16,32,64 S=32 H=1 D=16 f32 n=9 time=0.05 backend=cpu --confirm
is "the two shortest take turns" says "$out" '^(fa2 .* is|fa2 .* against fa2|fa2 against)'
before=$(stored)
run sweep fa2 BR=16,32 S=32 H=1 D=16 f32 n=7 time=0.05 backend=cpu --confirm --no-store --json
is "and --no-store keeps none of it" [ "$(stored)" -eq "$before" ]
is "which is rows of both in each format" says "$out" '"verdict":"base"'
run -c 'sweep fa2 BR=16,32 S=32 H=1 D=16 f32 n=7 time=0.05 backend=cpu --confirm; report sweep.html'
is "a report has the sweep and the comparison apart" [ "$(grep -c '<section>' sweep.html)" -ge 2 ]
is "with its command" [ "$(grep -c 'attnscope compare fa2' sweep.html)" -eq 1 ]
run sweep fa2 S=16,32 H=1 D=16 f32 n=5 time=0.05 backend=cpu --confirm
is "where they are of one problem" says "$err" 'no two points of one problem'

# gpu as an axis; times on a GPU that is not here are recorded ones.
run sweep fa2 gpu=H200,L4 metric=waves --json
is "gpu is an axis" says "$out" '"kernel":"fa2","gpu":"L4",.*"origin"|"kernel":"fa2","gpu":"L4",'
waves=$(printf '%s\n' "$out" | grep '"gpu":"L4"' | grep -o '"waves":[0-9.]*')
run plan fa2 gpu=L4 --json
is "with the figures that plan has there" says "$out" "$waves"
run sweep fa2 BR=32,64 gpu=H200,nosuch metric=waves
is "a GPU that there is not is refused" [ "$rc" -eq 2 ]
run -c 'sweep fa2 BR=32,64 gpu=H200,L4 metric=waves; export h.svg'
is "in a map, too" says "$out" '^BR +gpu=H200 +gpu=L4'
is "with both in the caption" grep -q 'model, H200 and L4' h.svg
run plan fa2 S=512 gpu=H200 --json
us=$(printf '%s\n' "$out" | grep -o '"recorded_us":[0-9.]*' | cut -d: -f2)
run sweep fa2,cudnn S=512,640 gpu=H200 --json
is "recorded times are the cells of another GPU" says "$out" "\"kernel\":\"fa2\",\"S\":512,.*\"origin\":\"recorded\".*\"median_us\":$us"
is "of libraries too" says "$out" '"kernel":"cudnn","S":512,.*"origin":"recorded".*"median_us":[0-9.]+'
is "others say which is near" says "$out" '"kernel":"fa2","S":640,"median_us":null,"reason":"nothing is recorded of it on H200; the nearest shape is [^"]*: [0-9]'
run sweep fa2 S=512,640 gpu=H200
is "and the heading says RECORDED, where and when" says "$out" 'RECORDED H200, 20[0-9-]+$'
run sweep fa2 S=512,640 gpu=Orin
is "nothing recorded: a GPU is needed" [ "$rc" -eq 77 ]
run sweep fa2,naive S=512,640 gpu=H200 base=fa2
is "recorded runs took no turns" says "$err" 'recorded times are of separate runs'
run sweep fa2 S=16,32 H=1 D=16 f32 n=3 time=0.02 gpu=H200 backend=cpu --json
is "backend= means this machine" says "$out" '"origin":"live"'
run -c 'set gpu=H200; sweep fa2 S=16,32 H=1 D=16 f32 n=3 time=0.02 backend=cpu --json'
is "so does a kernel that runs here" says "$out" '"origin":"live"'
run plan cudnn S=512 gpu=H200
is "a library has its recorded time where there is no plan" says "$out" 'recorded +[0-9.]+ us, .*H200, 20'
finish
