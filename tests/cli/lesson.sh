#!/bin/sh
# Shipped lessons through a pipe, from end to end: every command block runs and every gate passes, with a second and
# third try where a busy machine disturbed a measurement. Those that test_lesson_walk leaves to it, because a clock decides
# their outcomes, and of the others some of each part of the course; LESSONS=all takes all (lesson_long.sh), LESSONS="own ring" these.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2154
. "$(dirname "$0")/lib.sh"

run lessons --json
is "lessons ends with 0" [ "$rc" -eq 0 ]
names=$(printf '%s' "$out" | sed -n 's/.*"name":"\([^"]*\)".*/\1/p')
walked=${LESSONS:-first-visit measure online-softmax own reductions threads determinism smem-budget cp-async decode-gqa audit hazards hopper ring}
[ "$walked" != all ] || walked=$names
is "every file of the list is a lesson" \
    [ "$(printf '%s\n' "$names" | grep -c .)" -eq "$(grep -c '\.md' "$ATTNSCOPE_SRCDIR/lessons/list.mk")" ]
is "how long it takes" says "$out" '"name":"measure".*"minutes":15'
is "nothing is done yet" says "$out" '"name":"measure".*"done":0'
is "no lesson is broken" silent "$err"
timeless=$(sed -n '/timeless\[\]/,/};/s/"\([a-z0-9-]*\)"/\n\1\n/gp' "$ATTNSCOPE_SRCDIR/tests/unit/test_lesson_walk.c" | grep -E '^[a-z]')
[ -n "${LESSONS:-}" ] || is "every lesson is walked here, or by test_lesson_walk" \
    [ "$(printf '%s\n' "$names" | sort)" = "$(printf '%s\n%s\n' "$walked" "$timeless" | tr ' ' '\n' | sort -u)" ]

# Rows have names, and clauses lines of their own: what reviewers read.
directives() {
    awk '/^```attnscope$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$ATTNSCOPE_SRCDIR"/lessons/[0-9]*.md
}
is "no directive has a line of more than 120 characters" \
    [ "$(directives | awk 'length > 120' | grep -c .)" -eq 0 ]
is "no row is counted to the third and beyond" \
    [ "$(directives | grep -cE '\$([3-9]|[1-9][0-9]+)\.')" -eq 0 ]

run_input hint lesson measure
is "the end of the input ends the lesson, with 1" [ "$rc" -eq 1 ]
is "a hint" says "$out" 'Count the scores'

# What a step measures is all that it speaks of; outside of lessons counts of the CUDA source stand beside it.
run check fa2 B=1 H=1 S=64
is "a check shows the CUDA source's counts beside it" says "$out" 'The CUDA source, simulated'
run_input 'b

q' lesson correct
is "a step does not" [ "$(printf '%s' "$out" | grep -c 'CUDA source, simulated')" -eq 0 ]
is "  and shows what it asked for" says "$out" '^fa2 .* live'
run run fa2 B=1 H=1 S=64 backend=sim
is "nor a predicted time" says "$out" '^model, on '
run_input '64

' lesson blocks step=8
is "  where counts are what it asks for" [ "$(printf '%s' "$out" | grep -c '^model, on ')" -eq 0 ]
is "  which are there" says "$out" '^qtile_seq +[0-9]+ .* pass'

# Orders of two to five items, and the lines that are asked for, looked up in the sources.
more_answers() {
    printf '1 2\n1 2 3\n1 2 3 4\n1 2 3 4 5\n'
    awk '/^```/ { inside = !inside; kernel = "" }
         inside && /^where / { kernel = $4; dir = $5 == "cpu" ? "cpu" : "cuda" }
         kernel && /^at / { sub(/^at /, ""); print dir "/" kernel "\t" $0 }' "$1" |
        while IFS="$(printf '\t')" read -r file text; do
            grep -nF -- "$text" "$ATTNSCOPE_SRCDIR/kernels/$file".c* | head -1 | cut -d: -f1
        done
}

# Answers to everything: "1" is a number and the first option, an empty line runs, goes on and
# tries again; what does not fit is refused and the question stands.

# The lesson on kernels of one's own: its C code, taken in as it says.
own=$(echo "$ATTNSCOPE_SRCDIR"/lessons/[0-9][0-9]-own.md)
run_input 'q' lesson own step=5
is "a step that needs a kernel of one's own says so" says "$out" 'needs a kernel of yours that is called mine'
sed -n '/^```c$/,/^```$/{/```/!p}' "$own" >mine.c
sed -n 's/^attnscope kernel add/"$ATTNSCOPE" kernel add/p; /^cc /p' "$own" >add.sh
is "both commands are there" [ "$(grep -c . add.sh)" -eq 2 ]
is "the C code of the lesson compiles, and is taken in" sh -e add.sh

