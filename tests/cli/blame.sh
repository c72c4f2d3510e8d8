#!/bin/sh
# Who did it: crashes, last words, lock-outs and processes left behind are those of the kernel that caused them,
# in C kernels of one's own and in Python callables.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2086,SC3046
. "$(dirname "$0")/lib.sh"
unset VISUAL EDITOR ATTNSCOPE_LIBCUDA
own=$HOME/.local/share/attnscope/kernels
src=${ATTNSCOPE_SRCDIR:?}/kernels/cpu
command -v cc >/dev/null || {
    echo "1..0 # SKIP no C compiler"
    exit 0
}
mkdir -p "$own"
shape="S=32 B=1 H=1 D=16 f32 backend=cpu"
# kernel NAME CODE: fa2 that does CODE at the end of every call.
kernel() {
    awk -v name="$1" -v code="$2" '
        { gsub(/attn_fa2/, "attn_" name); sub(/@name      fa2/, "@name      " name); sub(/@after     qtile_seq/, "@after     fa2") }
        /^#include/ && !done { print "#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>"; done = 1 }
        { print }
        /^    run_grid/ { print "    " code }' "$src/fa2.c" >"$own/$1.c"
    "$ATTNSCOPE" kernel allow "$1" >/dev/null 2>&1 || is "$1 is allowed" false
}
gone() { # FILE: the process whose number is in it ends within some seconds
    [ -s "$1" ] || return 1
    tries=0
    while [ -d "/proc/$(cat "$1")" ] && ! grep -q '^State:.*[ZX]' "/proc/$(cat "$1")/status" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || return 1
        sleep 0.1
    done
}

kernel boom 'abort();'
kernel printer 'puts("printer has no memory left");'
kernel quitter '_exit(3);'
kernel twin 'static int calls; if (++calls == 2) (void)!fork();'
kernel deserter "if (fork() == 0) { setsid(); if (fork() == 0) { FILE *f = fopen(\"$tmp/deserter\", \"w\"); if (f) { fprintf(f, \"%d\", (int)getpid()); fclose(f); } for (;;) pause(); } _exit(0); } sleep(1); kill(getpid(), SIGKILL);"
kernel late 'static int calls; if (++calls == 2) { pthread_t t; pthread_create(&t, NULL, die_late, NULL); }'
awk '/^void attn_late/ { print "static void *die_late(void *unused) { (void)unused; usleep(300000); signal(SIGSEGV, SIG_DFL); raise(SIGSEGV); return NULL; }" } { print }' \
    "$own/late.c" >"$own/late.tmp" && mv "$own/late.tmp" "$own/late.c"
"$ATTNSCOPE" kernel allow late >/dev/null 2>&1

# ---- lock-outs ----
one="check boom $shape"
run_input "$one
$one
$one
$one
$one
check boom,naive $shape
check naive,fa2 $shape" --plain
is "five crashes lock a kernel out" says "$out" 'boom: its process failed 5 times within a minute.*again in [0-9]+ s'
is "and nobody else" [ "$(printf '%s\n' "$out" | grep -c '^naive .* pass ')" -eq 2 ]
is "with all of a command" says "$out" '^fa2 .* pass '

# ---- crashes and words ----
run check naive,boom,fa2 $shape
is "who crashes is named" says "$out" 'boom: the worker died \(signal 6'
is "the others are judged" [ "$(printf '%s\n' "$out" | grep -Ec '^(naive|fa2) .* pass ')" -eq 2 ]
run check printer,quitter $shape
is "a silent end has no words of another's" says "$err$out" 'quitter: the worker ended with status 3 while [a-z ]*$'
run compare late,naive,fa2 $shape time=1.5 n=1000000
is "a thread that dies in another's turn is its maker's" says "$err$out" 'late: the worker died \(signal 11'
is "and nobody else's" [ "$(printf '%s\n' "$err$out" | grep -Ec '(naive|fa2): the worker')" -eq 0 ]
is "the others have their times" [ "$(printf '%s\n' "$out" | grep -Ec '^(naive|fa2) +[0-9.]+ .* pass ')" -eq 2 ]

kernel afar '((volatile char *)a->o)[12 << 20] = 1;'
run check naive,afar,fa2 $shape
is "who writes far behind its output dies of it" says "$out" 'afar: .*the worker (died \(signal 11|ended with status 1: .*ABORTING)' # ASan
is "  and nobody else" [ "$(printf '%s\n' "$out" | grep -Ec '^(naive|fa2) .* pass ')" -eq 2 ]

# ---- processes ----
run check twin,naive $shape
is "a kernel that forks is told off" says "$err$out" 'twin: it left a process behind'
is "its neighbour is not" says "$out" '^naive .* pass '
run check deserter,naive $shape
is "one that leaves a process and kills its worker, too" says "$err$out" 'deserter: .*(died|left a process)'
is "and the process ends with it" gone "$tmp/deserter"

# ---- Python ----
if python3 -c 'import socket; socket.CMSG_SPACE' 2>/dev/null; then
    cat >starts.py <<EOF
import subprocess, os
import mine
def attend(q, k, v, scale, causal, out=None):
    if not os.path.exists("$tmp/started"):
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        with open("$tmp/started", "w") as f:
            f.write(str(child.pid))
    return mine.attend(q, k, v, scale, causal, out)
def dies(q, k, v, scale, causal, out=None):
    if not os.path.exists("$tmp/orphan"):
        subprocess.Popen(["sh", "-c", "echo \$\$ >$tmp/orphan; exec sleep 300"], start_new_session=True)
        while not os.path.exists("$tmp/orphan") or not os.path.getsize("$tmp/orphan"):
            pass
    os.abort()
EOF
    cp "$ATTNSCOPE_SRCDIR/tests/peers/mine.py" .
    export PYTHONPATH="$tmp" PYTHONDONTWRITEBYTECODE=1
    run check py:starts.attend,naive S=8 B=1 H=1 D=4 f32 backend=cpu
    is "a callable may start processes" [ "$rc" -eq 0 ]
    is "they end with it" gone "$tmp/started"
    run check py:starts.dies,naive S=8 B=1 H=1 D=4 f32 backend=cpu
    is "a callable that dies is named" says "$err$out" 'py:starts.dies: its Python process died \(signal 6'
    is "its neighbour passes" says "$out" '^naive .* pass '
    is "and what it had started ends, too" gone "$tmp/orphan"
else
    skip "no python3"
fi

# ---- another build ----
id=$(sed -n 's/.*wire_build\[\] = "\([0-9a-f]*\)".*/\1/p' "$ATTNSCOPE_BUILDDIR/build_id.c")
LC_ALL=C sed "s/$id/0123456789abcdef/" "$ATTNSCOPE_WORKER" >other-worker && chmod +x other-worker
ATTNSCOPE_WORKER=$tmp/other-worker run check naive $shape
is "a worker of another build is refused" says "$out" 'the worker is of another build \(0123456789abcdef\) than this program'
is "as a failure" [ "$rc" -eq 3 ]
finish
