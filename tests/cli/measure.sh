#!/bin/sh
# run, check, compare, sweep and results against real workers, with short measurements.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC3046,SC2086
. "$(dirname "$0")/lib.sh"

quick='n=5 time=0.3'

run results
is "results of nothing says how to get some" says "$out" '^no results yet; .*run'
rc=0
(ulimit -f 1 && exec "$ATTNSCOPE" run naive S=64 H=1 $quick) >"$tmp/.out" 2>"$tmp/.err" || rc=$?
out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
is "a limit on file sizes is a runtime error" [ "$rc" -eq 3 ]
is "with its reason, no death by a signal" says "$out" '^naive: .*File too large'
run run naive,cpu_tiled S=64 H=1 f32 $quick backend=cpu --json
is "run ends with 0" [ "$rc" -eq 0 ]
is "run --json: a row per kernel" [ "$(printf '%s' "$out" | grep -c '"check":"pass"')" -eq 2 ]
is "run: figures are live" says "$out" '"origin":"live"'
is "run: a median" says "$out" '"median_us":[0-9.]+'
is "run: the first kernel's speedup is 1" says "$out" '"kernel":"naive".*"speedup":1\.0'
is "run: nothing but rows on standard output" says "$out" '^\]$'
is "run: no progress into a file" silent "$err"
run results limit=10 --json
is "results keeps both" [ "$(printf '%s' "$out" | grep -c '"kernel"')" -eq 2 ]
is "results knows the command" says "$out" '"command":"run naive,cpu_tiled .*S=64'
run results cpu_tiled S=64 f32 --json
is "results selects" [ "$(printf '%s' "$out" | grep -c '"kernel":"cpu_tiled"')" -eq 1 ]
run results cpu_tiled Sq=64 Hkv=1 causal=no --json
is "by the shape, not by its text" [ "$(printf '%s' "$out" | grep -c '"kernel":"cpu_tiled"')" -eq 1 ]
run results cpu_tiled S=128 --json
is "results selects nothing" [ "$out" = '[]' ]
run results cpu_tiled limit=1 --csv
heading=$(printf '%s\n' "$out" | head -n 1)
run results cpu_tiled S=128 --csv
is "results: the heading stands above no rows, too" [ "$out" = "$heading" ]
run run naive S=32 H=1 $quick --no-store
run results S=32 --json
is "--no-store keeps nothing" [ "$out" = '[]' ]

run check all Sq=13 Sk=29 D=40 H=4 Hkv=2 causal=yes bf16 --json
is "check all on a ragged shape" [ "$rc" -eq 0 ]
is "check has no times" says "$out" '"median_us":null'
is "check has errors" says "$out" '"max_diff":[0-9.e-]+'

# Where others take the processor away, samples are unstable, or hang together, and there is no verdict: then
# once more.
until_steady() {
    for _ in 1 2 3 4 5 6 7 8; do
        run "$@"
        case $out in *unstable* | *'"verdict_reason":"'*) ;; *) return ;; esac
    done
}
# what takes long says so first
run run naive S=100k H=64
is "a row of many minutes is refused" [ "$rc" -eq 2 ]
is "and says what it takes and what to write" says "$err" 'naive would take about [0-9.]+ (min|h) .*time='
run check cpu_tiled S=100k H=64 B=4
is "so is a check" [ "$rc" -eq 2 ]
until_steady compare naive,cpu_tiled S=64 H=1 f32 $quick base=cpu_tiled
is "compare prints a verdict" says "$out" 'naive (is|against)'
until_steady compare naive,cpu_tiled S=64 H=1 f32 $quick base=cpu_tiled --json
is "compare: the base is named" says "$out" '"kernel":"cpu_tiled".*"verdict":"base"'
is "compare: an interval" says "$out" '"ratio_lo":[0-9.]+'
is "compare: noise is a figure of every row" says "$out" '"noise":"[^"]+","other_cores":[0-9n]'
until_steady compare fa2,fa2@BR=32 S=64 H=1 f32 $quick base=fa2@BR=32 --json
is "compare: a kernel beside itself" says "$out" '"params":"BR=32 BC=64".*"verdict":"base"'
is "compare: and its other parameters" says "$out" '"params":"BR=64 BC=64".*"ratio":[0-9.]+'
run results fa2 S=64 f32 --json
is "compare: the record repeats both" says "$out" '"command":"compare fa2@BR=32,fa2 .*S=64'
# many times slower, and long enough that a busy machine cannot hide it
until_steady compare cpu_tiled,naive S=512 H=1 f16 threads=1 n=40 time=20 --fail-on=slower --json
is "compare --fail-on=slower: naive is slower" [ "$rc" -eq 1 ]
run compare cpu_tiled,row_full S=64 H=1 f32 backend=cpu $quick --fail-on=slower
is "compare --fail-on=slower: no time is no pass" [ "$rc" -eq 3 ]
is "and says so" says "$err" 'row_full gave no time'