for lesson in $walked; do
    more=$(more_answers "$ATTNSCOPE_SRCDIR"/lessons/[0-9][0-9]-"$lesson".md)
    answers=$(i=0; while [ $i -lt 120 ]; do printf '1\n\n%s\n' "$more"; i=$((i + 1)); done)
    run_input "$answers" lesson "$lesson"
    is "$lesson ends with 0" [ "$rc" -eq 0 ]
    is "$lesson is walked to its end" says "$out" 'Predictions in this lesson so far'
    run lessons --json
    steps=$(printf '%s' "$out" | sed -n "s/.*\"name\":\"$lesson\".*\"steps\":\([0-9]*\).*/\1/p")
    [ "$(nproc)" -ge 2 ] || steps='[0-9]+' # steps that need two cores were skipped
    ! grep -q '^needs gpu' "$ATTNSCOPE_SRCDIR"/lessons/[0-9][0-9]-"$lesson".md || steps=$((steps - 1))
    is "$lesson: every step is on record" says "$out" "\"name\":\"$lesson\".*\"done\":$steps,"
done
is "predictions are on record" says "$out" '"name":"online-softmax".*"predictions":4'

run_input q lesson online-softmax step=3
is "a lesson starts at a step" says "$out" '3/5 Break it'
run_input q lesson online-softmax --restart
run lessons --json
is "--restart forgets what was done" says "$out" '"name":"online-softmax".*"done":0'
is "and no first answer" says "$out" '"name":"online-softmax".*"predictions":4'
run_input 'reveal


q' lesson online-softmax --restart
is "a presenter sees the outcome without a guess" says "$out" '^It is: "nothing"\.'
run lessons --json
is "and nothing is counted" says "$out" '"name":"online-softmax".*"predictions":4'

# One CPU in the affinity mask is one core, however many the machine has.
if command -v taskset >/dev/null; then
    cpu=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    mkdir -p "$HOME/.local/share/attnscope/lessons"
    printf '# Two\n\n## S\n\n```attnscope\nneeds cores 2\ntrace softmax\nexpect $1.l > 0 : l\n```\n' \
        >"$HOME/.local/share/attnscope/lessons/two.md"
    out=$(printf 'q\n' | taskset -c "$cpu" "$ATTNSCOPE" lesson two 2>&1)
    is "a lesson counts the CPUs that it may use" says "$out" 'needs 2 cores; 1 may be used'
    rm "$HOME/.local/share/attnscope/lessons/two.md"
fi
out=$("$ATTNSCOPE" trace softmax Sk=4 BC=4 scale=400 seed=42 break=max)
is "trace shows infinity and NaN as what they are" says "$out" 'inf +nan +nan'
run trace splitkv Sk=34 SPLITS=5 scale=3 seed=42 --json
is "splits are combined into the right answer" says "$out" '"split":"all".*"max_diff":([0-9.]+e-|0\.0+[,}])'
run trace splitkv Sk=34 SPLITS=5 scale=3 seed=42 break=weights --json
is "and their plain average is another one" says "$out" '"split":"all".*"max_diff":0\.[0-9]+[,}]'
run trace splitkv Sk=8 BC=4 SPLITS=4
is "a split's output is in the table, and none without keys" says "$(printf '%s\n' "$out" | tr -s ' \n' ' |')" '[|]0 4 0\.645 2\.917 0\.7116 1\.716 0\.2440 .*[|]3 0 -inf 0 0 -inf - 0'
run trace splitkv Sk=8 BC=4 SPLITS=4 --csv
is "a split without keys weighs nothing" says "$out" '^3,0,-inf,0,0,,-inf,0,|^3,0,-inf,0\.0,0\.0,'
run trace sum Sk=64 tries=8 --json
is "rounded sums depend on the order" silent "$(printf '%s' "$out" | tail -1 | grep '"distinct":1,')"
run trace sum Sk=64 tries=8 input=ramp --json
is "exact ones do not" says "$out" '"order":"arrival 8".*"distinct":1,'
run trace sum break=max
is "what cannot be left out is refused" says "$err" 'sum has no break=max'
run trace pipe lanes=4
is "a key of another word is no misspelling" says "$err" 'trace has no use for "lanes" here$'
run lesson 1 --json
is "nor is an option that others of the verb take" says "$err" 'lesson has no use for "--json" here$'

