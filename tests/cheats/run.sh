#!/bin/sh
# Cheats: kernels that are wrong, or do not do the work that they are timed for, in ways that are known of
# benchmarks. None may have both a pass and a time, and the reason must name what it does. One file each: c/
# (a library, on the CPU and on the fake driver), py/ (callables, with and without PyTorch's stub). Each says
# what is expected of its reason in a line "expect:"; "pass" is an honest one.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../cli/lib.sh"

: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}" "${ATTNSCOPE_BUILDDIR:?}"
here=$ATTNSCOPE_SRCDIR/tests/cheats
shape="B=1 H=2 S=20 D=8 f32"

# A line "NAME|CHECK|TIMED|REASON" for each row of $out.
rows() {
    printf '%s' "$out" | python3 -c 'import json, sys
for r in json.load(sys.stdin):
    print(r["kernel"], r["check"], "timed" if r["median_us"] else "untimed", r["reason"] or "", sep="|")'
}
expected() { # FILE: the pattern behind "expect:"
    sed -n 's/^[ *#]*expect: //p' "$1"
}
judge() { # NAME FILE WHERE: looks at the kernel's row of $table
    row=$(printf '%s\n' "$table" | grep "^$1|" | tail -1)
    want=$(expected "$2")
    if [ "$want" = pass ]; then
        is "$3: $1 is honest: it passes and has a time" says "$row" '\|pass\|timed\|'
    else
        # On the fake GPU, whose clock is the host's, what does nothing is also quicker than a launch can be.
        [ "$3" = cuda ] && want="$want|less than a launch takes"
        is "$3: $1 is caught" says "$row" "^$1\\|(fail|None)\\|.*($want)"
    fi
}

if ! python3 -c 'import socket; socket.CMSG_SPACE' 2>/dev/null; then
    echo "1..0 # SKIP no python3"
    exit 77
fi

# ---- libraries ----

list=
alone=
one_thread=
for c in "$here"/c/*.c; do
    name=$(basename "$c" .c)
    run kernel add "$ATTNSCOPE_BUILDDIR/tests/cheats/$name.so" dtypes=f32 backend=cuda,cpu "name=x_$name"
    [ "$rc" -eq 0 ] || is "kernel add $name" false
    if grep -q '^ \* threads=1$' "$c"; then
        one_thread="$one_thread $name"
    elif grep -q '^ \* alone$' "$c"; then # it goes on to disturb who is beside it, or is known when it is the only one
        alone="$alone x_$name"
    else
        list=$list${list:+,}x_$name
    fi
done
busy() { # more than twice as many processes as cores?
    awk -v cores="$(nproc)" '{ exit !($1 > 2 * cores) }' /proc/loadavg
}
libraries() { # WHERE ARGUMENT...
    where=$1
    shift
    table=
    for some in "$list" $alone; do
        # shellcheck disable=SC2086
        run run "$some" $shape n=12 "$@" --json
        # Among many others the time that clock hides may be what it waited for a core: once more, for longer.
        if busy && [ "$some" = x_clock ] && says "$(rows)" '\|pass\|timed'; then
            # shellcheck disable=SC2086
            run run "$some" $shape n=200 "$@" --json
        fi
        table=$(printf '%s\n%s' "$table" "$(rows)")
    done
    for c in $(grep -L '^ \* threads=1$' "$here"/c/*.c); do
        [ "$where" != cuda ] || ! grep -q '^ \* cpu$' "$c" || continue # there are no such threads
        judge "x_$(basename "$c" .c)" "$c" "$where"
    done
    # Who is lost as the base is no fault of the one that is left.
    # shellcheck disable=SC2086
    run compare x_lse_unasked,x_honest $shape n=12 "$@" --json
    table=$(rows)
    judge x_honest "$here/c/honest.c" "$where beside a base that is lost"
    # What needs no clock to be found: `check`, and `compare` with an honest one.
    for c in $(grep -l '^ \* checked' "$here"/c/*.c); do
        for how in "check x_" "compare x_honest,x_"; do
            # shellcheck disable=SC2086
            run $how$(basename "$c" .c) $shape "$@" --json
            table=$(rows)
            judge "x_$(basename "$c" .c)" "$c" "$where ${how%% *}"
        done
    done
}
libraries cpu backend=cpu
[ "${CHEATS_HOT:-yes}" = no ] || libraries "cpu, hot" backend=cpu l2=hot # the same code, other samples
for name in $one_thread; do
    # shellcheck disable=SC2086
    run run "x_$name" $shape n=6 backend=cpu threads=1 --json
    table=$(rows)
    judge "x_$name" "$here/c/$name.c" "cpu, threads=1"
done
# Whoever is measured beside such a one has an honest time, or none, and is not accused of what that did.
for name in pinned idle posix_timer denormals; do
    # shellcheck disable=SC2086
    run compare "x_honest,x_$name,naive" $shape n=12 backend=cpu --json
    table=$(rows)
    judge "x_$name" "$here/c/$name.c" "cpu, compare"
    judge x_honest "$here/c/honest.c" "cpu, beside $name"
    is "cpu, beside $name: naive passes" says "$table" '^naive\|pass\|timed'
done
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export FAKECUDA="us=50"
libraries cuda backend=cuda
unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC FAKECUDA

# ---- callables ----

mkdir plain stub
cp "$here"/py/*.py "$ATTNSCOPE_SRCDIR/tests/peers/mine.py" plain/
cp "$ATTNSCOPE_SRCDIR/tests/peers/torch.py" stub/
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$tmp/plain"
callables() { # WHERE PATTERN ARGUMENT...
    where=$1
    some=$(find "$here/py" -name "$2" | sort)
    shift 2
    list=
    for p in $some; do
        list=$list${list:+,}py:$(basename "$p" .py).attend
    done
    # shellcheck disable=SC2086
    run run "$list" B=1 H=2 S=5 D=4 f32 n=12 "$@" --json
    table=$(rows)
    for p in $some; do
        judge "py:$(basename "$p" .py).attend" "$p" "$where"
    done
}
callables python '*.py' backend=cpu
# The same through tensors on a GPU, whose outputs come by copy.
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export FAKECUDA="" STUB_TORCH="us=50 nograph=1" PYTHONPATH="$tmp/plain:$tmp/stub"
callables "python, GPU" 'cheat_[ahs]*[dht].py' backend=cuda launch=stream
finish
