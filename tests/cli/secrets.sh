#!/bin/sh
# What a stranger's kernel, table or database could get at: files through @include and #include, a spreadsheet through
# our CSV, our sentences through SQLite's.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
data=$HOME/.local/share/attnscope

# ---- files: the compiler would print a line of them as an error ----
mkdir -p "$HOME/.ssh" "$HOME/.local/share/keyrings" "$HOME/work/sub" "$HOME/docs" aside
for file in "$HOME/.ssh/id.h" "$HOME/.local/share/keyrings/k" "$HOME/plain" "$HOME/docs/d.h" aside/s.h; do
    echo '#error TOPSECRET' >"$file"
done
echo '#define HELPED 1' >"$HOME/work/sub/fine.h"
work=$HOME/work/mine.c
source_with() { # folder of @include, file of #include
    sed "s#@name *naive#@name mine\n * @include $1#; s/attn_naive(/attn_mine(/" "$ATTNSCOPE_SRCDIR/kernels/cpu/naive.c" >"$work"
    printf '#include "%s"\n' "$2" >>"$work"
}
hides() { ! says "$out$err" 'TOPSECRET|root:' && says "$out$err" 'Permission denied'; }
run doctor
if says "$out" '^sandbox +off'; then
    skip "no Landlock: includes are not held"
else
    source_with sub fine.h
    run kernel add "$work"
    run check mine S=16 H=1 D=16 f32 backend=cpu
    is "a header beside the source is found" says "$out" '^mine .* pass '
    cp aside/s.h "$HOME/work/sub/"
    source_with sub s.h
    run kernel allow mine
    run check mine S=16 H=1 D=16 f32 backend=cpu
    is "  and would be shown where it is none" says "$out$err" 'TOPSECRET'
    for folder in / .. "$HOME/.ssh" "$HOME/.local/share" "$tmp" /etc; do
        for file in "$HOME/.ssh/id.h" "$HOME/.local/share/keyrings/k" "$HOME/plain" "$tmp/aside/s.h" /etc/passwd; do
            source_with "$folder" "$file"
            run kernel allow mine
            run check mine S=16 H=1 D=16 f32 backend=cpu
            is "@include $folder shows nothing of $file" hides
        done
    done
    run kernel remove mine
fi

# ---- spreadsheets ----
echo >x.ptx
for title in '=1+1|cmd' '+1+cmd' '-2+3' '@SUM(1)'; do
    printf '@name cell\n@title %s\n@dtypes f32\n@threads 64\n@grid 1\n@cubin x.ptx\n' "$title" >cell.attn
    run kernel add cell.attn
    run kernel list --csv
    is "CSV: $title is no formula" [ "$(printf '%s' "$out" | grep -cF "cell,'$title,")" -eq 1 ]
    run kernel list --json
    is "  and in JSON what it is" [ "$(printf '%s' "$out" | grep -cF "\"title\":\"$title\"")" -eq 1 ]
    run kernel remove cell
done
run trace softmax Sk=4 BC=2 --csv
is "numbers below zero stay numbers" [ "$(printf '%s' "$out" | grep -c "'-")" -eq 0 ]

# ---- somebody's database in the place of ours ----
mkdir -p "$data"
rm -f "$data"/results.db*
python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("create table results(a int)")
c.commit()' "$data/results.db"
run results
is "another program's tables are told as that" says "$rc $err" '^3 .*its tables are not those of this program'
run run naive S=8 H=1 n=3 time=0.05 backend=cpu
is "  and a result that is not kept is no success" says "$rc $err" '^3 .*its tables are not those of this program'

# What is no command and no shape is told word by word: in a restricted session, and for a lesson, that would be the
# text of whatever file was named.
printf 'SECRETWORD of mine\n' >mine.txt
for words in 'source-file mine.txt' '@mine.txt' 'run naive shapes=mine.txt backend=cpu'; do
    # shellcheck disable=SC2086  # words
    run $words
    is "$words: free, what is wrong is told" says "$err" 'SECRETWORD'
    # shellcheck disable=SC2086  # words
    run --restricted $words
    is "  restricted, no word of it" says "$rc $err" '^2 .*reading files is off in this restricted session'
done
# shellcheck disable=SC2016  # a fence
printf '# T\n\n## One\n\n```attnscope\nsource-file %s/mine.txt\n```\n' "$tmp" >90-t.md
run lesson check ./90-t.md
is "  nor in somebody's lesson" [ "$(printf %s "$out$err" | grep -c SECRETWORD)" -eq 0 ]

# A pipe that nobody reads is no reason to wait, in the full screen for ever.
mkfifo pipe
for words in 'report pipe h200' 'kernels > pipe'; do
    rc=0
    err=$(timeout 20 "$ATTNSCOPE" -c "$words" 2>&1) || rc=$?
    is "$words" says "$rc $err" '^2 .*it is a pipe that nobody reads'
done
finish
