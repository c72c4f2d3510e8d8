#!/bin/sh
# bench: a suite's table of ratios, measured in pieces, or of what recordings have.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
export COLUMNS=160
unset ATTNSCOPE_LIBCUDA
srcdir=${ATTNSCOPE_SRCDIR:?}

# ---- what there is ----
run bench
is "the suites are listed" says "$out" '^limit +[0-9]+ +To the limit'
run bench limt
is "a name that is none" says "$err" 'no suite "limt"; did you mean "limit"'
is "  is a mistake" [ "$rc" -eq 2 ]
run bench limit only=nowhere
is "no such line" says "$err" 'no line of limit has "nowhere"'
run bench limit into=x.rec
is "without a GPU nothing can be measured" says "$err" 'into= needs a GPU'
is "  and no file is made" [ ! -e x.rec ]
run bench limit sections=3
is "a key that is none" [ "$rc" -eq 2 ]

# ---- on a laptop: what is shipped ----
run bench limit
is "without a GPU it shows what is recorded" [ "$rc" -eq 0 ]
is "  with its origin" says "$out" '^Prefill, D=128, 16k tokens \| recorded \| NVIDIA H200 \| 20[0-9-]+'
is "  clocks and checks" says "$out" '^B=4 S=4k +cold +fa3_[a-z]+ .* 1[0-9]{3} .* ([0-9]+) of \1$'
is "  and means" says "$out" '^L2 cold: geometric mean [0-9.]+ of [0-9]+ ratios, lowest [0-9.]+ at B='
is "  and what was asked beside what was reached" says "$out" '^shape +L2 +ours +us +best peer +us +ratio +from +to +asked +goal'
is "  of all sections that have a mean in common" says "$out" '^Prefill, L2 cold: geometric mean [0-9.]+ of ([0-9]+ of )?24 ratios \(asked 1: (met|open|missed)\), lowest [0-9.]+ at Prefill, D='
run bench limit gpu=H200 only=D=64
is "gpu= names whose rows are shown" says "$out" '^Prefill, D=64, 16k tokens \| recorded \| NVIDIA H200 \|'
run bench limit 'only=D=64, 16k|D=256, 16k'
is "only= takes several" [ "$(printf '%s\n' "$out" | grep -c '^Prefill, D=64, 16k\|^Prefill, D=256, 16k')$(printf '%s\n' "$out" | grep -c '^Prefill, D=128')" = 20 ]
run bench limit gpu=L4
is "of another nothing is recorded, and the rest is told" [ "$(printf '%s\n' "$err" | grep -c 'rows of limit are of NVIDIA H200, and not shown: gpu= takes them')$rc" = 177 ]
run bench limit gpu=H2000
is "a GPU that is none" [ "$rc" -eq 2 ]
run bench limit h200 "only=D=128, 16k" --json
is "as JSON" says "$out" '"section":"Prefill, D=128, 16k tokens"'
is "  with the ratio" says "$(printf '%s' "$out" | tr -d '\n')" '"ratio":[0-9.]+,"ratio_lo"'