run lesson measur
is "a unique prefix is enough" says "$out" 'Measure before you believe'
run lesson meazure
is "an unknown lesson is a usage error" [ "$rc" -eq 2 ]
is "and names the nearest" says "$err" 'did you mean "measure"'
run lesson measure step=99
is "a step too far is a usage error" [ "$rc" -eq 2 ]

# A lesson from a stranger.
mkdir -p "$HOME/.local/share/attnscope/lessons"

# What a step asks for beside numbers and choices, recorded figures, and what steps take over.
cat >"$HOME/.local/share/attnscope/lessons/asks.md" <<'END'
# Asks

## Order

```attnscope
order rank within 5% : Which is faster?
item slow = $naive.median_us : three passes
item fast = $fa2.median_us : tiles
run naive,fa2 S=512 B=1 H=1 D=64 f16 n=3 | recorded h200-short
reveal rank : {$1.device:text}
keep both = $1.median_us + $2.median_us
expect known(both) : no | there are times
```

## Where

```attnscope
where line in fa2 : Which line?
from // P = 2^
to __syncwarp
at exp2f(m[i]
reveal line
expect both > 0 && known(line) : no | taken over
```
END
if [ ! -e /dev/nvidiactl ]; then
    run_input 'fast slow

' lesson asks
    is "recorded figures say where and when" says "$out" 'recorded ones \(NVIDIA H200'
    is "the command opens the recording" says "$out" '\$ open h200-short naive,fa2 S=512'
    is "an order is judged" says "$out" 'Right, you said: fast < slow. It is: fast [0-9.]+ < slow [0-9.]+'
    run_input '999
97
' lesson asks # taken up again: the value is there
    is "a lesson goes on where it was left" says "$out" '2/2 Where'
    is "a kept value outlives the program" says "$out" '\[ok\] taken over'
    is "a line that is not shown is refused" says "$out" '! type the number of a line'
    is "the source is shown once" [ "$(printf '%s' "$out" | grep -c 'const float correction')" -eq 2 ]
    run_input q lesson asks step=2 --restart
    is "a step says what it needs" says "$out" 'goes on with what step 1, "Order"'
