#!/bin/sh
# PTX that means ill: no end, more memory than there is, an answer without measure, calls without a bottom. Each is
# one sentence that names the kernel, in time, and the program goes on.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
tiny='S=16 H=1 D=16 f32 backend=sim'

head_of() { printf '.version 7.0\n.target sm_80\n.address_size 64\n'; }
# name and grid of a kernel whose text is in the file `body`
kernel() {
    { head_of; cat body; } >"$1.ptx"
    printf '@name %s\n@title T\n@dtypes f32\n@threads 64\n@grid %s\n@cubin %s.ptx\n' "$1" "$2" "$1" >"$1.attn"
    run kernel add "$1.ptx"
    is "$1 is added" [ "$rc" -eq 0 ]
}
entry() { printf '.visible .entry %s(.param .align 8 .b8 a[240])\n{\n' "$1"; }
# kernel, words of its sentence: it is not right, says why in one line, and no process died
ends() {
    # shellcheck disable=SC2086  # words
    run check "$1" $tiny
    is "$1: the status is no success" is_failure
    is "$1: its sentence" says "$out$err" "$2"
    is "$1: nothing died" silent "$out$err"
}
is_failure() { [ "$rc" -eq 1 ] || [ "$rc" -eq 3 ]; }
silent() { ! says "$1" 'signal|no sign of life|took more than|the worker ended'; }

{ entry spin; printf 'L: bra L;\n}\n'; } >body
kernel spin 'ceil(Sq/1) H B'
ends spin 'spin: block [0-9]+ does not end: .* FLOPs'

# Most of its instructions are cheap ones: a load costs what sixty of them do, under sanitizers.
{
    entry wait
    printf '.reg .pred %%p;\n.reg .b32 %%r;\n.reg .b32 %%x;\n.shared .align 4 .b8 s[4];\nL: ld.volatile.shared.u32 %%r, [s];\n'
    awk 'BEGIN { for (i = 0; i < 100; i++) printf "mov.u32 %%x, %d;\n", i }'
    printf 'setp.ne.u32 %%p, %%r, 7;\n@%%p bra L;\nret;\n}\n'
} >body
kernel wait 1
ends wait 'wait: block 0 does not end'

{ entry hall; printf '.shared .align 4 .b8 s[%s];\nret;\n}\n' 4294967295; } >body
kernel hall 1
ends hall 'hall: .* never written'
{ entry hangar; printf '.shared .align 4 .b8 s[%s];\nret;\n}\n' 999999999999999999999; } >body
kernel hangar 1
ends hangar 'hangar: .* no whole number'
{ entry attic; printf '.local .align 4 .b8 s[%s];\nret;\n}\n' 2000000000; } >body
kernel attic 1
ends attic 'attic: more local memory'
{ printf '.global .align 4 .b8 g[%s];\n' 60000000000; entry cellar; printf 'ret;\n}\n'; } >body
kernel cellar 1
ends cellar 'cellar: .* never written'

# the same, and used
{ entry hall2; printf '.shared .align 4 .b8 s[4294967295];\nst.shared.u32 [s+4000000000], 1;\nret;\n}\n'; } >body
kernel hall2 1
ends hall2 'hall2: .* larger than any GPU has'
{ printf '.global .align 4 .b8 g[60000000000];\n'; entry cellar2; printf '.reg .b64 %%r;\nmov.u64 %%r, g;\nst.global.u32 [%%r], 1;\nret;\n}\n'; } >body
kernel cellar2 1
ends cellar2 'cellar2: g needs 60000000000 bytes'

# a function that calls itself, and a chain of them that is deep
{ printf '.func f()\n{\ncall f;\nret;\n}\n'; entry well; printf 'call f;\nret;\n}\n'; } >body
kernel well 1
ends well 'well: .* recursive'
{
    printf '.func f0()\n{\nret;\n}\n'
    awk 'BEGIN { for (i = 1; i < 5000; i++) printf ".func f%d()\n{\ncall f%d;\ncall f%d;\nret;\n}\n", i, i - 1, i - 1 }'
    entry stair
    printf 'call f4999;\nret;\n}\n'
} >body
kernel stair 1
ends stair 'stair: .* too deep'

# nesting, and lines of another source without measure
{ entry nest; awk 'BEGIN { for (i = 0; i < 100000; i++) printf "{"; for (i = 0; i < 100000; i++) printf "}"; print "ret;\n}" }'; } >body
kernel nest 1
ends nest 'nest: .* deeper than'
{
    entry lines
    awk 'BEGIN { print ".reg .b32 %r;"; for (i = 0; i < 120000; i++) printf ".loc 1 %d 0\nadd.u32 %%r, %d, 1;\n", i * 3000, i; print "ret;\n}" }'
    printf '.file 1 "x.cu"\n'
} >body
kernel lines 1
ends lines 'lines: .* never written'
{ entry bars; awk 'BEGIN { for (i = 0; i < 20000; i++) print "bar.sync 0;"; print "ret;\n}" }'; } >body
kernel bars 1
ends bars 'bars: .* never written'

# looked at and held still: without lines, by more warps than it has instructions, and with a line for each
quickly() { # words
    rc=0
    timeout -k 1 "$patience" "$ATTNSCOPE" "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null || rc=$?
    out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
}
patience=20 # without its remedies each takes longer
grep -q __asan_init "$ATTNSCOPE_WORKER" && patience=200
{ entry bare; printf '.shared .align 4 .b8 s[4096];\nst.shared.u32 [s], 1;\nret;\n}\n'; } >body
kernel bare 1
sed -i 's/@threads 64/@threads 1024/' bare.attn
# shellcheck disable=SC2086  # words
quickly trace banks bare $tiny
is "an access without a line is shown" says "$rc $out" '^0 .*$'
is "  by the line of its PTX" says "$out" '^PTX line [0-9]+$'
{
    entry many
    awk 'BEGIN { print ".reg .f32 %f;\n.shared .align 4 .b8 s[4096];"
        for (i = 1; i <= 32000; i++) printf ".loc 1 %d 0\nst.shared.f32 [s], 0f00000000;\nshfl.sync.bfly.b32 %%f, %%f, 1, 31, -1;\n", i; print "ret;\n}" }'
    printf '.file 1 "x.cu"\n'
} >body
kernel many 1
# shellcheck disable=SC2086  # words
quickly trace reduce many $tiny
is "sums are looked for in many lines" says "$rc $err" '^2 .*no such sums'
quickly -c 'debug many S=16 H=1 D=16 f32; next; next'
is "many lines are held still" says "$rc $out" '^0 '
is "  and stepped" says "$out" 'next x.cu:[0-9]+:'

run check fa2 S=16 H=1 D=16 f32 backend=sim
is "the next one runs" says "$out" '^fa2 .* pass '
finish
