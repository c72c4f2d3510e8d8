#!/bin/sh
# edit on a machine without a GPU, with clang alone: an edit that is right, one without its barriers, one that does not
# compile, and one on a machine without any compiler.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2154
. "$(dirname "$0")/lib.sh"
if [ -e /dev/nvidiactl ]; then
    echo "1..0 # SKIP there is a GPU: edits run on it"
    exit
fi
unset VISUAL CUDA_HOME CUDA_PATH ATTNSCOPE_LIBCUDA ATTNSCOPE_COMPILE ATTNSCOPE_CLANG
export EDITOR=true ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=/nonexistent/nvcc COLUMNS=200
own=$HOME/.local/share/attnscope/kernels
edit() {
    rm -rf "$own"
    run edit qtile_seq S=64 H=1 f32 D=32 "$@"
}
# What a program has of its answer.
rows_say() { # what
    printf '%s' "$out" | tr -d ' \n' | grep -qE "$1"
}

# ---- without any compiler: neither right nor wrong ----
export ATTNSCOPE_CLANG=/nonexistent/clang
edit
is "no compiler: said, not judged" says "$out$err" 'nothing here compiles|neither compiled nor run'
is "no compiler: how to get one" says "$out$err" 'clang'
is "no compiler: no verdict" [ "$(printf %s "$out" | grep -c 'is right')" -eq 0 ]
# Built-in kernels bring their PTX: no program is looked for, whatever PATH names.
bare() { # words of a command
    rc=0 err=
    out=$(env PATH=/nonexistent "$ATTNSCOPE" "$@" 2>&1 </dev/null) || rc=$?
}
bare run fa2_mma S=64 H=1 backend=sim
is "no compiler: a built-in kernel runs" says "$out" '^fa2_mma .* pass +nvcc '
bare sanitize fa2 S=200 H=1
is "no compiler: and is looked through" says "$out" '^fa2, .*: no hazard'
bare sanitize fa2 S=200 H=1 without=1 limit=1
is "no compiler: its race is read" [ "$rc" -eq 1 ]
is "  by both lines" says "$out" '^  fa2\.cu:[0-9]+ .*, writing'
bare debug fa2 S=200 H=1 f32 without=1 order=7
is "no compiler: a block is held still" says "$out" 'without fa2.cu:[0-9]+, block 0,0,0'
unset ATTNSCOPE_CLANG

if ! command -v clang >/dev/null; then
    echo "# no clang here: edits are not compiled"
    finish
    exit
fi

# ---- a right one ----
EDITOR="sed -i 's/A block per query tile/Mine/'"
edit
is "a right edit: status 0" [ "$rc" -eq 0 ]
is "a right edit: said" says "$out" '^qtile_seq_edit is right and without a hazard by the simulator'
is "a right edit: a further shape, ragged and causal" says "$out" '^qtile_seq_edit .*S=200 .*causal .* pass '
is "a right edit: nothing changed" says "$out" 'change: none in what is counted'
is "a right edit: its original by the same compiler" [ "$(printf %s "$out" | grep -c '^qtile_seq .*clang')" -eq 1 ]

# ---- without its barriers: the fault that compilers do not see ----
EDITOR="sed -i /__syncthreads();/d"
edit
is "no barriers: status 1" [ "$rc" -eq 1 ]
is "no barriers: a race of lanes" says "$out" '^race_(warp|block): '
is "no barriers: the line that reads" says "$out" '^ +qtile_seq_edit.cu:[0-9]+ .* reading$'
is "no barriers: the line that writes" says "$out" '^ +(qtile_seq_edit.cu|attn.cuh):[0-9]+ .*, writing'
is "no barriers: which element" says "$out" '^ +Ks\[[0-9]+\]\[[0-9]+\]'
is "no barriers: what changed" says "$out" 'barriers from [0-9]+ to 0'
is "no barriers: not called right" [ "$(printf %s "$out" | grep -c 'is right')" -eq 0 ]
edit --json
is "no barriers: rows for programs" rows_say '"kernel":"qtile_seq_edit".*"origin":"sim".*"check":"fail"'
is "no barriers: status 1 there, too" [ "$rc" -eq 1 ]