# ---- a suite of one's own, in pieces ----
cat >mine.suite <<'END'
# comment
title Mine
section Small ones
with H=1 f32 time=0.05 l2=both
ours fa2,naive
peers cpu_tiled
S=32 D=64
S=48 D=64 causal
section Longer
with H=1 f32 l2=hot time=0.05
S=96
END
run bench ./mine.suite backend=cpu into=m.rec seconds=0 --no-store
is "no time, nothing begins, and that is why" says "$err" 'the 0 s of seconds= are over: 5 comparisons of ./mine.suite were not begun; the same line goes on with them'
run bench ./mine.suite backend=cpu only=Longer seconds=60 --no-store
is "  of time that sufficed nothing is said" [ "$(printf '%s' "$err" | grep -c 'are over')" -eq 0 ]
run bench ./mine.suite backend=cpu into=m.rec only=S=48 --no-store
is "a part of it" [ "$rc" -eq 0 ]
is "  is measured with both caches" [ "$(printf '%s\n' "$out" | grep -Ec '^S=48 D=64 causal +(cold|hot) +(fa2|naive) +[0-9.]+ +cpu_tiled +[0-9.]+ +[0-9.]+ .* 3 of 3$')" -eq 2 ]
is "  live" says "$out" '^Small ones \| live \| '
is "  and kept" [ "$(grep -c '^{"type":"row"' m.rec)" -eq 6 ]
run bench ./mine.suite backend=cpu into=m.rec --no-store
is "the rest is measured, what is there is not" [ "$(grep -c '^{"type":"row"' m.rec)" -eq 15 ]
is "  and all of it shown" [ "$(printf '%s\n' "$out" | grep -c ' 3 of 3$')" -eq 5 ]
cp m.rec m2.rec
run bench ./mine.suite backend=cpu into=m.rec --no-store
is "nothing is left to measure" [ "$(grep -c '^{"type":"row"' m.rec)" -eq 15 ]
run bench ./mine.suite m2.rec
is "times of C kernels are none of a GPU" says "$err" 'nothing of ./mine.suite is recorded'
is "  with the status of a GPU that is not there" [ "$rc" -eq 77 ]
run bench ./mine.suite m2.rec backend=cpu
is "but of the CPU" [ "$(printf '%s\n' "$out" | grep -c ' 3 of 3$')" -eq 5 ]
run bench limit backend=cuda into=none.rec
is "a driver that is named and not there ends it" [ "$rc$(printf '%s\n' "$out" | grep -c '0 of 0$')" = 771 ]
sed 's/"source_hash":"[0-9a-f]*"/"source_hash":"00"/' m2.rec >old.rec
run bench ./mine.suite backend=cpu into=old.rec only=Longer --no-store
is "rows of another source are measured again" [ "$(grep -c '^{"type":"row"' old.rec)" -eq 18 ]
# what stands before the first section holds in all
cat >all.suite <<'END'
with H=1 f32 time=0.05 l2=hot backend=cpu
goal 0.000001
ours naive
peers cpu_tiled
section One
S=16
section Two
with D=32 H=2
goal -
S=16
section Three
S=24
END
sed -i 's/$/\r/' all.suite # of an editor on Windows
run bench ./all.suite backend=cpu --no-store --csv
is "with before the sections holds in all" [ "$(printf '%s\n' "$out" | grep -c 'B=1 H=1 S=\(16\|24\) D=64 f32,hot,naive,')" -eq 2 ]
is "  a section's own goes before it" says "$out" ',Two,S=16,B=1 H=2 S=16 D=32 f32,hot,naive,'
is "  and a goal likewise" [ "$(printf '%s\n' "$out" | grep -c '^[^,]*,[A-Z].*,met,')" -eq 2 ]
# a goal is met, missed or open, never met by figures in doubt
cat >goals.suite <<'END'
ours naive
peers fa2
section Far
with H=1 f32 time=0.3 l2=hot
goal 0.001
mean 1000 F
S=32 D=64
goal 1000 hot
S=40 D=64
goal -
S=48 D=64
section Farther
with H=1 f32 time=0.3 l2=hot D=64
mean 0.0001
goal 2 cold
rate 0.001
S=56
rate 1000000
S=64
END
run bench ./goals.suite backend=cpu into=goals.rec --no-store
is "a goal that is reached is met" says "$out" '^S=32 D=64 +hot .* 0\.0010 +met '
is "  one out of reach is missed" says "$out" '^S=40 D=64 +hot .* 1000 +missed '
is "  where nothing is asked nothing is said" says "$out" '^S=48 D=64 +hot +naive [^a-z]+ fa2( +[0-9.]+){4} +- +- '
is "  nor of other caches, nor in the next section" says "$out" '^S=56 +hot +naive [^a-z]+ fa2( +[0-9.]+){4} +[0-9]'
is "goals are counted" says "$out" '^L2 hot: geometric mean [0-9.]+ of 3 ratios, lowest [0-9.]+ at S=.*; goals: 1 met, 1 missed$'
is "  a section's mean has one" says "$out" '^L2 hot: geometric mean [0-9.]+ of 2 ratios \(asked 0\.0001[0-9]*: met\), lowest'
is "  a rate that is asked" says "$out" '^ours moves [0-9.]+ GB/s at S=56 hot \(asked 0\.0010*: met\), [0-9.]+ GB/s at S=64 hot \(asked [^ ]+: missed\)$'
is "  and all that begin alike" says "$out" '^F, L2 hot: geometric mean [0-9.]+ of 5 ratios \(asked 1000: missed\), lowest [0-9.]+ at Far'
run bench ./goals.suite backend=cpu goals.rec only=Farther
is "a mean of a part meets nothing, and says of how many" says "$out" '^F, L2 hot: geometric mean [0-9.]+ of 2 of 5 ratios \(asked 1000: open\)'
run bench ./goals.suite backend=cpu goals.rec --json
is "as JSON" says "$(printf '%s' "$out" | tr -d '\n')" '"goal":0.001,"met":"met".*"goal":1000[.0]*,"met":"missed".*"goal":null,"met":null'
run bench ./goals.suite backend=cpu goals.rec --md
is "as Markdown: a heading, a table, a list" says "$(printf '%s' "$out" | sed -n '1p;2p;3p;9p;10p' | tr '\n' '~')" '^### Far .*~~\| shape .*~~?- L2 hot: geometric mean'
"$srcdir/tools/thin-recording" goals.rec
sed 's/"source_hash":"[0-9a-f]*"/"source_hash":"00"/' goals.rec >doubt.rec
run bench ./goals.suite doubt.rec backend=cpu
is "of sources that have changed it is open" says "$out" '^S=32 D=64 +hot .* 0\.0010 +open '
is "  and the means say how many are" says "$out" '^F, L2 hot: .* \(asked 1000: open\).*; 5 of them of sources that have changed since$'
sed '/"kernel":"fa2"/{s/"samples_us":\[[^]]*\]/"samples_us":[9]/}' goals.rec >few.rec
run bench ./goals.suite few.rec backend=cpu
is "few samples have no interval, and meet nothing" says "$out" '^S=32 D=64 +hot .* - +- +0\.0010 +open '
is "  which is said once for all" says "$out" '^all: too few samples for an interval$'
grep -v '"kernel":"fa2"' goals.rec >alone.rec
run bench ./goals.suite alone.rec backend=cpu
is "without the others there is no ratio" says "$out" '^all: no peer has a time that passed its check$'
sed 's/^ours naive/ours naive,splitkv/; s/^peers fa2/peers fa2,cpu_tiled/' goals.suite >more.suite
run bench ./more.suite goals.rec backend=cpu
is "who was not measured is named" says "$out" '^all: without splitkv; without cpu_tiled$'
is "  and the goal is open, for the best may be among them" says "$out" '^S=40 D=64 +hot .* 1000 +open '
# a table is of one device
sed 's/"device":"[^"]*"/"device":"Another"/' goals.rec >other.rec
head -2 other.rec | tail -1 >>goals.rec
run bench ./goals.suite goals.rec backend=cpu
is "a table is of one device: that of most rows" says "$err" '^attnscope: 1 rows of ./goals.suite are of Another, and not shown'
is "  whose figures stay" says "$out" '^S=32 D=64 +hot .* 0\.0010 +met '
for bad in 'goal fast' 'goal 0' 'goal 1 warm' 'mean' 'goal inf' 'rate 3 GB/s'; do
    printf 'ours fa2\n%s\nS=32\n' "$bad" >bad.suite
    run bench ./bad.suite backend=cpu
    is "\"$bad\" is a mistake, with its line" says "$rc$err" '^2.*bad.suite:2: '
