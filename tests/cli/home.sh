#!/bin/sh
# A home where nothing may be written, of somebody without rights: kernels are measured all the same,
# and each thing that is not kept is said in a sentence.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

mkdir ro open shut
mkdir -p shut/.config/attnscope && echo 'set S=64' >shut/.config/attnscope/config
echo 'not a folder' >file
chmod 555 ro
chmod 777 open
chmod 711 "$tmp"
chmod 700 shut
# Root may write everywhere, so it steps down; anybody else is without rights here already.
without_rights=
[ "$(id -u)" -ne 0 ] || without_rights='setpriv --reuid=65534 --regid=65534 --clear-groups'
if ! $without_rights test -x "$ATTNSCOPE" -a -d "$tmp/ro" -a ! -w ro 2>/dev/null; then
    echo '1..0 # SKIP nobody without rights can be had here'
    exit 0
fi
chmod 000 shut
cd open || exit 99
at() { # HOME words...
    home=$1
    shift
    rc=0
    HOME=$home $without_rights "$ATTNSCOPE" "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null || rc=$?
    out=$(cat "$tmp/.out")
    err=$(cat "$tmp/.err")
}
measures() { # HOME what-is-said
        at "$1" run naive S=8 H=1 n=5 time=0.1
    is "HOME=${1##*/}: a kernel is measured" says "$rc $out" ' pass '
    is "  and what is not kept is said once" [ "$rc$(printf '%s\n' "$err" | grep -c "^attnscope: results are not kept: $2")$(printf '%s\n' "$err" | wc -l)" = 311 ]
}

measures "$tmp/ro" "cannot create the folder $tmp/ro/.local: Permission denied"
measures "$tmp/file" "cannot create the folder $tmp/file: a file is in its place"
measures '' 'no folder for results: neither HOME nor XDG_DATA_HOME is a full path'
at "$tmp/ro" record mine.rec -- run naive S=8 H=1 n=5 time=0.1 backend=cpu
is "a recording elsewhere is written" [ "$rc$(grep -c '^{"type":"row"' mine.rec)" = 01 ]
EDITOR=true at "$tmp/ro" edit naive
is "edit says where it cannot write" says "$rc $err" "^3 attnscope: cannot create the folder $tmp/ro/.local: Permission denied"
at '' kernel add "$ATTNSCOPE_SRCDIR/kernels/cuda/naive.cu"
is "so does kernel add" says "$rc $err" '^3 attnscope: no folder for your kernels: neither HOME nor XDG_DATA_HOME'
at "$tmp/ro" history
is "no history is no fault" [ "$rc$err" = 0 ]
printf 'set S=8\nshow S\n' >lines
at "$tmp/ro" -f lines
is "a session needs no home" says "$rc $out" 'S +8 '
XDG_STATE_HOME=$tmp/ro/state at "$tmp/open" doctor
is "doctor names what is in the way" says "$out" "^state +broken +cannot write $tmp/ro/state/attnscope/: Permission denied"
is "and what is not" says "$out" "^cache +absent +$tmp/open/.cache/attnscope/"
at "$tmp/shut" show S
is "settings that cannot be read are missed aloud" says "$rc $err" "^0 attnscope: .*$tmp/shut/.config/attnscope/config.*Permission denied"

# a home with blanks and letters of any script, also where the locale knows none
odd="$tmp/open/hö me/日本 'x'"
mkdir -p "$odd"
chmod -R 777 "$tmp/open/hö me"
for locale in C.UTF-8 C; do
    LC_ALL=$locale at "$odd" -c "run naive S=8 H=1 n=3 time=0.05 backend=cpu; record 'a ü.rec'; run naive S=16 H=1 n=3 time=0.05 backend=cpu; record off; open 'a ü.rec'; results"
    is "an odd home, $locale: measured, recorded, opened, kept" [ "$rc$(printf '%s\n' "$out" | grep -c ' pass ')" -eq "0$([ $locale = C ] && echo 7 || echo 5)" ]
    rm -f 'a ü.rec'
done
EDITOR=true at "$odd" edit fa2
is "  and a kernel is edited there" [ "$rc$(printf '%s\n' "$out" | grep -c '^fa2_edit .* pass ')" = 02 ] # in two shapes
at "$odd" doctor
is "  whose place doctor names" says "$out" "^user kernels +ok +$odd/.local"

# a home that was written as another user: what is there can be read
mkdir -p lent/.local/share/attnscope
HOME=$tmp/open/lent "$ATTNSCOPE" run naive S=8 H=1 n=5 time=0.1 >"$tmp/.out" 2>&1 </dev/null
chmod -R a+rX,a-w lent
if [ -n "$without_rights" ]; then
        at "$tmp/open/lent" run naive S=8 H=1 n=5 time=0.1
    is "results of another user: why nothing is added" says "$rc $err" '^3 attnscope: the result of naive was not kept: cannot write .*results\.db: Permission denied'
    at "$tmp/open/lent" results
    is "and they can be read" says "$rc $out" 'naive '
fi
chmod -R u+rwX "$tmp"

# a database of somebody else's under the name of ours
if python3 -c 'import sqlite3' 2>/dev/null; then
    mkdir -p other/.local/share/attnscope
    theirs=$tmp/open/other/.local/share/attnscope/results.db
    for sql in 'CREATE TABLE results(x)' 'CREATE VIEW results AS SELECT 1 AS id, 2 AS kernel' \
        'PRAGMA user_version=99; CREATE TABLE results(x)' 'PRAGMA user_version=1; CREATE TABLE other(x)'; do
        rm -f "$theirs"*
        python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])' "$theirs" "$sql"
        for words in results 'run naive S=8 H=1 n=3 time=0.05 backend=cpu'; do
            rc=0
            # shellcheck disable=SC2086  # words
            HOME=$tmp/open/other "$ATTNSCOPE" $words >"$tmp/.out" 2>"$tmp/.err" </dev/null || rc=$?
            out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
            is "$sql, ${words%% *}: a sentence and no success" says "$rc $err" \
                '^3 .*results\.db(: (its tables are not those of this program; move it away|no such table: results)| was written by a newer)'
        done
    done
else
    skip "no python3 with sqlite3"
fi
finish
