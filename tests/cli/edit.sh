#!/bin/sh
# edit: a copy of a kernel through an editor that is a command, on the fake driver and, where there
# is one, with the real NVRTC.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2154,SC3046
. "$(dirname "$0")/lib.sh"
unset VISUAL EDITOR
own=$HOME/.local/share/attnscope/kernels

: "${ATTNSCOPE_FAKECUDA:?}"
fake=$ATTNSCOPE_FAKECUDA/fakecuda.so
with_gpu() {
    export ATTNSCOPE_LIBCUDA="$fake" ATTNSCOPE_LIBNVRTC="$fake" FAKECUDA="us=70"
}
without_gpu() {
    unset ATTNSCOPE_LIBCUDA
    export ATTNSCOPE_LIBNVRTC="$1" ATTNSCOPE_NVCC=none
}

# ---- the editor ----
with_gpu
run edit qtile_seq
is "no editor and no terminal: usage" [ "$rc" -eq 2 ]
is "no editor: says what to set" says "$err" 'neither VISUAL nor EDITOR'
is "no editor: no copy is made" [ ! -e "$own/qtile_seq_edit.cu" ]
EDITOR=/nonexistent/editor
export EDITOR
run edit qtile_seq
is "an editor that is not there" says "$err" 'does not start'
EDITOR="sh -c \"exit 3\""
run edit qtile_seq
is "an editor that fails" says "$err" 'ended with status 3'
is "then the status is 3" [ "$rc" -eq 3 ]
rm -r "$own"

# ---- a good edit ----
EDITOR="sed -i -e 's/A block per query tile/Mine/' -e s/BR..*64/\&/"
run edit qtile_seq S=32 H=1 n=5
is "edit: done" [ "$rc" -eq 0 ]
is "edit: registers beside the original's" says "$out" '^qtile_seq_edit +H200 +32 +0 '
is "edit: compared" says "$out" 'qtile_seq_edit .*SAME|qtile_seq_edit is'
is "edit: both pass" [ "$(printf '%s\n' "$out" | grep -c ' pass ')" -eq 2 ]
is "edit: the file is named" says "$err" 'kernels/qtile_seq_edit.cu is a copy of qtile_seq'
is "edit: quoted words of EDITOR are one" grep -q '@title *Mine' "$own/qtile_seq_edit.cu"
is "edit: renamed" grep -q '@name *qtile_seq_edit' "$own/qtile_seq_edit.cu"
run kernels edit
is "edit: listed" says "$out" '^qtile_seq_edit +your own'
run source qtile_seq_edit diff
is "edit: diff against the original" says "$out" '^\+.*@title +Mine'
is "edit: follows the original" says "$out" '^--- qtile_seq$'
EDITOR=true
run edit qtile_seq S=32 H=1 n=5 --json
is "an existing edit is gone on with" says "$err" 'going on with your edit'
is "json: an array of two" says "$out" '"kernel":"qtile_seq_edit".*"verdict"'
is "json: registers" says "$out" '"regs":32'
is "an existing edit is kept" grep -q '@title *Mine' "$own/qtile_seq_edit.cu"
run edit qtile_seq_edit S=32 H=1 n=5
is "editing the edit is the same edit" [ ! -e "$own/qtile_seq_edit_edit.cu" ]
is "and has the same original" says "$out" '^qtile_seq +H200'
run edit qtile_seq --fresh --no-run
is "--fresh keeps the old one" grep -q '@title *Mine' "$own/qtile_seq_edit.cu.1"
is "--fresh begins anew" grep -q '@title *A block per' "$own/qtile_seq_edit.cu"
is "--no-run says so" says "$out" 'not run, as --no-run asks'
run edit splitkv S=32 H=1 n=5
is "a kernel of several launches" [ "$rc" -eq 0 ]
is "its second launch is renamed" grep -q 'splitkv_edit_combine(' "$own/splitkv_edit.cu"
export FAKECUDA="us=70,wrong=1"
run edit qtile_seq S=32 H=1 n=5
is "a wrong result: status 1" [ "$rc" -eq 1 ]
with_gpu

# ---- mistakes ----
EDITOR='sed -i $a#error'
run edit fa2
lines=$(grep -c '' "$own/fa2_edit.cu")
is "a compile error: status 1" [ "$rc" -eq 1 ]
is "a compile error: file and line" says "$out" "kernels/fa2_edit.cu:$lines: error: "
is "a compile error: the line itself" says "$out" "^ +$lines \| #error"
is "a compile error: how to go on" says "$err" '1 error; "edit fa2" opens it again'
EDITOR=true
run edit fa2 --json
is "a compile error: no rows for programs" silent "$out"
is "a compile error: notes for programs" says "$err" 'fa2_edit.cu:[0-9]+: error'
run run fa2_edit S=32
is "running it says why not" says "$out" 'does not compile'
EDITOR='sed -i s/@requires.*/@requires/'
run edit naive
is "a broken descriptor: status 1" [ "$rc" -eq 1 ]
is "a broken descriptor: file, line, column" says "$out" 'kernels/naive_edit.cu:[0-9]+:[0-9]+: @requires'
is "a broken descriptor: the line" says "$out" '^ +[0-9]+ \| \* @requires$'
run run naive_edit
is "naming it tells the error" says "$err" 'naive_edit.cu:[0-9]+'
EDITOR=true
run edit naive_edit
is "it can be opened by its own name" says "$out" 'kernels/naive_edit.cu:[0-9]+'
run edit cpu_tiled S=64 H=1 n=3 time=0.05
is "a kernel in C is edited as C" says "$err" 'cpu_tiled_edit.c is a copy of cpu_tiled'
run edit naiv
is "a typing error: status 2" [ "$rc" -eq 2 ]
run edit naive S=0
is "a bad shape is told before the editor opens" says "$err" 'S=0'
run --restricted edit naive
is "restricted sessions do not edit" says "$err" 'restricted'

# ---- without a GPU, without a compiler ----
rm -r "$own"
if [ ! -e /dev/nvidiactl ]; then
    without_gpu "$fake"
    EDITOR=true
    run edit qtile_seq gpu=L4
    is "no GPU: done" [ "$rc" -eq 0 ]
    is "no GPU: figures of the compiler" says "$out" '^qtile_seq_edit +L4 +32 +0 '
    is "no GPU: it was not run" says "$out" 'was not run: no NVIDIA driver'
    without_gpu /nonexistent
    export ATTNSCOPE_CLANG=/nonexistent
    run edit qtile_seq gpu=L4
    unset ATTNSCOPE_CLANG
    is "no compiler: done" [ "$rc" -eq 0 ]
    is "no compiler: says what is missing" says "$out" 'saved and planned, neither compiled nor run: NVRTC'
fi

# ---- the real NVRTC ----
unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC FAKECUDA ATTNSCOPE_NVCC
rm -rf "$own"
EDITOR='sed -i s/__syncthreads();/undefined_thing=1;/'
run edit qtile_seq --no-run
if says "$out" 'neither compiled'; then
    echo "# no NVRTC here: its messages are not tested"
else
    is "NVRTC: an error with its line" says "$out" 'qtile_seq_edit.cu:[0-9]+: error: identifier'
    is "NVRTC: the line" says "$out" '^ +[0-9]+ \| undefined_thing=1;'
    EDITOR='sed -i s/undefined_thing=1;/__syncthreads();/'
    run edit qtile_seq --no-run gpu=L4
    is "NVRTC: mended" says "$out" '^change: none'
    is "NVRTC: registers" says "$out" '^qtile_seq_edit +L4 +[1-9][0-9]* +0 '
fi
finish