done
# what was stopped is no measurement
sed 's/"stopped":"[a-z]*"/"stopped":"cancel"/' m2.rec >cut.rec
"$srcdir/tools/thin-recording" cut.rec
run bench ./mine.suite cut.rec backend=cpu
is "what was stopped is told" says "$out" '^all: stopped before its end'
run bench ./mine.suite backend=cpu into=cut.rec only=Longer --no-store
is "rows that were stopped are measured again" [ "$(grep -c '^{"type":"row"' cut.rec)" -eq 18 ]
printf 'S=32\n' >bad.suite
run bench ./bad.suite backend=cpu
is "a shape before any kernel" says "$err" 'bad.suite:1: a shape stands before any line "ours"'
printf 'ours nosuch\nS=32\n' >bad.suite
run bench ./bad.suite backend=cpu
is "a kernel that is none" says "$err" 'nosuch'
is "  before anything is measured" [ "$rc" -eq 2 ]

# ---- a GPU, as the fake driver plays it ----
if [ -n "${ATTNSCOPE_FAKECUDA:-}" ]; then
    export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_FAKECUDA/fakecuda.so" FAKECUDA="us=50"
    cat >gpu.suite <<'END'
section Few
with H=2 f16 D=64 l2=both n=8
ours fa2,splitkv
peers naive
S=32
S=64
END
    run bench ./gpu.suite into=g.rec only=S=32 --no-store
    is "measured where a GPU is" says "$out" '^S=32 +hot +(fa2|splitkv) +[0-9.]+ +naive .* 3 of 3$'
    cat >refuses.suite <<'END'
