#!/bin/sh
# source K --alone: one file that plain nvcc compiles, of every kernel with a CUDA source.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC3046
. "$(dirname "$0")/lib.sh"

run kernels --csv
kernels=$(printf '%s\n' "$out" | awk -F, 'NR > 1 && /cuda/ && $1 !~ /:/ && $1 != "cudnn" { print $1 }')
is "there are kernels to write" [ "$(echo "$kernels" | wc -l)" -ge 30 ]
bad=
for k in $kernels; do
    shape=
    case $k in decode_*) shape=" Sq=1 Sk=1k" ;; bigd_split | bigd_rows | bigd_unfused) ;; bigd_mma) shape=" f32 D=128" ;; bigd_*) shape=" f32" ;; splitkv_columns | fa2_mma_short) shape=" S=64" ;; esac # a few queries; f32 alone; short
    run -c "set D=64 gpu=H200$shape; source $k --alone"
    [ "$rc" -eq 0 ] || bad="$bad $k"
    says "$out" '#include "|#pragma once' && bad="$bad $k"
    # every name that the compiler is told is defined before it is used
    for name in $(printf '%s\n' "$out" | sed 's|//.*||' | grep -oE '\b(P_[A-Z]+|SMEM_[A-Za-z]+|WS_[a-z_]+|ATTN_D|ATTN_DTYPE|ATTN_THREADS)\b' | sort -u); do
        case $name in P_PITCH | P_SHAPE) continue ;; esac
        says "$out" "^#define $name [0-9]" || bad="$bad $k:$name"
    done
done
[ -z "$bad" ] || echo "# not whole: $bad"
is "none needs a header or a definition" [ -z "$bad" ]

run -c 'set D=100 bf16 gpu=H200; set BR=32; source fa2 --alone'
is "it follows shape and parameters" says "$out" '^// fa2\.cu - as attnscope compiles it for D=100 bf16, BR=32 BC=64 PAD=4'
is "the head size is rounded up" says "$out" '^#define ATTN_D 112$'
is "nvcc's command stands above" says "$out" '^//   nvcc -std=c\+\+17 -arch=sm_90 -cubin -o fa2\.cubin fa2\.cu$'
is "and the launch" says "$out" '^//   fa2<<<dim3\(32, 8, 1\), 64, [0-9]+>>>\(args\)$'
run source fa2 --alone view=ptx
is "no listing of it" [ "$rc" -eq 2 ]
run source cudnn --alone
is "a library has no source" says "$err" 'cudnn has no CUDA source'

if command -v nvcc >/dev/null 2>&1; then
    for k in fa2 splitkv fused_warp_spec wmma_serial; do
        "$ATTNSCOPE" -c "set gpu=H200; source $k --alone" >"$k.cu"
        rc=0
        nvcc -std=c++17 -arch=sm_90 -ptx -o "$k.ptx" "$k.cu" >nvcc.log 2>&1 || rc=$?
        is "plain nvcc compiles $k" [ "$rc" -eq 0 ]
        is "and warns of nothing" [ ! -s nvcc.log ]
    done
fi
finish