# ---- wrong without a hazard ----
cat >"$tmp/twice" <<'SH'
#!/bin/sh
sed -i 's/acc\[d\] += p \*/acc[d] += 2 * p */' "$1"
SH
chmod +x "$tmp/twice"
EDITOR=$tmp/twice
edit
is "a wrong factor: status 1" [ "$rc" -eq 1 ]
is "a wrong factor: its rows" says "$out" '^wrong rows of qtile_seq_edit: '
is "a wrong factor: no hazard is made up" [ "$(printf %s "$out" | grep -c '^race_')" -eq 0 ]

# ---- one that does not compile ----
EDITOR="sed -i s/__syncthreads();/undefined_thing=1;/"
edit
is "does not compile: not 0" [ "$rc" -ne 0 ]
is "does not compile: what is wrong" says "$out$err" 'undefined_thing'
is "does not compile: not called right" [ "$(printf %s "$out" | grep -c 'is right')" -eq 0 ]

# ---- at every save of an editor that is open elsewhere ----
EDITOR=/nonexistent/editor
rm -rf "$own"
file=$own/qtile_seq_edit.cu
appears() { # PATTERN in what was said so far
    n=0
    until grep -qE "$1" "$tmp/follows" "$tmp/notes"; do
        n=$((n + 1))
        [ "$n" -lt 1200 ] || return 1
        sleep 0.1
    done
}
: >"$tmp/follows"
: >"$tmp/notes"
"$ATTNSCOPE" -c 'edit qtile_seq S=64 H=1 f32 D=32 --follow count=3' >"$tmp/follows" 2>"$tmp/notes" &
follower=$!
is "--follow: judged as it is" appears 'is right and without a hazard'
cp "$file" "$tmp/right.cu"
sed '/__syncthreads();/d' "$file" >"$tmp/next.cu"
mv "$tmp/next.cu" "$file" # as editors do
is "--follow: the save is judged" appears '^race_(warp|block): '
is "--follow: and goes on" appears 'the check failed'
is "--follow: which save" appears '^-- qtile_seq_edit, saved [0-9:]+ --$'
cp "$tmp/right.cu" "$file"
wait "$follower"
rc=$?
is "--follow: mended, the last one counts" [ "$rc" -eq 0 ]
is "--follow: right again" [ "$(grep -c 'is right and without' "$tmp/follows")" -eq 2 ]
# A shell's background has no Ctrl-C of its own.
env --default-signal=INT "$ATTNSCOPE" -c 'edit qtile_seq S=64 H=1 f32 D=32 --follow' >"$tmp/follows" 2>"$tmp/notes" &
follower=$!
appears 'is right and without a hazard' # it waits for a save from here on
sleep 1
kill -INT "$follower"
wait "$follower"
rc=$?
is "--follow: Ctrl-C ends it, which is no failure" [ "$rc" -eq 0 ]
run edit qtile_seq count=3
is "count= without --follow is refused" [ "$rc" -eq 2 ]
# ---- with NVRTC, which knows registers: the predicted time has them ----
unset ATTNSCOPE_LIBNVRTC
EDITOR=true
run doctor
if says "$out" '^NVRTC +ok'; then
    edit
    is "NVRTC: registers are shown" says "$out" '^qtile_seq_edit +L4 +[0-9]+ '
    is "NVRTC: and known to the model" [ "$(printf %s "$out" | grep -c 'registers on that GPU are not known')" -eq 0 ]
    is "NVRTC: which has a time" says "$out" '^  qtile_seq_edit(, [^:]*)?: [0-9.]+ us: '
fi
finish