section Few
with H=2 f16 D=64 l2=hot n=8
ours fa2,splitkv_columns@WARPS=4@KEYS=16
peers naive
goal 2
S=128
END
    run bench ./refuses.suite --no-store
    is "one of ours that does not take the shape leaves no goal open" says "$out" '^S=128 +hot +fa2 .* 2(\.0)? +met '
    is "  and is not missed" [ "$(printf '%s\n' "$out" | grep -c without)" -eq 0 ]
    run "$srcdir/tools/thin-recording" g.rec
    is "thinned" "$srcdir/tools/thin-recording" g.rec
    run bench ./gpu.suite into=g.rec --no-store
    is "and gone on with" [ "$(grep -c '^{"type":"row"' g.rec)" -eq 12 ]
    unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC FAKECUDA
    run bench ./gpu.suite g.rec
    is "opened where there is none" [ "$(printf '%s\n' "$out" | grep -c ' 3 of 3$')" -eq 4 ]
    is "  recorded" says "$out" '^Few \| recorded \| '
    run_input "set backend=cpu
bench ./gpu.suite g.rec"
    is "  also in a session that measures with another backend" [ "$(printf '%s\n' "$out" | grep -c ' 3 of 3$')" -eq 4 ]
    cp g.rec h.rec
    "$srcdir/tools/thin-recording" h.rec
    sed -i 's/NVIDIA H200/NVIDIA L4/' h.rec
    "$srcdir/tools/thin-recording" h.rec
    export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_FAKECUDA/fakecuda.so" FAKECUDA="us=50"
    run_input "check naive S=16 H=1
bench ./gpu.suite into=h.rec --no-store"
    is "a file of another GPU is not gone on with" says "$err" 'h.rec has rows of NVIDIA L4, and the GPU here is H200: name another file'
    unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC FAKECUDA
    "$srcdir/tools/thin-recording" g.rec # whose seals a change would break
    sed 's/"source_hash":"[0-9a-f]*"/"source_hash":"00"/' g.rec >stale.rec
    run bench ./gpu.suite stale.rec
    is "  stale rows are told" says "$out" "^all: the kernel's source has changed since"
fi
finish
