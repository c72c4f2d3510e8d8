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
is "no time, nothing begins" says "$err" '5 comparisons of ./mine.suite were not begun; the same line goes on with them'
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
    run "$srcdir/tools/thin-recording" g.rec
    is "thinned" "$srcdir/tools/thin-recording" g.rec
    run bench ./gpu.suite into=g.rec --no-store
    is "and gone on with" [ "$(grep -c '^{"type":"row"' g.rec)" -eq 12 ]
    unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC FAKECUDA
    run bench ./gpu.suite g.rec
    is "opened where there is none" [ "$(printf '%s\n' "$out" | grep -c ' 3 of 3$')" -eq 4 ]
    is "  recorded" says "$out" '^Few \| recorded \| '
    "$srcdir/tools/thin-recording" g.rec # whose seals a change would break
    sed 's/"source_hash":"[0-9a-f]*"/"source_hash":"00"/' g.rec >stale.rec
    run bench ./gpu.suite stale.rec
    is "  stale rows are told" says "$out" "^S=32 cold and hot, S=64 cold and hot: the kernel's source has changed since"
fi
finish