run run naive,row_full S=64 H=1 f32 $quick backend=cpu
is "one kernel that cannot run does not stop the other" [ "$rc" -eq 0 ]
is "and its reason stands below" says "$out" '^row_full.*no source for backend=cpu'
run run row_full S=64 backend=cpu --json
is "no kernel could run: 3" [ "$rc" -eq 3 ]
reason=$(printf '%s' "$out" | sed -n 's/.*"reason":"\([^"]*\)".*/\1/p')
is "no kernel could run: a row with the reason" [ -n "$reason" ]
is "which is not said twice" [ "$(printf '%s' "$err" | grep -Fc "$reason")" -eq 0 ]
if [ ! -e /dev/nvidiactl ]; then
    run run cublas S=64
    is "a kernel for a GPU alone, no GPU: 77" [ "$rc" -eq 77 ]
    run check fa2_mma S=64 H=1 f32 --json
    is "one that no GPU would run: 3, which no gate takes for a skip" [ "$rc" -eq 3 ]
    is "  with that reason alone" says "$out" '"reason":"fa2_mma needs f16 or bf16; dtype is f32"'
    run run row_full S=64 --json
    is "one that the simulator runs: 0" [ "$rc" -eq 0 ]
    is "and its row says so" says "$out" '"origin":"sim".*"check":"pass"'
fi
run -c "run fa2,naive S=48 H=1 BR=32 $quick; explain tflops; explain error_ratio; results; show \$last"
is "explain puts the last row's values in" says "$out" '= 4 \* 1 \* 1 \* 2304 \* 64 / \([0-9.]+ \* 10\^6\) = [0-9.]+ TFLOP/s'
is "error_ratio too" says "$out" 'error_ratio = max_diff / baseline_max_diff = [0-9.e-]+ / '
is "results leaves \$last alone" says "$out" '^kernel +naive'
is "the table shows the parameters that were changed" says "$out" '^fa2 +BR=32  '
run results fa2 S=48 --json
is "the record has all" says "$out" '"params":"BR=32 BC=[0-9]+'
run results fooo
is "results: an unknown kernel is a usage error" [ "$rc" -eq 2 ]
is "and named" says "$err" 'fooo'

