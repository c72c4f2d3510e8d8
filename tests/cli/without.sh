#!/bin/sh
# without=N: what each line that orders threads is there for, in every shipped kernel that the simulator runs.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=160 ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=/nonexistent/nvcc
src=${ATTNSCOPE_SRCDIR:-$OLDPWD}

# The lines of a kernel's source that have such a call, as the message lists them.
calls() { grep -nE '__sync(threads|warp)\(|wait_for_copies|cp_async_wait|__threadfence' "$src/kernels/cuda/$1.cu" | grep -vE '^[0-9]+: \*' | cut -d: -f1 | tr '\n' ' '; }

# ---- of fa2: each of three lines, and no fourth
run sanitize fa2 S=200 H=1 without=0
is "none is left out: clean" [ "$rc" -eq 0 ]
for n in 1 2 3; do
    run sanitize fa2 S=200 H=1 without=$n
    is "without $n: found" [ "$rc" -eq 1 ]
    line=$(calls fa2 | cut -d' ' -f$n)
    is "  which line is told, with its text" says "$out" "^  without fa2\.cu:$line, __sync"
    is "  a race" says "$out" '^race_'
done
run sanitize fa2 S=200 H=1 without=4
is "a fourth there is not" [ "$rc" -ne 0 ]
is "  and the three are listed" says "$err" "fa2 has 3 lines .*\($(calls fa2 | sed 's/ $//; s/ /, /g')\)"
run sanitize fa2 S=64 H=1 without=1
is "one tile: the first barrier guards nothing" [ "$rc" -eq 0 ]
is "  in one block" says "$out" 'no hazard in 1 block,'

# ---- who waits where, as far as a sentence goes
run sanitize fused_warp_spec B=1 H=1 S=200 D=64 f16 without=7
is "a deadlock of nine warps: told up to a whole one" says "$(printf '%s' "$out" | tr '\n' ' ' | tr -s ' ')" 'all warps of a block wait: .* lacks 64 arrivals and 0 bytes, warp 1 asks an mbarrier \(PTX line [0-9]+\), and others fused_warp_spec'

# ---- what is told of each
run sanitize fa2 S=200 H=1 without=1
all=$(printf '%s\n' "$out" | grep -c '^race_')
is "several reports" [ "$all" -gt 2 ]
lines=$(printf '%s' "$out" | tr '\n' '@')
is "the kernel's line, and the line of the function that it calls" says "$lines" \
    '  fa2\.cu:[0-9]+  block \(0,0,0\) warp [0-9]+ lane [0-9]+, writing@ +load_tile<BC, PITCH>\(Ks, [^@]*@ +in it attn\.cuh:[0-9]+: \*\(Vec<V> \*\)'
run sanitize fa2 S=200 H=1 without=1 limit=1
is "limit: one of them" [ "$(printf '%s\n' "$out" | grep -c '^race_')" -eq 1 ]
is "  and how many there are" says "$out" "^\.\.\. and $((all - 1)) more"
run sanitize fa2 S=200 H=1 without=1 limit=1 --csv
is "  rows are all there" [ "$(printf '%s\n' "$out" | grep -c ',race_')" -eq "$all" ]
run sanitize fa2 S=200 H=1 without=1 limit=0
is "  none is no number of reports" [ "$rc" -eq 2 ]
run sanitize fa2_mma_async S=200 H=1 without=1
is "mma.sync and cp.async: found, too" [ "$rc" -eq 1 ]
run sanitize splitkv_atomic S=200 H=1 without=1 --json
is "a row has it" says "$out" '"without":"splitkv_atomic.cu:[0-9]+"'

run sanitize fused_warp_spec S=400 H=1 without=7
is "an arrival that is missing is a deadlock" says "$out" '^deadlock:'
is "  and is told by its line" says "$out" '^  without fused_warp_spec.cu:[0-9]+, arrive\(empty'
run sanitize fused_warp_spec S=400 H=1 without=3
is "a wait for an mbarrier" says "$out" '^  without fused_warp_spec.cu:[0-9]+, barrier_wait\(full'
is "  found" [ "$rc" -eq 1 ]
run sanitize fa2_mma_async S=200 H=1 without=1
is "a wait for copies" says "$out" '^missing_wait:'
run sanitize splitkv_atomic S=200 H=1 SPLITS=4 without=5
is "a fence" says "$out" '^race_grid:'

# ---- Hopper: mbarriers that are not made yet, fences and waits of wgmma, a block that ends while another uses its memory
sm90() { run sanitize "$@" gpu=H200 S=300 H=1; }
sm90 fa3_warpspec D=64 without=2
is "the barrier behind the mbarriers' init" says "$out" '^race_block:'
sm90 fa3_warpspec D=64 without=10
is "a wgmma.fence before sums that are overwritten" says "$out" '^wgmma_fence:'
sm90 fa3_wgmma D=64 without=16
is "a wgmma.wait_group" says "$out" '^wgmma_register:'
sm90 fa3_wgmma D=64 without=6
is "a wait for an mbarrier of the copy engine" says "$out" '^missing_wait:'
sm90 splitkv_cluster D=64 without=5
is "the last meeting of a cluster" says "$out" '^cluster_exit:'

# ---- rows of runs
run check fa2 S=200 H=1 without=1 backend=sim --json
is "a run's row has it" says "$out" '"without":"fa2.cu:[0-9]+"'
is "  and fails" says "$out" '"check":"fail"'
is "  for a reason that begins with it" says "$out" '"reason":"without fa2.cu:[0-9]+: '
run check fa2 S=200 H=1 backend=sim --json
is "without the key there is none" says "$out" '"without":null'
run check fa2 S=64 H=1 without=1 backend=sim --json
is "what passes says so, too" says "$out" '"check":"pass".*"reason":"without fa2.cu:[0-9]+"'
run history --json
is "no such row is kept" silent "$(printf '%s' "$out" | grep 'without=1')"
run check fa2 S=64 H=1 without=1
is "the CPU's C version has no use for it" says "$err" 'no use for without.*backend=sim'
run check naive S=64 H=1 without=1 backend=sim
is "a kernel without such lines" says "$out$err" 'no line orders threads'

# ---- and held still
run -c 'debug fa2 S=200 H=1 f32 without=1 order=7; until hazard; list'
is "the debugger says what is missing" says "$out" '^fa2 without fa2.cu:[0-9]+, block'
is "  marks the line" says "$out" '^  +[0-9]+ -    +__syncthreads\(\)'
is "  and stops at the race" says "$out" '^hazard: warps of one block'
run -c 'debug fa2 S=200 H=1 without=9'
is "a line that is not there" says "$err" 'fa2 has 3 lines'
finish
