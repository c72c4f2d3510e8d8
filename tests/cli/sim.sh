#!/bin/sh
# backend=sim, sanitize and profile without a GPU: CUDA kernels by the simulator of their PTX.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2086  # lib.sh gives tmp, rc, out and err; shapes are words
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=160
src=${ATTNSCOPE_SRCDIR:-$OLDPWD}
case $src in /*) ;; *) src=$OLDPWD/$src ;; esac

sim() { run "$@" backend=sim; }
# The value of a field of the first row.
field() { printf '%s' "$out" | sed -n "s/.*\"$1\":\\([^,}]*\\)[,}].*/\\1/p" | head -1; }
# Is it a number, and greater?
above() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == a && a > b) }'; }
not() { ! "$@"; }
# Lines of a text with the pattern.
lines() { printf '%s\n' "$1" | grep -Ec -- "$2"; }

# ---- right, on ragged, causal, grouped and long-layout shapes, for kernels of every kind
while read -r kernels shape; do
    sim check $kernels $shape
    is "right: $kernels $shape" [ "$rc" -eq 0 ]
    is "without a hazard: $kernels" [ "$(lines "$out" ' 0  pass ')" -eq "$(echo "$kernels" | tr , '\n' | wc -l)" ]
done <<'LIST'
qtile_seq,naive,splitkv S=72 H=2 D=32
fa2 S=100 H=2 D=64 f32 causal
fa2_mma Sq=70 Sk=130 H=2 D=64 causal
row_online S=40 H=4 Hkv=2 D=64 bf16 layout=bshd
decode_splitkv Sq=2 Sk=300 H=4 Hkv=2 D=64
decode_atomic Sq=2 Sk=300 H=4 Hkv=2 D=64
decode_cluster,decode_tma Sq=2 Sk=300 H=4 Hkv=2 D=64
splitkv_cluster,splitkv_columns,splitkv_wgmma S=100 H=2 D=64 causal
fa2_mma_short Sq=70 Sk=50 H=4 Hkv=2 D=40 causal layout=bshd
bigd_cluster S=40 H=2 D=512 f32 causal
bigd_cluster S=2 H=1 D=8192 f32
bigd_mma S=40 H=2 D=512 f32 causal
LIST

# ---- sums are those of the GPU's tensor cores, which cut off: a kernel that hides it, and the same with one sum for all of a row
one_sum=$HOME/.local/share/attnscope/kernels/one_sum.cu
cut="H=1 Sq=2 Sk=385 D=256 f32 input=mean gpu=H200"
sim check bigd_mma $cut --json
is "small parts and each key tile in sums of their own: right on an H200" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass"'
h200=$(field rms_diff)
sim check bigd_mma $cut gpu=B200 --json
is "of a B200 it is not known how it adds: to nearest, which is nearer" above "$h200" "$(field rms_diff)"
mkdir -p "${one_sum%/*}"
# All parts go to one sum, which begins with that of the tiles before.
sed -e 's/bigd_mma/one_sum/' -e 's/multiply_tf32(part\[\(1\|PARTS - 1\)\], /multiply_tf32(part[0], /' \
    -e '/^        add_values(o, v, left, Ps, out_query);/i\
        for (int i = 0; i < OUT_UNITS * OUT_TILES * 4; i++) outputs[i / 4 / OUT_TILES][i / 4 % OUT_TILES].x[i % 4] = 0;\
        join_outputs(outputs, Os, cs, k0 > 0, false);\
        for (int i = 0; i < OUT_UNITS * OUT_TILES * 4; i++)\
            o[i / 4 / OUT_TILES][i / 4 % OUT_TILES].part[0][i % 4] = outputs[i / 4 / OUT_TILES][i / 4 % OUT_TILES].x[i % 4];' \
    -e 's/^        if (k0 > 0 || !last)$/        if (!last)/' \
    -e 's/join_outputs(outputs, Os, cs, k0 > 0, !last)/join_outputs(outputs, Os, cs, false, true)/' \
    "$src/kernels/cuda/bigd_mma.cu" >"$one_sum"
sim check one_sum $cut
if says "$out$err" '(nvcc|clang|NVRTC)' && ! says "$out$err" 'rms_diff'; then
    skip "nothing here compiles CUDA"