# The shares that doctor's JSON has of cpu_tiled are those of its own peaks.
agree() {
    printf '%s' "$1" | sed -n '/^\[/,$p' | tr '}' '\n' | awk -F'[:,]' '
        function figure(key) { return match($0, "\"" key "\":[0-9.e+-]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "" }
        /"name":"fma_(gflops|gflops_all|burst_gflops)"/ { split($0, word, "\""); for (i = 1; i in word; i++) if (word[i] == "name") peak[word[i + 2]] = figure("value") }
        /"name":"cpu_tiled/ {
            n++
            t = figure("threads"); g = figure("gflops")
            off = g * 100 / (t == 1 ? peak["fma_gflops"] : peak["fma_gflops_all"]) / figure("percent_of_peak") - 1
            far = g * 100 / (t * peak["fma_burst_gflops"]) / figure("percent_of_burst_peak") - 1
            bad += off * off > 1e-6 || far * far > 1e-6
        }
        END { exit n != 5 || bad }'
}

run run naive S=64 H=1 f32 $quick backend=cpu --json
is "without measured ceilings there is no share of them" says "$out" '"of_ceiling_pct":null'
device=$(printf '%s' "$out" | sed -n 's/.*"device":"\([^"]*\)".*/\1/p')
mkdir -p "$HOME/.local/share/attnscope/ceilings"
printf '{"device":"%s","backend":"cpu","ceilings":[{"name":"fma_gflops_all","value":1000.0}]}' "$device" \
    >"$HOME/.local/share/attnscope/ceilings/cpu.json"
run run naive S=64 H=1 f32 $quick backend=cpu --json
is "those that doctor --peak kept of the CPU are the roof" says "$out" '"of_ceiling_pct":[0-9.]+'
run run naive S=64 H=1 f32 $quick backend=cpu
is "  nothing is said of a share that can be" test -z "$(printf %s "$out" | grep "^ceiling:")"
sed -i 's/1000.0/0.001/' "$HOME/.local/share/attnscope/ceilings/cpu.json"
run run naive S=64 H=1 f32 $quick backend=cpu
is "  of one that cannot it is said that they were too low" says "$out" '^ceiling: naive: [0-9.e+]+ %, so what doctor --peak measured here was too low'
rm -r "$HOME/.local/share/attnscope/ceilings"

run_input 'set backend=cpu threads=2 time=0.02
doctor --peak --json'
is "doctor --peak: what threads do at once, beside as many times one" says "$out" '"fma_together_pct",[^}]* % \([0-9.]+ to [0-9.]+\): 2 threads at once have [0-9.]+ of 2 times [0-9.]+ GFLOP/s of multiply-adds'
is "  what cpu_tiled keeps, in turn with those" says "$out" '"tiled_together_pct",[^}]*"value":[0-9.]+,"value_low":[0-9.]+,"value_high":[0-9.]+'
is "  and what it loses by itself" says "$out" '"tiled_of_fma_together_pct",[^}]*"detail":"[0-9.]+ % \([0-9.]+ to [0-9.]+\)'
is "  a tile and multiply-adds that were taken in turn" says "$out" '"name":"tile_of_fma_pct",[^}]*"detail":"[0-9.]+ %: tile_gflops over fma_gflops"'
is "  a share of one thread says which peak it is of" says "$out" '"cpu_tiled S=2048 H=1",[^}]* one thread: [0-9.]+ % of fma_gflops, [0-9.]+ % of fma_burst_gflops'
is "  and so does one of all" says "$out" '"cpu_tiled S=2048 H=4",[^}]* 2 threads: [0-9.]+ % of fma_gflops_all, [0-9.]+ % of 2 times fma_burst_gflops'
is "  each of the very figures that stand above" agree "$out"
rm -rf "$HOME/.local/share/attnscope/ceilings"

run run naive S=64 H=1 f32 l2=both $quick backend=cpu --json
is "l2=both: two rows" [ "$(printf '%s' "$out" | grep -Ec '"l2":"(cold|hot)"')" -eq 2 ]

printf 'S=32 H=1\nS=48 H=1 f32 causal # ragged\n\n' >shapes
run run naive,cpu_tiled shapes=shapes $quick backend=cpu
is "shapes=FILE: every kernel on every shape" [ "$(printf '%s\n' "$out" | grep -c 'pass')" -eq 4 ]
is "shapes=FILE: the geometric mean" says "$out" 'geometric mean of 2 shapes'
printf 'S=32\nS=zero\n' >shapes
run run naive shapes=shapes
is "a wrong line is found before anything runs" [ "$rc$out" = 2 ]
is "and named" says "$err" 'shapes:2: '

run sweep naive S=16..64:x2 H=1 f32 $quick metric=median_us --csv
is "sweep measures each cell" [ "$(printf '%s\n' "$out" | grep -c '^naive,')" -eq 3 ]
run -c "run naive S=16 H=1 f32 $quick; export rows.md; show \$last"
is "export writes the last rows" says "$(cat rows.md)" '^\| naive'
is "show \$last shows them whole" says "$out" '^max_diff '

run run naive S=16 H=1 f32 output=o.npy $quick
is "output=o.npy" [ "$(head -c 6 o.npy | tail -c 5)" = NUMPY ]

# the worker must leave the pipe that commands come through alone
out=$({ echo "run naive S=16 H=1 f32 $quick"; sleep 2; echo 'show S'; } | "$ATTNSCOPE" 2>&1)
is "a pipe is read on after a run" says "$out" '^S +1024'

# Ctrl-C: the rows so far, status 130, no worker left
"$ATTNSCOPE" run naive S=64 H=1 f32 n=1000000 time=600 >"$tmp/.out" 2>"$tmp/.err" &
pid=$!
worked_for $pid 30 # it is checked, which takes a hundredth of that, and timed
kill -INT $pid
rc=0
wait $pid || rc=$?
out=$(cat "$tmp/.out")
err=$(cat "$tmp/.err")
is "an interrupted run ends with 130" [ "$rc" -eq 130 ]
is "and keeps its row" says "$out" '^naive .*pass'
# a stored shape is silent about what is usual; a command has all that is not
run run cpu_tiled S=16 H=16 Hkv=8 D=16 causal=yes f32 n=2 time=0.02 backend=cpu
run results causal=no --csv
is "results without a mask are found" [ "$(printf '%s\n' "$out" | grep -c " causal")" -eq 0 ]
run results causal=yes --csv
is "and those with one" [ "$(printf '%s\n' "$out" | grep -c " causal")" -ge 1 ]
run results causal=yes H=16 --csv
is "a command has Hkv where it is another than H" says "$out" 'H=16 Hkv=8'
is "  although it is the usual number" says "$out" ',run cpu_tiled [^,]*Hkv=8'
run sweep fa2 dtype=f16,bf16 layout=bshd metric=waves gpu=L4
is "a sweep over types still shows the layout" says "$out" 'bshd'
finish
