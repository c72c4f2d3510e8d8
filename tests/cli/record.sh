#!/bin/sh
# record, open, results of recordings, compare of two.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC3046,SC2086,SC2016
. "$(dirname "$0")/lib.sh"

quick='S=32 H=1 f32 n=20 time=0.5 backend=cpu' # the C versions alone

run record a.rec -- run naive,cpu_tiled $quick --json
is "record FILE -- command runs it" [ "$rc" -eq 0 ]
is "and prints what it prints" [ "$(printf '%s' "$out" | grep -c '"origin":"live"')" -eq 2 ]
is "no samples there" [ "$(printf '%s' "$out" | grep -c 'samples_us')" -eq 0 ]
is "the file says what it is" says "$(head -1 a.rec)" '"format":"attnscope-recording","format_version":1'
is "and where it was made" says "$(head -1 a.rec)" '"device":"[^"]+"'
is "a line for each row" [ "$(grep -c '^{"type":"row"' a.rec)" -eq 2 ]
is "with its samples" says "$(grep '^{"type":"row"' a.rec)" '"samples_us":\[[0-9.]+(,[0-9.]+){19}\]'
is "its command" says "$(grep '^{"type":"row"' a.rec)" '"command":"run naive,cpu_tiled '
is "and its source" says "$(grep '^{"type":"row"' a.rec)" '"source_hash":"[0-9a-f]+'
sum=$(cksum a.rec)
run record a.rec -- run naive $quick
is "an existing file is not overwritten" [ "$rc" -eq 2 ]
is "and said to exist" says "$err" 'a\.rec exists; .*--append.*--force'
is "it is as it was" [ "$(cksum a.rec)" = "$sum" ]
run record a.rec --append samples=5 -- run naive S=16 H=1 n=10 time=0.2 backend=cpu
is "--append goes on" [ "$(grep -c '^{"type":"row"' a.rec)" -eq 3 ]
is "samples= thins" says "$(grep '^{"type":"row"' a.rec | tail -1)" '"samples_us":\[[0-9.]+(,[0-9.]+){4}\],"samples_of":10'
printf 'record b.rec\nrun naive %s\ncheck naive S=8 H=1 backend=cpu\nrecord\nrecord off\nrun naive S=8 H=1 n=5 time=0.1\n' "$quick" >script
run -f script
is "record ... record off" [ "$(grep -c '^{"type":"row"' b.rec)" -eq 2 ]
is "record says where it stands" says "$out" 'recording into b\.rec: 2 rows so far'
run record b2.rec "run naive $quick; check naive S=8 H=1 backend=cpu"
is "a line in quotes" [ "$(grep -c '^{"type":"row"' b2.rec)" -eq 2 ]
run record none.rec -- run no_such_kernel
is "a command that fails leaves no empty file" [ "$rc$([ -e none.rec ] && echo file)" = 2 ]
rc=0
env -u HOME "$ATTNSCOPE" record shut.rec -- run naive $quick >"$tmp/.out" 2>&- </dev/null || rc=$?
is "with standard error closed, notes do not land in the recording" [ "$rc$(grep -cv '^{"' shut.rec)" = 00 ]
# no byte more goes into a file of this size, while the kernel's output still has room
head -1 a.rec >full.rec
while [ "$(wc -c <full.rec)" -lt 600000 ] && grep '^{"type":"row"' a.rec >>full.rec; do :; done
was=$(grep -c '^{"type":"row"' full.rec)
rc=0
(ulimit -f 500 && exec "$ATTNSCOPE" record full.rec --append -- run naive S=8 H=1 n=5) >"$tmp/.out" 2>"$tmp/.err" || rc=$?
err=$(cat "$tmp/.err")
is "a recording that could not be written is a failure" [ "$rc" -eq 3 ]
is "and said to have ended" says "$err" 'cannot write the recording full\.rec: File too large; the recording has ended'
is "in one sentence" says "$err" '^attnscope: the recording full\.rec is not whole: File too large$'
rc=0
printf 'record full.rec --append\nrun naive S=8 H=1 n=5\nrun naive S=8 H=1 n=5\nrecord\n' >script
(ulimit -f 500 && exec "$ATTNSCOPE" -f script) >"$tmp/.out" 2>"$tmp/.err" || rc=$?
out=$(cat "$tmp/.out")
err=$(cat "$tmp/.err")
is "without record off, too, at the end" [ "$rc$(printf '%s\n' "$err" | grep -c '^attnscope: the recording full\.rec is not whole: File')" = 31 ]
is "meanwhile record says that it has ended" says "$out" '^the recording full\.rec has ended after 0 rows: it could not be written$'
run open full.rec --json
is "what was in it is as it was" [ "$rc$(printf '%s\n' "$out" | grep -c '"kernel"')" = "0$was" ]
run record off
is "off without a recording is a usage error" [ "$rc" -eq 2 ]
run record no/such/folder.rec
is "a file that cannot be made" [ "$rc" -eq 2 ]
run --restricted record r.rec
is "not in a restricted session" [ "$rc" -eq 2 ]
is "which leaves no file" [ ! -e r.rec ]

# on a GPU a row has its plan, with the registers of the code that ran
if [ -n "${ATTNSCOPE_FAKECUDA:-}" ]; then
    ATTNSCOPE_LIBCUDA=$ATTNSCOPE_FAKECUDA/fakecuda.so
    ATTNSCOPE_LIBNVRTC=$ATTNSCOPE_LIBCUDA
    export ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC
    run record gpu.rec -- run naive,qtile_seq S=64 H=2 f16 backend=cuda n=10 time=0.2
    unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC
    is "a GPU's header names driver and CUDA" says "$(head -1 gpu.rec)" '"device":"NVIDIA H200","driver":"580.00.fake","cuda":"13.0"'
    is "its rows have a plan" [ "$(grep '^{"type":"row"' gpu.rec | grep -c '"plan":{"kernel":')" -eq 2 ]
    is "on that device" says "$(grep '^{"type":"row"' gpu.rec | tail -1)" '"plan":.*"device":"H200".*"smem":\['
    run report gpu.html gpu.rec
    is "its report has a roofline of what was measured" says "$(cat gpu.html)" 'Roofline: B=1 H=2 S=64 D=64 f16'
fi

find "$HOME/.local" -type f ! -name mark -delete # what is shown now comes from the file
run open a.rec --json
is "open brings the rows back" [ "$(printf '%s' "$out" | grep -c '"origin":"recorded"')" -eq 3 ]
is "with the command" says "$out" '"command":"run naive,cpu_tiled'
run open a.rec
is "open says where and when" says "$out" '^a \| yours, sha256 [0-9a-f]{12} \| recorded 20[0-9T:-]+Z \| .* \| 3 rows'
run open h200 fa2_mma,fa2 S=1k D=64 f16
is "  and what all listed rows have, for which there is no column" says "$out" '^h200 .* [0-9]+ of [0-9]+ rows \| B=2 H=16 S=1024 D=64 f16 \| L2 cold \| cuda$'
run open h200 fa2 S=1k
is "  no shape where there are several" says "$out" '^h200 .* rows \| L2 cold \| cuda$'
run -c "open a.rec; results naive S=16; show \$last"
is "results knows opened recordings" says "$out" 'recorded +20|20.* naive '
is "rows are remembered" says "$out" '^median_us +[0-9]'
run -c 'open a.rec; results origin=recorded limit=2 --json'
is "results: limit" [ "$(printf '%s' "$out" | grep -c '"kernel"')" -eq 2 ]
run -c 'open a.rec; results since=2000 --csv'
is "results: since a date" [ "$(printf '%s\n' "$out" | grep -c 'recorded')" -ge 3 ]
run -c 'open a.rec > x.txt; results since=2999-01-01 --json'
is "results: nothing since then" [ "$out" = '[]' ]
run results since=yesterday
is "results: a bad date is a usage error" [ "$rc" -eq 2 ]
run open nowhere
is "no such recording" [ "$rc" -eq 2 ]
is "and says how to list them" says "$err" 'open without a name'
printf 'hello\n' >text.rec
run open text.rec
is "another file is no recording" [ "$rc" -eq 2 ]
head -c "$(($(wc -c <a.rec) - 30))" a.rec >cut.rec
run open cut.rec --json
is "a file that was cut off opens" [ "$rc" -eq 0 ]
is "without its last line, and says so" says "$err" 'cut: the last line is cut off'
mkdir -p "$HOME/.local/share/attnscope/recordings"
cp a.rec "$HOME/.local/share/attnscope/recordings/mine.rec"
run open --json
is "open lists recordings" says "$out" '"name":"mine","device":"[^"]+".*"rows":3'
run open mine --csv
is "and opens them by name" [ "$(printf '%s\n' "$out" | grep -c recorded)" -eq 3 ]

# the same samples, and the same ten times slower
# As older programs wrote it, without seals, so that figures can be made up.
sed -i 's/,"after":"[0-9a-f]*"//; s/,"seal":"[0-9a-f]*"//; s/,"sealed":true//' a.rec
sed 's/"samples_us":\[\([0-9.]*\),/"samples_us":[\1,/' a.rec >same.rec
run compare a.rec same.rec --json --fail-on=slower
is "compare with itself: no row is slower" [ "$rc" -eq 0 ]
is "its ratios are 1" [ "$(printf '%s' "$out" | grep -c '"ratio":1\.0')" -eq 3 ]
samples=$(seq -s , 900 919)
sed "s/\"samples_us\":\[[0-9.,]*\]/\"samples_us\":[$samples]/" a.rec >fast.rec
samples=$(seq -s , 1800 2 1838)
sed "s/\"samples_us\":\[[0-9.,]*\]/\"samples_us\":[$samples]/" a.rec >slow.rec
run compare fast.rec slow.rec --fail-on=slower
is "compare: code that did not change did not become slower" [ "$rc" -eq 0 ]
is "of the same source there is no mean that reads as a gain" says "$out" '^3 rows: 3 control$'
is "but shows what changed besides" says "$out" '^control: 3 rows of unchanged source differ by up to 2\.0'
sed '0,/"source_hash":"[0-9a-f]*"/s//"source_hash":"0123456789abcdef"/' slow.rec >one.rec
run compare fast.rec one.rec --json --fail-on=slower
is "compare: a changed kernel as slow as the unchanged is not slower" [ "$rc" -eq 0 ]
is "and the reason is told" says "$out" '"verdict":"AMBIGUOUS","verdict_reason":"unchanged kernels differ by up to 2'
is "and that it was let through" says "$err" '^attnscope: 1 of 3 verdicts are undecided, and let through; .*slower,undecided'
run compare fast.rec one.rec
is "  which nobody asked without --fail-on" [ "$rc$err" = 0 ]
for words in slower,undecided undecided undecided,slower; do
    run compare fast.rec one.rec --fail-on=$words
    is "--fail-on=$words: what noise hides is no pass" says "$rc $err" '^3 .*1 of 3 verdicts are undecided'
    run compare a.rec same.rec --fail-on=$words
    is "  what is the same is" [ "$rc" -eq 0 ]
done
run compare naive,fa2 S=32 H=1 D=16 f32 backend=cpu n=2 time=0.05 --fail-on=slower,undecided
is "nor for kernels that are measured: two pairs decide nothing" says "$rc $err" '^3 .*1 of 1 verdicts are undecided'
run compare naive,fa2 S=32 H=1 D=16 f32 backend=cpu n=2 time=0.05 --fail-on=slower
is "  which is let through aloud" says "$rc $err" '^0 .*1 of 1 verdicts are undecided'
for words in '' slow slower,nothing slower,,undecided; do
    run compare fast.rec one.rec "--fail-on=$words"
    is "--fail-on=$words is misuse" [ "$rc" -eq 2 ]
    run compare naive,fa2 "--fail-on=$words"
    is "  for kernels, too" [ "$rc" -eq 2 ]
done
sed "s/\"samples_us\":\[[0-9.,]*\]/\"samples_us\":[$(seq -s , 900 919)]/" one.rec |
    awk '/"0123456789abcdef"/ { sub(/"samples_us":\[[0-9.,]*\]/, "\"samples_us\":['"$samples"']") } 1' >worse.rec
run compare fast.rec worse.rec --fail-on=slower
is "compare: a changed kernel beyond the control is slower" [ "$rc" -eq 1 ]
is "and the control is the others" says "$out" ': 1 SLOWER, 2 control;'
sed -i 's/"source_hash":"[0-9a-f]*"/"source_hash":"0123456789abcdef"/' slow.rec
run compare fast.rec slow.rec
is "compare: without a control that is said" says "$out" '^control: none'
is "compare: slower alone is no failure" [ "$rc" -eq 0 ]
is "and counted" says "$out" '^3 rows: 3 SLOWER; .*: 2$'
run compare fast.rec slow.rec --fail-on=slower
is "--fail-on=slower" [ "$rc" -eq 1 ]
run compare fast.rec slow.rec --fail-on=slower,undecided
is "  before what is undecided" [ "$rc" -eq 1 ]
run compare slow.rec fast.rec --fail-on=slower --json
is "faster is no failure" [ "$rc" -eq 0 ]
is "and called so" [ "$(printf '%s' "$out" | grep -c '"verdict":"FASTER"')" -eq 3 ]
sed 's/"check":"pass"/"check":"fail"/' a.rec >wrong.rec
run compare a.rec wrong.rec
is "a check that fails now: 1" [ "$rc" -eq 1 ]
run compare a.rec b.rec --json
is "rows of one side alone are shown" says "$out" '"reason":"in the (old|new) recording alone"'
: >empty.rec
run compare a.rec empty.rec --fail-on=slower
is "nothing compared is no pass" [ "$rc" -eq 3 ]
is "and said" says "$err" 'no row is in both recordings'
run compare a.rec
is "compare takes two" [ "$rc" -eq 2 ]

# pictures and pages; well-formedness is the unit test's business, these are the outside tools' eyes
well_formed() {
    if command -v xmllint >/dev/null; then xmllint --noout "$1"; else [ -s "$1" ]; fi
}
plotted() {
    if command -v gnuplot >/dev/null; then
        gnuplot -e "set terminal dumb" "$1" >/dev/null 2>.gnuplot && [ ! -s .gnuplot ]
    else
        grep -q '^plot' "$1"
    fi
}
sweep='sweep qtile_seq BR=16..64:x2 BC=16..64:x2 metric=occupancy_pct gpu=L4'
run -c "open a.rec; export times.svg; export times.gp; $sweep; export heat.svg; export svg heat2; export heat.gp"
is "export: svg and gp" [ "$rc" -eq 0 ]
is "the pictures are XML" well_formed times.svg
is "a heat map too" well_formed heat.svg
is "a form before the file" cmp -s heat.svg heat2
is "gnuplot takes the script" plotted times.gp
is "and a heat map" plotted heat.gp
is "text in a picture is text" says "$(cat times.svg)" '>cpu_tiled</text>'
is "light and dark" says "$(cat times.svg)" 'prefers-color-scheme:dark'
run -c 'plan fa2 gpu=L4; export p.svg figure=smem; export r.svg figure=roofline'
is "export: a figure by name" says "$(cat p.svg r.svg)" 'aria-label="roofline"'
run -c 'devices; export o.svg'
is "rows without a picture are a table of text" says "$(cat o.svg)" '<text [^>]*>[^<]*H200[^<]*</text>'
is "which is XML as well" well_formed o.svg
run -c 'plan fa2 gpu=L4; export p.svg figure=heat'
is "a figure that the rows do not have" [ "$rc" -eq 2 ]
run -c 'plan fa2 gpu=L4; export p.svg figure=heta'
is "an unknown figure is named" says "$err" 'did you mean "heat"'
run -c 'plan fa2 gpu=L4; export p.doc'
is "an unknown form is a usage error" [ "$rc" -eq 2 ]
run -c "$sweep; plan fa2 gpu=H200; report all.html title=\"A <test> & more\""
is "report of a session" [ "$rc" -eq 0 ]
is "has its commands" says "$(cat all.html)" 'attnscope sweep qtile_seq BR=16'
is "its title, escaped" says "$(cat all.html)" '<h1>A &lt;test&gt; &amp; more</h1>'
is "its pictures" [ "$(grep -c '^<svg' all.html)" -ge 3 ]
is "nothing from outside" [ "$(grep -Ec 'src=|href="[^#]|url\(|https?:' all.html)" -eq 0 ]
is "no script that runs" [ "$(grep -c '<script' all.html)" -eq "$(grep -c '<script type="application/json"' all.html)" ]
run -c 'record drawn.rec; run cpu_tiled S=64 H=1 backend=cpu time=0.01; sweep fa2 BR=32,64 BC=32,128 metric=occupancy_pct gpu=H200; timeline cpu_tiled S=64 H=1 backend=cpu; record off; report now.html; export tl.gp'
run report later.html drawn.rec
is "pictures go with the rows into a recording" [ "$(grep -c '^<svg' now.html)$(grep -c '"charts"' drawn.rec)" = "$(grep -c '^<svg' later.html)2" ]
is "a bound is one there, too" says "$(cat later.html)" '>&lt;=12.5</text>'
is "what was live is recorded" says "$(grep -o '>cpu_tiled  [A-Z]*' now.html later.html | tr '\n' ' ')" 'LIVE .*RECORDED'
is "a timeline for gnuplot" plotted tl.gp
over() { # the sizes S of runs, each a command of its own: how many figures of all of them their report has
    rm -f over.rec over.html
    line=
    for s in $1; do line="$line; run naive S=$s H=1 D=16 f32 backend=cpu n=3 time=0.01"; done
    run -c "record over.rec$line; record off"
    run report over.html over.rec
    grep -c 'Time over S: B=1 H=1 D=16 f32[^<"]*<' over.html
}
is "runs that differ in S alone are one figure, too" [ "$(over '16 32 48')" -eq 1 ]
is "but not two of them, or the same once more" [ "$(over '16 32') $(over '16 32 16')" = '0 0' ]
run report rec.html a.rec
is "report of a recording" says "$(cat rec.html)" 'Report of the recording a'
is "whose figures are recorded" says "$(cat rec.html)" 'recorded: [0-9]+ rows'
run -c 'open mine; report last.html last'
is "report of the last rows" [ -s last.html ]
run report empty.html
is "nothing to report: a usage error" [ "$rc$([ -e empty.html ] && echo file)" = 2 ]

# rows that were printed where nobody recorded, with columns of tests/gpu/tables behind them
if command -v python3 >/dev/null 2>&1; then
    tool=${ATTNSCOPE_SRCDIR:?}/tools/recording-from-csv
    from_csv() {
        rc=0
        err=$(python3 "$tool" "$@" 2>&1) || rc=$?
    }
    run sweep naive S=8,16 H=1 n=5 --csv
    printf '%s\n' "$out" | sed '1s/$/,plan_why,dram_pct/; 2,$s/$/,"no unit, busy",3.5/' >table.csv
    from_csv table.csv table.rec "sweep naive S=8,16 H=1"
    is "a table becomes a recording" [ "$rc" -eq 0 ]
    is "what is left out is named" says "$err" '^left out: S, plan_why, dram_pct$'
    run open table.rec --json
    is "with the rows it had" [ "$(printf '%s\n' "$out" | grep -c '"kernel":"naive".*"median_us":[0-9]')" -eq 2 ]
    sed '1s/plan_why/median_ms/' table.csv >odd.csv
    from_csv odd.csv odd.rec "sweep naive"
    is "a column that is not known is refused by name" says "$rc $err" '^1 .*no known column beside them: median_ms$'
    is "and nothing is written" [ ! -e odd.rec ]
fi

# ---- what recordings know stands beside what is computed ----

at='B=4 H=16 S=4k D=128'
run plan fa2_mma $at gpu=H200
is "plan shows what was recorded" says "$out" '^  recorded +1\.[0-9]+ ms, [0-9]+ TFLOP/s \(H200, 20[0-9-]+, recording h200\)'
run plan fa2_mma $at gpu=H200 --json
is "and in JSON" says "$out" '"recorded_us":1[0-9.]+,.*"recorded_time":"20.*"recorded_in":"h200","recorded_old":false,"recorded_near":null'
run plan fa2_mma $at gpu=H200 l2=hot --json
is "other caches are another time" says "$out" '"recorded_in":"h200-ladder"'
run plan fa2_mma B=4 H=16 S=8k D=128 gpu=H200
is "the nearest shape is named" says "$out" '^  recorded +not for this shape; the nearest is B=4 H=16 S=4096 D=128 f16: 1\.'
run plan fa2_mma B=4 H=16 S=8k D=128 gpu=H200 --json
is "and is not taken for this one" says "$out" '"recorded_us":null,.*"recorded_near":"B=4 H=16 S=4096 D=128 f16","recorded_near_us":1'
run plan fa2_mma $at gpu=H200 BC=32
is "nor are other parameters" [ "$(printf '%s' "$out" | grep -c '^  recorded')" -eq 0 ]
run plan fa2_mma $at gpu=L4 --json
is "nor is another GPU" says "$out" '"recorded_us":null,.*"recorded_near":null'
shelf=$HOME/.local/share/attnscope/recordings
mkdir -p "$shelf"
{
    head -1 "$ATTNSCOPE_SRCDIR/lessons/recordings/h200.rec"
    grep '"kernel":"fa2_mma",.*"B=4 H=16 S=4096 D=128 f16"' "$ATTNSCOPE_SRCDIR/lessons/recordings/h200.rec" |
        sed 's/"median_us":[0-9.]*/"median_us":1234.5/; s/"source_hash":"[0-9a-f]*"/"source_hash":"00"/'
} >own.rec
cp own.rec "$shelf/own.rec"
run plan fa2_mma $at gpu=H200 --json
is "a row of today's source goes before an old one" says "$out" '"recorded_in":"h200",'
sed -i 's/"source_hash":"00",//' "$shelf/own.rec"
run plan fa2_mma $at gpu=H200 --json
is "a recording of the data folder before what is shipped" says "$out" '"recorded_us":1234\.5,.*"recorded_in":"own"'
rm "$shelf/own.rec"
sed 's/"B=4 H=16 S=4096/"B=4 H=16 S=4160/' own.rec >old.rec
run -c "open old.rec; plan fa2_mma B=4 H=16 S=4160 D=128 gpu=H200"
is "what was opened counts, and is said to be old" says "$out" 'H200, 20[0-9-]+, recording old; of an older source of the kernel'
run open h200
is "open says what it brings" says "$out" '^[0-9]+ of its times, of [0-9]+ kernels on 1 GPU, are shown as RECORDED'
is "and lists nothing" [ "$(printf '%s\n' "$out" | wc -l)" -le 3 ]
run open h200 naive S=64
is "unless it is asked" [ "$(printf '%s\n' "$out" | grep -c '^naive .*recorded$')" -ge 2 ]
run -c 'open h200; show $last'
is "its rows are there all the same" [ "$rc" -eq 0 ]
run roofline fa2_mma $at gpu=H200 --json
is "the roofline has a recorded point" says "$out" '"measured_tflops":3[0-9.]+,.*"measured_origin":"recorded"'
run roofline fa2_mma B=4 H=16 S=8k D=128 gpu=H200 --json
is "of the very shape alone" says "$out" '"measured_tflops":null,.*"measured_origin":null'
run timeline fa2_mma $at gpu=H200 origin=model
is "so has the timeline" says "$out" 'RECORDED 1\.[0-9]+ ms \(h200\)'
# Where that GPU is not: what was recorded there, of peers, too, whatever else can run here.
[ -e /dev/nvidiactl ] || for python in none ''; do
    export ATTNSCOPE_PYTHON=$python
    ATTNSCOPE_LIBCUDA=none run compare torch:flash,fa3_streamk B=4 H=16 S=4k D=128 f16 gpu=H200
    is "without the GPU: recorded times, ${python:-a} Python" says "$(printf '%s' "$out" | tr '\n' '~')" \
        'recorded on H200:~ +torch:flash: 1\.[0-9]+ ms, [^~]*recording h200-limit\)~ +fa3_streamk: [0-9]+ us, [^~]*recording h200-limit\)'
done
unset ATTNSCOPE_PYTHON
ATTNSCOPE_LIBCUDA=none run compare torch:flash,torch:math S=4k D=128 f16
is "of no GPU that nobody named" [ "$(printf '%s' "$out" | grep -c 'recorded on')" -eq 0 ]
run open
listed=$out
run recordings
is "recordings lists what open lists" [ "$out" = "$listed" ]
finish