else
    is "one sum for all is wrong on an H200: status 1" [ "$rc" -eq 1 ]
    is "by the error of all" says "$out" '^one_sum: rms_diff .* is over .*, 2.5 times that of a plain evaluation'
    sim check one_sum $cut gpu=B200
    is "and right where sums are rounded to nearest" [ "$rc" -eq 0 ]
fi
rm -f "$one_sum"

# ---- rows
sim check fa2_mma S=128 H=1 --json
is "a row says what it is" says "$out" '"backend":"sim".*"origin":"sim"'
is "it has no time" [ "$(field median_us)" = null ]
is "but a predicted one" above "$(field predicted_us)" 2
is "on the GPU of plans" [ "$(field predicted_on)" = '"L4"' ]
is "with the error of a model that was not fitted to it" above "$(field predicted_error_pct)" 15
is "and what most of it goes to" says "$(field predicted_binds)" '^"[a-z_0-9]+"$'
is "whose PTX" says "$out" '"ptx":"nvcc [0-9.]+"'
is "warp instructions" [ "$(field warp_instructions | cut -d. -f1)" -gt 1000 ]
is "tensor instructions" [ "$(field tensor_ops | cut -d. -f1)" -gt 100 ]
is "wavefronts are no fewer than the ideal" \
    [ "$(field smem_wavefronts | cut -d. -f1)" -ge "$(field smem_wavefronts_ideal | cut -d. -f1)" ]
is "all blocks were run" [ "$(field blocks)" = "$(field blocks_run)" ]
is "hazards were looked for" [ "$(field hazards)" = 0 ]
first=$(field warp_instructions),$(field smem_wavefronts),$(field global_sectors),$(field active_lanes)
sim check fa2_mma S=128 H=1 threads=1 --json
is "counts do not hang on threads" [ "$first" = "$(field warp_instructions),$(field smem_wavefronts),$(field global_sectors),$(field active_lanes)" ]

# The score matrix of naive is read and written by three launches: sums over them.
sim run naive,qtile_seq S=64 H=1 f32
is "run has counts in place of times" says "$out" '^kernel +warp instr'
is "and a check" [ "$(lines "$out" '^(naive|qtile_seq) .* pass ')" -eq 2 ]

# ---- predictions
sim run fa2 S=256 H=2 gpu=H200 --json
is "another GPU" [ "$(field predicted_on)" = '"H200"' ]
is "its own error" [ "$(field predicted_error_pct | cut -d. -f1)" -lt 20 ]
is "no time for all that" [ "$(field median_us)" = null ]
sum=$(printf '%s' "$out" | grep -o '"us":[0-9.e+-]*' | cut -d: -f2 | LC_ALL=C awk '{ s += $1 } END { printf "%.6g", s }')
is "the parts are the whole: $sum" [ "$sum" = "$(LC_ALL=C awk -v x="$(field predicted_us)" 'BEGIN { printf "%.6g", x }')" ]
is "what was counted by phase is not printed" not says "$out" counted_phases
slow=$(field predicted_us)
sim run fa2 S=2k H=8 gpu=H200 --json
is "more work takes longer" above "$(field predicted_us)" "$slow"
sim run fa2 S=256 H=2 gpu=MI300X --json
is "no CUDA device: no time" [ "$(field predicted_us)" = null ]
is "and why" says "$out" '"predicted_note":"[^"]+'
sim run fa2 S=256 H=2 gpu=H200
is "below the table for whom, and how far off" says "$out" '^model, on H200 \(off by [0-9]+ %'
is "what it goes to" says "$out" '^  fa2: [0-9.]+ us: .* [0-9]+ %'
is "as a bar, with its letters" says "$out" '^ *a [a-z].* [0-9]+ %  b '
is "that has its error" says "$out" '^ *fa2 +a+b+.* us .*[0-9]+ %$'
run -c 'run fa2,fa2_keys S=64 H=2 backend=sim gpu=H200; export p.svg; export p.gp'
is "as a picture" says "$(cat p.svg)" 'predicted time on H200'
is "for gnuplot too" says "$(cat p.gp)" 'rowstacked'
sim profile fa2,fa2_mma S=256 H=2 gpu=H200 --json
is "profile has it, too" says "$out" '"predicted_us":[0-9.]+.*"predicted_on":"H200","predicted_error_pct":[0-9]+.*"predicted_binds":"[a-z_]+"'
is "and the order" says "$out" '"predicted_verdict":"FASTER"'
sim profile fa2 S=256 H=2 gpu=A100
is "below its tables" says "$out" '^model, on A100-80GB \(not fitted'
sim compare fa2,fa2_mma,fa2_keys S=512 H=2 gpu=H200
is "far apart: an order" says "$out" 'predicted FASTER'
is "near: none" says "$out" 'too close to tell'
sim compare fa2,fa2_keys S=512 H=2 gpu=H200 --json
is "as fields" says "$out" '"predicted_verdict":"AMBIGUOUS"'
is "never the measured ones" [ "$(field verdict)" = null ]

