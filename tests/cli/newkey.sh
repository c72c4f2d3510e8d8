#!/bin/sh
# A further key of the shape or option is its member and one line in a table, a field of run one line
# and who fills it. This adds two keys, a number and a word, an option and a field to a copy of the source,
# builds it, and meets them everywhere: set, show, help, completion, JSON, the store, the wire, an axis of a
# sweep, the shape pane. Takes minutes: `make check-long`.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154  # lib.sh gives tmp, rc, out and err
build=$PWD
source=$(cd "${ATTNSCOPE_SRCDIR:-$(dirname "$0")/../..}" && pwd) || exit 99
. "$(dirname "$0")/lib.sh"

[ -x "$build/config.status" ] || { echo "1..0 # SKIP not in a build folder"; exit 77; }
worker=${ATTNSCOPE%/*}/attnscope-worker

# ---- the changes, in 2 files each: a member and a line; a field of run is a line and who fills it ----
mkdir "$tmp/copy"
(cd "$source" && tar cf - configure* Makefile.* aclocal.m4 build-aux m4 src kernels lessons man tests tools ./*.md) |
    (cd "$tmp/copy" && tar xf -)
cd "$tmp/copy" || exit 99
sed -i 's/^    bool hkv_given;.*/    int64_t W;\n    unsigned bias;\n&/' src/spec/shape.h
sed -i '/^    WORD(FIELD_WORD, layout,/a\
    FIELD(FIELD_INT, shape, W, .flags = FIELD_DOUBLES, .lo = 0, .hi = 4096, .doc = "keys a query looks back at, 0 for all"),\
    FIELD(FIELD_WORD, shape, bias, .flags = FIELD_BARE, .words = (const char *const[]){"flat", "sloped", NULL}, .doc = "what is added to scores"),
' src/spec/shape.c
sed -i 's/^    int device, threads, streams;$/&\n    int pause_ms;/' src/measure/options.h
sed -i '/^    FIELD(FIELD_COUNT, options, streams,/i\
    FIELD(FIELD_COUNT, options, pause_ms, .lo = 0, .hi = 1000, .doc = "rest between samples"),
' src/measure/options.c
sed -i '/^RUN_FIELD(REAL, speedup,/i\
RUN_FIELD(REAL, joules, .digits = 3, .unit = "J", .doc = "Energy of a run.")
' src/measure/run_fields.h
sed -i 's/^    row->min_us = .*/&\n    row->joules = 2000 * s.median;/' src/measure/timing.c
diff -ru "$source/src" src | sed -n 's/^/# /p'
changed=$(diff -rq "$source/src" src | sed 's/.* src\/\([a-z_/]*\.[ch]\) differ/\1/' | tr '\n' ' ')
is "two files are changed for each" \
    [ "$changed" = "measure/options.c measure/options.h measure/run_fields.h measure/timing.c spec/shape.c spec/shape.h " ]

mkdir "$tmp/made"
cd "$tmp/made" || exit 99
options=$("$build/config.status" --config)
eval "../copy/configure -q $options" >../configure.log 2>&1 &&
    make -s -j2 attnscope attnscope-worker tests/tui/test_golden.t >../make.log 2>&1
is "it compiles" [ -x tests/tui/test_golden.t ]
[ -x tests/tui/test_golden.t ] || { cat ../configure.log ../make.log | tail -n 20; finish; exit 1; }
ATTNSCOPE=$PWD/attnscope
unset ATTNSCOPE_WORKER
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none

# ---- set, show, reset, save ----
run -c 'set W=8 sloped; show W bias; reset W; show W'
is "set and show take it" says "$out" '^W +8 +0 +keys a query looks back at'
is "a word stands alone" says "$out" '^bias +sloped +flat +what is added to scores'
is "reset gives it back" says "$out" '^W +0 +0 '
run set W=5000
is "its range is held" says "$err" 'W=5000 is too large; the largest is 4k'
run set bias=slopped
is "its words are held" says "$err" 'bias has no value "slopped"; did you mean "sloped"\?'
run set w=3
is "a wrong key gets the nearest" says "$err" 'did you mean "W"\?'
run -c 'set W=8 bias=sloped; save /dev/stdout'
is "a session is saved with it" says "$out" '^set .*W=8 bias=sloped'

# ---- help, manual, completion ----
run help run
is "help lists it" says "$out" 'layout W bias'
run complete-line 'run fa2 W'
is "completion offers the key" says "$out" '^W='
run complete-line 'run fa2 bias=s'
is "completion offers the word" says "$out" 'sloped'

# ---- rows: JSON, the wire, the store ----
quick='backend=cpu time=0.02 n=2 B=1 S=16 H=1 D=16 threads=1'
# shellcheck disable=SC2086  # words
run run fa2 $quick W=4 sloped --json
is "the worker takes it, and the row has it" says "$out" '"shape":"B=1 H=1 S=16 D=16 f16 W=4 sloped"'
is "the row passes" says "$out" '"check":"pass"'
# shellcheck disable=SC2086
run run fa2 $quick
is "what is usual is not written" [ "$rc" -eq 0 ]
run results W=4 --csv
is "the store finds it" [ "$(printf '%s\n' "$out" | grep -c 'W=4')" -eq 1 ]
run results W=0 --csv
is "and what is without it" [ "$(printf '%s\n' "$out" | grep -c ',pass,'),$(printf '%s\n' "$out" | grep -c 'W=4')" = 1,0 ]
export ATTNSCOPE_WORKER="$worker"
# shellcheck disable=SC2086
run run fa2 $quick W=4
unset ATTNSCOPE_WORKER
is "a worker without it takes no request with it" [ "$rc" -ne 0 ]

# ---- the option and the field ----
run -c 'set pause_ms=20; show pause_ms; set pause_ms=2k'
is "an option is set" says "$out" '^pause_ms +20 +0 +rest between samples'
is "in its range" says "$err" 'pause_ms=2k is too large; the largest is 1000'
run help run
is "help lists the option" says "$out" 'pause_ms'
# shellcheck disable=SC2086
run run fa2 $quick pause_ms=5 --json
is "a row has the field, filled" says "$out" '"joules":[0-9.]+[0-9e]'
run results limit=1 --json
is "and its command the option" says "$out" 'pause_ms=5'
is "the store has the field's value" says "$out" '"joules":[0-9.]+[0-9e]'
run results --csv
is "the field is a column" says "$(printf '%s\n' "$out" | head -n 1)" ',joules,'
run complete-line 'sweep fa2 S=64,128 metric=jou'
is "and a metric" says "$out" 'joules'

# ---- an axis ----
run sweep fa2 W=0,2,4 metric=waves gpu=L4 --json
is "it is an axis" [ "$(printf '%s\n' "$out" | grep -c '"W":')" -eq 3 ]
run sweep fa2 bias=flat,sloped metric=waves gpu=L4
is "a word is an axis" says "$out" 'sloped'

# ---- the shape pane ----
UPDATE_GOLDEN=1 ATTNSCOPE_SRCDIR=$tmp/copy ./tests/tui/test_golden.t >../golden.log 2>&1
screen=$(awk '$0 == "== explore, ascii, 200x50" { on = 1; next } /^== / { on = 0 } on' \
    "$tmp/copy/tests/tui/golden.txt")
is "Explore's shape pane has the number" says "$screen" '[^A-Za-z]W +0[^0-9]'
is "and the word" says "$screen" 'bias +flat'
finish
