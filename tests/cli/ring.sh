#!/bin/sh
# ring, and gpus=N of runs by the simulator: planned and counted figures are the same, results are right.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2086  # lib.sh gives tmp, rc, out and err; shapes are words
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=160 ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=/nonexistent/nvcc
src=${ATTNSCOPE_SRCDIR:-$OLDPWD}
case $src in /*) ;; *) src=$OLDPWD/$src ;; esac

# The value of a field of the first row.
field() { printf '%s' "$out" | sed -n "s/.*\"$1\":\\([^,}]*\\)[,}].*/\\1/p" | head -1; }
same() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == b + 0 && a > 0) }'; }
above() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == a && a > b) }'; }

# ---- what ships is of this source
is "the merge's PTX is of its source" [ "$(head -1 "$src/kernels/ring/merge.ptx")" = "// merge.cu $(cksum < "$src/kernels/ring/merge.cu")" ]

# ---- right, and the bytes that the plan says
while read -r kernel gpus shape; do
    run ring $kernel $shape gpus=$gpus gpu=H200 --json
    planned=$(field link_bytes)
    run check $kernel $shape gpus=$gpus backend=sim --json
    is "right: $kernel on $gpus GPUs, $shape" says "$out" '"check":"pass"'
    is "  without a hazard" says "$out" '"hazards":0,'
    is "  $planned bytes on the links, as planned" same "$planned" "$(field link_bytes)"
    is "  of $gpus GPUs" [ "$(field gpus)" = "$gpus" ]
done <<'LIST'
fa2 4 S=96 H=2 causal
fa2 2 S=75 H=2 f32 causal
fa2_mma 4 S=200 H=4 Hkv=2 bf16 causal
splitkv 3 Sq=40 Sk=90 H=2
naive 5 S=64 H=1 B=2 layout=bshd causal
fa2 4 Sq=3 Sk=90 H=4 Hkv=2 causal shards=splitkv
decode_splitkv 3 Sq=1 Sk=131 H=8 Hkv=2 causal shards=splitkv
LIST

# ---- balance is planned and counted
run ring S=4k gpus=4 causal shards=stretches gpu=H200 --json
is "stretches: the last GPU has 1.75 times the mean" says "$out" '"imbalance":1\.7[45]'
run check fa2 S=256 H=1 gpus=4 causal shards=stretches backend=sim --json
is "  and the counters say so" above "$(field imbalance)" 1.4
run check fa2 S=256 H=1 gpus=4 causal backend=sim --json
is "zigzag: they are even" above 1.02 "$(field imbalance)"
run ring S=128k H=32 D=128 causal gpu=H200 gpus=4
is "a picture by GPU" says "$out" '^GPU 3 +\|DDD'
is "  all that goes over the links" says "$out" '6\.00 GiB over the links in all \(NVLink 4, 450 GB/s'
run ring S=4k gpus=4 gpu=H200 link=1 --json
is "a slow link is not hidden" above 50 "$(field efficiency_pct)"
run ring S=1k gpus=2 gpu=Radeon-8060S
is "a link that nobody knows gives no time" says "$out" '^No time:'

# ---- one GPU is one GPU
run check fa2 S=64 H=1 backend=sim --json
is "without gpus= it is no ring" says "$out" '"gpus":null,"link_bytes":null'
run check fa2 S=64 H=1 backend=sim gpus=2 --json
is "a ring has no predicted time" says "$out" '"predicted_us":null'
run sanitize fa2 S=200 H=1 gpus=2 without=3
is "a kernel's own missing wait is found in a ring, too" [ "$rc" -eq 1 ]

# ---- refused
run run fa2 S=64 gpus=2 backend=cpu
is "the CPU has no ring" [ "$rc" -eq 2 ]
is "  and says who has" says "$err" 'say backend=(cuda|sim)'
run check fa2 Sq=64 Sk=128 causal gpus=2 backend=sim
is "as many queries as keys" says "$out$err" 'as many queries as keys'
is "  and says what there is for fewer" says "$out$err" 'shards=splitkv'
run check fa2 Sq=64 Sk=128 causal gpus=4 shards=splitkv backend=sim
is "a diagonal across several GPUs" says "$out$err" 'across several GPUs'
run ring S=3 gpus=4
is "too short" says "$err" '4 GPUs share a sequence of at least 4'
run ring S=64 gpus=1
is "one GPU is no ring" [ "$rc" -eq 2 ]
run ring S=64 gpus=17
is "17 are too many" [ "$rc" -eq 2 ]
run ring S=64 shards=tiles
is "no such shards" [ "$rc" -eq 2 ]
run ring S=64 link=0
is "no such link" [ "$rc" -eq 2 ]
run ring fa2,naive S=64
is "one kernel" [ "$rc" -eq 2 ]
finish