# ---- compare
sim compare qtile_seq,fa2 S=64 H=1 f32
is "compare stands" [ "$rc" -eq 0 ]
is "without a verdict, in words" says "$out" 'no verdict on time'
sim compare qtile_seq,fa2 S=64 H=1 f32 --fail-on=slower
is "a gate on time is refused" [ "$rc" -eq 2 ]
is "in words" says "$err" 'needs times'

# ---- what is no kernel for it
sim check cublas S=64
is "a library has a reason" says "$out$err" 'another library'

# ---- Hopper: TMA, mbarriers that count bytes, wgmma; from the PTX that is shipped
for k in fa3_wgmma fa3_warpspec fa3_pingpong fa3_overlap fa3_persistent fa3_streamk bigd_split bigd_rows bigd_unfused; do
    sim check $k S=200 D=64 H=2 Hkv=1 causal=1 gpu=H200 --json
    is "$k is right, and has no hazard" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass".*"hazards":0,'
    is "$k has a predicted time" says "$out" '"predicted_us":[0-9]'
done
# Parameters beside the defaults, where something compiles them. Two warpgroups have all registers that there can be, and move
# none; blocks of a cluster that own no rows wait for no scores, so nothing may come to them that they may have ended before; with
# an odd number of 16 columns a lane's neighbours in bigd_mma belong to two units, of which the last is not there.
while read -r kernels shape; do
    sim check $kernels $shape gpu=H200
    if says "$out$err" 'nothing here compiles it'; then
        skip "nothing here compiles CUDA: $kernels $shape"
    else
        is "with other parameters: $kernels $shape" [ "$rc/$(lines "$out" ' 0  pass ')" = "0/$(echo "$kernels" | tr , '\n' | wc -l)" ]
    fi
done <<'LIST'
fa3_warpspec,fa3_pingpong,fa3_overlap,fa3_persistent BR=64 S=70 D=64 H=1 causal
bigd_cluster BR=4 S=36 D=64 H=1 f32 causal
bigd_cluster BR=16 CLUSTER=6 S=20 D=64 H=1 f32
bigd_mma BR=8 BC=16 CLUSTER=1 S=36 D=80 H=1 f32 causal
LIST
# A product is a product: tiles that divide the shape evenly make as many, by wgmma or by mma.sync.
sim run fa2_mma,fa3_wgmma,fa3_warpspec S=384 H=1 D=64 gpu=H200 hazards=off BR=128 BC=128 --json
ops=$(printf '%s' "$out" | grep -o '"tensor_ops":[0-9]*' | sort -u)
is "wgmma's products are counted as those of mma.sync" [ "$ops" = '"tensor_ops":9216' ]
# 1 query tile of 16 key tiles for 2 blocks; 5 of 9 for 4: a whole one each, and 9 key tiles in pieces.
for shape in "Sq=128 Sk=2048 H=1 BLOCKS=2" "Sq=640 Sk=2300 H=1 BLOCKS=4"; do
    sim check fa3_streamk $shape D=128 --json
    is "pieces of a tile are added up: $shape" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass".*"hazards":0,'