fi
(
    : "${ATTNSCOPE_FAKECUDA:?}"
    export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so"
    export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA"
    printf 'fast slow\n\nq\n' | FAKECUDA="" "$ATTNSCOPE" lesson asks --restart >live 2>&1
    printf 'fast slow\n\n\nq\n' | FAKECUDA="cuInit:1=100" "$ATTNSCOPE" lesson asks --restart >none 2>&1
)
prepared=$HOME/.local/share/attnscope/recordings/prepared.rec
mkdir -p "${prepared%/*}"
prepared_row() { # kernel, microseconds
    printf '%s' '{"type":"row","time":"2026-01-02T03:04:05Z","row":{"backend":"cuda","device":"Our GPU","origin":"live",'
    printf '"kernel":"%s","shape":"B=1 H=1 S=512 D=64 f16","median_us":%s,"l2":"cold","check":"pass"}}\n' "$1" "$2"
}
with_prepared() { # kernels
    printf '%s\n' '{"type":"header","format":"attnscope-recording","format_version":1,"time":"2026-01-02","device":"Our GPU"}' >"$prepared"
    for kernel; do prepared_row "$kernel" ${#kernel}0; done >>"$prepared"
    printf 'fast slow\n\n\nq\n' | ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" FAKECUDA="cuInit:1=100" \
        "$ATTNSCOPE" lesson asks --restart 2>&1
}
out=$(with_prepared naive fa2)
is "what was prepared is shown before what is shipped" says "$out" 'It is: fast 30 < slow 50'
is "and says whence" says "$out" 'recorded ones \(Our GPU'
out=$(with_prepared naive)
is "half of the rows are not enough" says "$out" 'recorded ones \(NVIDIA H200'
rm "$prepared"
is "with a GPU the lesson measures" says "$(cat live)" '\$ run naive,fa2 .*backend=cuda'
is "and says so" says "$(cat live)" 'pass .*live$'
is "with a driver and no GPU the recorded rows are the step's" says "$(cat none)" '^\[ok\] there are times'
is "with a driver and no GPU it opens the recording" says "$(cat none)" 'It is: fast [0-9.]+ < slow [0-9.]+'
printf '# Shown\n\n## One\n\nEach tile.\n\n```attnscope\nnote Wait for an answer.\nfigure smem fa2 gpu=L4\nplan fa2 gpu=L4\nexpect $1.waves > 0 : no\n```\n\n## Two\n\nEnd.\n' \
    >"$HOME/.local/share/attnscope/lessons/shown.md"
run_input 'words
explain wrap
q' lesson shown
is "a figure stands in the step" says "$out" 'Q Qs 8.50 KiB'
is "words of the step" says "$out" '^tile: '
is "an unknown word names the nearest" says "$out" 'did you mean "warp"'
is "a note is not for the learner" [ "$(printf '%s' "$out" | grep -c 'Wait for')" -eq 0 ]
run notes --follow count=1
is "notes follow the lesson" says "$out" '\* Wait for an answer'
run lesson notes shown
is "notes of a whole lesson" says "$out" 'step 2 of 2: Two'
run_input q lesson shown step=2
printf '# Shown\n\n## One\n\nEach tile.\n' >"$HOME/.local/share/attnscope/lessons/shown.md"
"$ATTNSCOPE" notes --follow count=1 >followed 2>&1 &
run_input q lesson asks --restart
wait
is "a step that a newer text of the lesson lacks has no notes: what comes next has" says "$(head -3 followed)" '^Asks, step 1 of'
rm live none followed "$HOME/.local/share/attnscope/lessons/asks.md" \
    "$HOME/.local/share/attnscope/lessons/shown.md"

printf '# Evil\n\n## S\n\n```attnscope\nrun naive > x\n```\n' \
    >"$HOME/.local/share/attnscope/lessons/evil.md"
printf '# Mine \033[31m\n\n## S\n\nText \033]0;x\007.\n' \
    >"$HOME/.local/share/attnscope/lessons/mine.md"
printf '# Thief\n\n## S\n\n```attnscope\nopen /etc/passwd\n```\n' \
    >"$HOME/.local/share/attnscope/lessons/thief.md"
run lessons
is "a lesson that opens a file is refused" says "$err" 'thief.md:6: open takes the name'
is "a lesson that redirects is refused, with file and line" says "$err" 'evil.md:6'
is "the user's own lesson is listed" says "$out" 'mine'
run_input '' lesson mine
is "no control character gets out" [ "$(printf '%s' "$out" | tr -d '\n\t' | tr -cd '\001-\037' | wc -c)" -eq 0 ]

# ---- a lesson of a MiB, figure upon figure: it takes memory in proportion ----
if command -v python3 >/dev/null; then
    # Under sanitizers memory is not judged, and what most directives draw takes them 12 s: there most of it is text.
    directives=8000 paragraphs=700
    ! grep -q __asan_init "$ATTNSCOPE" || { directives=800 && paragraphs=1250; }
    awk -v directives=$directives -v paragraphs=$paragraphs 'BEGIN { print "# T\n\nA lesson. 5 minutes.\n\n## One\n\nText.\n\n```attnscope"
        for (i = 0; i < directives; i++) print "figure smem fa2 gpu=L4 S=2k"
        print "```\n" ; for (i = 0; i < paragraphs; i++) { for (j = 0; j < 100; j++) printf "word%d ", j % 10; print "\n" } }' >big.md
    is "a lesson of nearly a MiB is checked in less than 256 MiB" python3 -c '
import resource, subprocess, sys
size = len(open("big.md").read())
p = subprocess.run([sys.argv[1], "lesson", "check", "big.md"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
print("# %d bytes, status %d, %d MiB" % (size, p.returncode, peak))
sys.exit(not (600000 < size <= 1 << 20 and p.returncode in (0, 1) and peak < (4096 if b"__asan_init" in open(sys.argv[1], "rb").read() else 256)))' "$ATTNSCOPE"
else
    skip "no python3"
fi
# ---- parentheses ----
p=$(printf '%065d' 0 | tr 0 '(') q=$(printf '%065d' 0 | tr 0 ')')
printf '/* @name deep\n@title T\n@dtypes f32\n@threads %s64%s\n@grid 1\n*/\n' "$p" "$q" >deep.cu
run kernel add deep.cu
is "65 nested parentheses are a sentence" says "$rc $err" '^2 .*deep.cu:4:[0-9]+: @threads: nested more than 64 deep'

# Every one on a page of 80 columns, as an author would ask; a clock decides none of it.
[ "${LESSONS:-}" != all ] || for lesson in $names; do
    run lesson check "$lesson" --csv
    is "$lesson fits its page" silent "$(printf '%s\n' "$out" | grep -E '^[^,]*,[0-9]+,(page|screen|figure|terms),problem,')"
done

run lesson first-visit step=2 </dev/null
is "answers to choose from are in lines that there is room for" [ -z "$(printf '%s\n' "$out" | grep -E '^.{81}')" ]
is "  with further lines below their text" says "$out" '^ {14}tile anyway$'
finish
