#!/bin/sh
# Code that runs with the user's rights: C, libraries, Python. It runs when the user has said so, as it was
# then, and never in restricted sessions or lessons, not even through "all".
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}"
data=$HOME/.local/share/attnscope
mkdir -p "$data/kernels"
tiny='S=16 H=1 D=16 f32 backend=cpu'

# C that leaves a trace when it runs.
touching() { # file, name
    sed "s/@name *naive/@name $2/; s/attn_naive(/attn_$2(/" "$ATTNSCOPE_SRCDIR/kernels/cpu/naive.c" >"$1"
    printf '#include <stdio.h>\n__attribute__((constructor)) static void trace(void)\n{\n    fclose(fopen("%s/ran", "w"));\n}\n' "$tmp" >>"$1"
}
ran() { [ -e "$tmp/ran" ] && rm "$tmp/ran"; }

touching "$data/kernels/mine.c" mine
# shellcheck disable=SC2086 # words
run check mine $tiny
is "C that somebody laid into the folder does not run" says "$out" 'mine is native code, which runs with your rights, and nobody has allowed it as it is now \(sha256 [0-9a-f]{12}\); kernel allow mine does'
is "  and is no success" [ "$rc" -eq 3 ]
is "  it did not run" [ ! -e ran ]
run check naive,mine S=16 H=1 D=16 f32 backend=cpu
is "  others do" says "$out" '^naive .* pass '
run kernel allow mine
is "kernel allow says what that means, with a hash" says "$err" 'runs in the worker with your rights, as any program does; sha256 [0-9a-f]{64}$'
# shellcheck disable=SC2086
run check mine $tiny
is "then it runs" says "$out" '^mine .* pass '
is "  really" ran
run kernel allow mine
is "allowed twice is kept once" [ "$(wc -l <"$data/allowed")" -eq 1 ]
is "nobody else may write there" [ "$(stat -c %a "$data/allowed")" = 600 ]
# shellcheck disable=SC2086
run --restricted check mine,naive $tiny
is "a restricted session runs none of it" says "$out" 'mine is native code, .*this session is restricted'
is "  whatever was allowed" [ ! -e ran ]
is "  and all else" says "$out" '^naive .* pass '
# shellcheck disable=SC2086
run --restricted check all $tiny
is "  all does not mean it" [ ! -e ran ]
echo '// changed' >>"$data/kernels/mine.c"
# shellcheck disable=SC2086
run check mine $tiny
is "changed code is asked about again" says "$out" 'nobody has allowed it as it is now'
is "  and not run" [ ! -e ran ]
run --restricted kernel allow mine
is "a restricted session allows nothing" says "$rc $err" '^2 .*restricted'
rm "$data/kernels/mine.c"

# ---- added: the yes is the adding ----
cp "$ATTNSCOPE_FAKECUDA/attnlib.so" lib.so
run kernel add "$PWD/lib.so" dtypes=f32 backend=cpu name=lib
is "kernel add says what it takes in" says "$err" 'lib is native code: it runs in the worker with your rights.*sha256 [0-9a-f]{64}$'
# shellcheck disable=SC2086
run check lib $tiny
is "what was added runs" says "$out" '^lib .* pass '
printf x >>lib.so
# shellcheck disable=SC2086
run check lib $tiny
is "another library under its name does not" says "$out" 'lib is native code, .*nobody has allowed it'
run kernel remove lib
touching mine.c ours
run kernel add mine.c
# shellcheck disable=SC2086
run check ours $tiny
is "C that was added runs" ran
run kernel add "$ATTNSCOPE_SRCDIR/kernels/cuda/naive.cu"
is "code for a GPU needs no yes" silent "$(printf '%s' "$err" | grep 'your rights')"
run kernel allow fa2
is "nor does what is shipped" says "$rc $err" '^2 .*fa2 needs no permission'

# ---- lessons ----
mkdir -p "$data/lessons"
cat >"$data/lessons/evil.md" <<'END'
# Evil

## One

Text.

```attnscope
check all S=16 H=1 D=16 f32 backend=cpu
```
END
rm -f ran
yes '' 2>/dev/null | head -5 | timeout 60 "$ATTNSCOPE" lesson evil >out 2>&1
is "a lesson runs none of it, not even through all" [ ! -e ran ]
is "  it ran the others" says "$(cat out)" 'naive .* pass|this session is restricted'

# ---- Python ----
mkdir py
printf 'import pathlib\npathlib.Path("%s/ran").touch()\ndef f(q, k, v, **x):\n    return q\n' "$tmp" >py/evil.py
PYTHONPATH=$PWD/py
export PYTHONPATH
run --restricted run py:evil.f S=16 H=1 D=16 f32 backend=cpu
is "--restricted runs no Python" says "$out" 'py:evil.f is Python, which runs with your rights; this session is restricted'
is "  really" [ ! -e ran ]

# ---- the list of what was allowed ----
rm -f "$data/allowed"
mkfifo "$data/allowed"
timeout 20 "$ATTNSCOPE" check ours S=16 H=1 D=16 f32 backend=cpu >out 2>err
is "a list that is none allows nothing, and is said to" says "$(cat err out)" 'what was allowed is not known: .*allowed is a pipe, not a file'
is "  once" [ "$(grep -c 'what was allowed' err)" -eq 1 ]
rm "$data/allowed"
ln -s "$tmp/elsewhere" "$data/allowed"
run kernel allow ours
is "a link is not written through" [ "$rc$(ls elsewhere 2>&-)" = 3 ]
run doctor
is "doctor says what holds" says "$out" '^session +free .*native code and Python run once you have allowed them'
is "  and whose rights what was allowed has" says "$out" '^worker +ok +/.*: kernels run in it, .* with your rights'
is "  and what the cage of foreign PTX holds" says "$out" '^cage +(on|in part|off) +PTX is simulated in a process '
run --restricted doctor
is "  and of restricted sessions" says "$out" '^session +restricted .*no native code or Python'
finish