done
# Where queries are, and when outputs leave, changes no sum: pieces, grouped heads, a mask, columns and rows that fill no tile.
for shape in "H=3 Sq=250 Sk=2300 BLOCKS=4 D=128" "B=2 H=4 Hkv=2 Sq=333 Sk=400 D=128 causal BLOCKS=3" "H=2 Sq=300 Sk=200 D=72 bf16 layout=bshd BLOCKS=2"; do
    sim check fa3_streamk QREG=0 BORDER=0 $shape gpu=H200 --json
    sums=$(printf '%s' "$out" | grep -o '"\(max\|mean\|rms\)_diff":[^,]*')
    for form in "QREG=1 BORDER=0" "QREG=0 BORDER=1" "QREG=1 BORDER=1"; do
        sim check fa3_streamk $form $shape gpu=H200 --json
        if says "$out$err" 'nothing here compiles it'; then
            skip "nothing here compiles CUDA: $form $shape"
        else
            is "$form: right, no hazard: $shape" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass".*"hazards":0,'
            is "$form: the same sums" [ "${sums:-none}" = "$(printf '%s' "$out" | grep -o '"\(max\|mean\|rms\)_diff":[^,]*')" ]
        fi
    done
done
sim check bigd_split S=130 D=512 H=1 --json
is "a slot of its ring is free when both warpgroups have read it" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"hazards":0,'
sim check bigd_rows Sq=150 Sk=200 D=512 H=1 bf16 input=large --json
is "two blocks share the rows of the softmax" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass".*"hazards":0,'
# Bases that differ from tile to tile; many tiles a block, blocks without rows, rows without a key.
sim check bigd_unfused Sq=150 Sk=1100 D=320 H=1 bf16 input=large BLOCKS=4 --json
is "weights go through memory, K and V to two blocks at once" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass".*"hazards":0,'
sim check bigd_unfused Sq=300 Sk=100 D=72 H=1 causal=1 CLUSTER=4 --json
is "and to four" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass".*"hazards":0,'
sim check bigd_split S=130 D=1024 H=1 bf16 --json
is "two blocks of a cluster add up their scores" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass"'
# A draft whose blocks wait for blocks of any number: a thread for each cluster, so that all run at once.
run kernel add "$src/kernels/drafts/bigd_joined.cu"
for shape in "Sq=300 Sk=700 D=72 H=2 Hkv=1 BLOCKS=4 causal=1" "S=300 D=264 H=1 CLUSTER=1 BLOCKS=4 bf16 input=large"; do
    sim check bigd_joined $shape threads=4 gpu=H200 --json
    if says "$out$err" 'nothing here compiles it'; then
        skip "nothing here compiles CUDA: bigd_joined $shape"
    else
        is "both products in one launch: $shape" says "$rc$(echo "$out" | tr -d '\n')" '^0.*"check":"pass".*"hazards":0,'
    fi
done

# ---- representative blocks: the counts are those of all
same_counts() { # kernel and shape
    sim run $1 blocks=all hazards=off --json
    all=$(field warp_instructions),$(field smem_wavefronts),$(field global_sectors),$(field tensor_ops),$(field barriers)
    sim run $1 blocks=some hazards=off --json
    is "some blocks stand for all: $1" \
        [ "$all" = "$(field warp_instructions),$(field smem_wavefronts),$(field global_sectors),$(field tensor_ops),$(field barriers)" ]
    is "fewer were run" [ "$(field blocks_run)" -lt "$(field blocks)" ]
    is "the row says so, and has no check" says "$out" '"check":null.*stand for the others'
}
same_counts "fa2 S=500 H=8 D=32 f32"
same_counts "fa2 Sq=390 Sk=400 H=8 D=32 causal"
same_counts "fa2_mma S=400 H=8 Hkv=2 B=2 D=64"
same_counts "row_full S=50 H=8 D=32"
sim run qtile_seq S=200 H=8 D=32 f32 blocks=some --json
is "blocks whose branches hang on the data stand for nobody" [ "$(field blocks_run)" = "$(field blocks)" ]
sim run splitkv S=300 H=8 D=32 blocks=some --json
is "passes that read other blocks' output run whole" [ "$(field blocks_run)" = "$(field blocks)" ]
is "and are checked" [ "$(field check)" = '"pass"' ]

# ---- a few blocks: what they are taken for is near what all do, and every kernel has its first time at once
near() { LC_ALL=C awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !(a > 0 && b > 0 && a / b < by && b / a < by) }'; }
for k in "fa2 S=500 D=64" "fa2 S=600 D=64 causal" "splitkv S=512 D=64" "naive S=300 D=64 f32" "row_online S=70 D=64"; do
    sim run $k H=4 blocks=all hazards=off --json
    all=$(field predicted_us)
    sim run $k H=4 blocks=few hazards=off --json
    is "few blocks tell the time of all: $k: $all $(field predicted_us)" near "$all" "$(field predicted_us)" 1.05
    is "fewer were run: $k" [ "$(field blocks_run)" -lt "$(field blocks)" ]
done
# Passes and blocks that read what others would have written find no fault in it.
for k in "splitkv S=1024 causal" "naive S=512" "decode_atomic Sq=1 Sk=4096" "decode_splitkv Sq=1 Sk=4096"; do
    sim run $k H=8 D=64 f16 blocks=few --json
    is "few blocks accuse nobody: $k" [ "$rc $(field hazard)" = '0 null' ]
done
sim run row_online S=70 D=64 H=4 blocks=few --json
is "and nobody says that it is proven" says "$out" '"check":null.*without a proof'

# ---- profile
sim profile qtile_seq S=72 H=1 D=32 by=line
is "lines of the source" says "$out" '^qtile_seq\.cu:[0-9]+ \(attn\.cuh:[0-9]+\) '
is "with their text" says "$out" '__syncthreads|const|for|acc'
sim profile qtile_seq S=72 H=1 D=32 by=phase --json
is "phases between barriers" [ "$(lines "$out" '"phase":')" -ge 3 ]
is "what nobody traces to a place is unknown, not 0" says "$out" '"dram_bytes":null,"dram_read_bytes":null,"dram_write_bytes":null,"l2_bytes":null'
is "what a warp waits for in them" says "$out" '"chain_cycles":[0-9.]+,"waits_for":"(alu|global|shared|issue)"'
run -c "profile qtile_seq S=72 H=1 D=32 backend=sim by=phase; explain waits_for"
is "explain says what that means" says "$out" '^waits_for: What most of these cycles wait for'
sim profile qtile_seq S=128 H=1 by=phase --json
is "two of its eight warps multiply, the others wait" says "$out" '"warp_imbalance":3\.9'
sim profile qtile_seq S=72 H=1 D=32 by=block
is "of all it is known" [ "$(sim profile qtile_seq S=72 H=1 D=32 --json; field dram_bytes | cut -d. -f1)" -gt 0 ]
is "by= has its words" [ "$rc" -eq 2 ]

# ---- sanitize
run sanitize qtile_seq
is "a clean kernel: status 0" [ "$rc" -eq 0 ]
is "in words, on a small ragged shape" says "$out" 'S=200 .*no hazard'
run sanitize fa2_mma,row_online D=64 --json
is "clean rows" [ "$(lines "$out" '"kind":null.*"check":"pass"')" -eq 2 ]

# A kernel of one's own that does not leave clear what it promises to.
mkdir -p "$HOME/.local/share/attnscope/kernels"
dirty=$HOME/.local/share/attnscope/kernels/dirty.cu
sed -e "/^#include \"counted.cuh\"/{
r $src/kernels/cuda/counted.cuh
d
}" "$src/kernels/cuda/decode_atomic.cu" | sed -e 's/^ \* @name.*/ * @name dirty/' -e 's/ decode_atomic(const/ dirty(const/' -e '/^#pragma once/d' \
    -e 's/atomicInc(\(.*\), blocks - 1) == blocks - 1/atomicAdd(\1, 1) == (unsigned)blocks - 1/' >"$dirty"
run check dirty Sq=2 Sk=300 H=4 Hkv=2 D=64 f16 backend=sim
if says "$out$err" '(nvcc|clang|NVRTC)' && ! says "$out$err" 'workspace arrived'; then
    skip "nothing here compiles CUDA"
else
    is "a counter that is not set back is told" says "$out" '^dirty: it did not leave its workspace arrived clear .* byte 0 is'
fi
rm -f "$dirty"

# A kernel of one's own that lacks a barrier, where something compiles it.
mkdir -p "$HOME/.local/share/attnscope/kernels"
mine=$HOME/.local/share/attnscope/kernels/mine.cu
sed -e 's/^ \* @name.*/ * @name mine/' -e 's/qtile_seq(const/mine(const/' "$src/kernels/cuda/qtile_seq.cu" |
    awk '/__syncthreads\(\);/ && ++n == 2 { sub(/__syncthreads\(\);/, "") } { print }' >"$mine"
run sanitize mine f32 D=32
if says "$out$err" 'not run: .*(nvcc|clang|NVRTC)'; then
    skip "nothing here compiles CUDA"
else
    is "a race: status 1" [ "$rc" -eq 1 ]
    is "it is told" says "$out" '^race_block: '
    is "with its line" says "$out" 'mine\.cu:[0-9]+'
    is "with the element" says "$out" '[KV]s(\[[0-9]+\])+'
    is "each pair of lines once: what was unrolled is one finding" [ "$(printf '%s\n' "$out" | awk '
        /^[a-z_]+: / { print kind, a, b; kind = $1; a = b = "" }
        /^  mine\.cu:/ { if (a == "") a = $1; else b = $1 $NF }
        END { print kind, a, b }' | grep . | sort | uniq -d | wc -l)" -eq 0 ]
    is "with both parties" [ "$(lines "$out" 'block \([0-9,]*\) warp [0-9]+ lane [0-9]+, (writing|reading)')" -ge 2 ]
    sim check mine f32 S=72 H=1 D=32
    is "check fails for it" [ "$rc" -eq 1 ]
    sim check mine f32 S=72 H=1 D=32 --json
    is "and says why" says "$out" '"hazard":"[^"]*(bytes|barrier)'
    run sanitize mine f32 D=32 --json
    is "rows for programs" says "$out" '"kind":"race_block".*"second_place":"mine\.cu'
    # What fails on the small shape that is tried first is the row, and says that it is not of the asked one.
    if [ ! -e /dev/nvidiactl ]; then
        unset ATTNSCOPE_LIBCUDA
        run check mine f32 D=32 S=512 H=8
        is "it fails on a small shape already" [ "$rc" -eq 1 ]
        is "and says of which shape it is" says "$out" '^B=1 H=2 S=200 D=32 f32'
        is "and that it was not the one asked for" says "$out" 'simulated on a smaller shape, where it fails already'
        run check mine f32 D=32 S=72 H=1
        is "of the asked shape there is no such word" not says "$out" 'smaller shape'
        export ATTNSCOPE_LIBCUDA=none
    fi
    # A block without an end is told with the line of the source.
    sed -e 's/^    const int q0 = .*/&\n    while (a.Sq) asm volatile("");/' "$src/kernels/cuda/qtile_seq.cu" |
        sed -e 's/^ \* @name.*/ * @name mine/' -e 's/qtile_seq(const/mine(const/' >"$mine"
    line=$(grep -n 'while (a.Sq)' "$mine" | cut -d: -f1)
    sim check mine f32 D=32 S=16 H=1 hazards=off
    is "an endless block fails" [ "$rc" -eq 1 ]
    is "its line is told" says "$out$err" "block 0 does not end: .* it is at mine\.cu:$line"
    run sanitize mine f32 D=32 S=16 H=1
    is "sanitize says the same: status 1" [ "$rc" -eq 1 ]
    is "a hazard with its line" says "$out" "^  mine\.cu:$line  block"
    is "and not that it was not run" not says "$out" 'not run'
    run sanitize mine f32 D=32 S=16 H=1 --json
    is "and a row for programs" says "$out" "\"kind\":\"endless\".*\"line\":$line"
fi

# ---- times of several shapes are each said to be of theirs
printf 'S=16\nS=32\n' > two.txt
sim run fa2 H=1 D=64 shapes=two.txt gpu=H200
is "the model's time of a shape has its shape" says "$out" '^  fa2, B=1 H=1 S=32 D=64 f16: [0-9.]+ us: '

# ---- what the GPU of gpu= would not launch is right here, and that is said
sim check fa3_wgmma S=64 H=1 D=64 gpu=L4
is "it is right" [ "$rc" -eq 0 ]
is "and no L4 runs it" says "$out" '^model, on L4:'
is "  for this reason" says "$out" '^  fa3_wgmma: no time: fa3_wgmma needs sm == 90; sm is 89'

# ---- limits
ATTNSCOPE_SIM_SECONDS=0.2 run check naive S=2k H=8 backend=sim blocks=all
is "time is bounded" [ "$rc" -eq 3 ]
is "and it is said" says "$out$err" '0\.2 s'
finish
