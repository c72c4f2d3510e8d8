#!/bin/sh
# Every kernel that ships has been held against float64 on 300 random shapes of each type, run under compute-sanitizer, and what
# `auto` knows of it was timed, as its code is today: tests/gpu/errors.tsv, sanitized.tsv, lessons/recordings/h200.tuned; or
# tests/gpu/owed.tsv names it with that code and says why not.
# Needs python3, no GPU.
# SPDX-License-Identifier: GPL-3.0-or-later
cd "${ATTNSCOPE_SRCDIR:-.}" || exit 99
command -v python3 >/dev/null 2>&1 || { echo "1..0 # SKIP no python3"; exit 0; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
n=0
# A case: a copy of the tables in a folder, and what it shows.
new() {
    n=$((n + 1))
    at=$tmp/$n
    mkdir "$at"
    cp tests/gpu/errors.tsv tests/gpu/sanitized.tsv tests/gpu/owed.tsv lessons/recordings/h200.tuned "$at"
    printf '%s\n' "$1" >"$at/says"
}
change() { # file, sed script
    sed "$2" "$at/$1" >"$at/new"
    cmp -s "$at/new" "$at/$1" && echo "nothing to change in $1 by $2" >>"$at/says"
    mv "$at/new" "$at/$1"
}
owe() { # as fa2's rows are
    printf 'errors\tfa2\tf16\t%s\t%s\n' "$(awk -F'\t' '$1 == "fa2" && $2 == "f16" { print $11 }' "$at/errors.tsv")" "$1" >>"$at/owed.tsv"
}
new "every kernel has its rows, or they are owed by name"
new "a kernel without a row is seen"
change errors.tsv '/^fa2\tf16\t/d'
new "so is a row of other code"
change errors.tsv 's/^\(fa2\tf16\t.*\t\)[0-9a-f]\{16\}\t/\10123456789abcdef\t/'
new "so are fewer shapes than are asked for"
change errors.tsv 's/^\(fa2\tf16\t\)[0-9]*/\1299/'
new "a check that failed cannot be owed"
change errors.tsv 's/^\(fa2\tf16\t[0-9]*\t\)0/\11/'
owe "to be mended"
new "sanitized rows of other code are seen"
change sanitized.tsv 's/^\(fa2\t[0-9]*\t\)[0-9a-f]*/\10123456789abcdef/'
new "and what a tool reports"
change sanitized.tsv '/^fa2\t/s/\t0$/\t3/'
new "and a planted fault that is not"
change sanitized.tsv '/^async_no_p\t/s/\t[1-9][0-9]*\t-\t-$/\t0\t-\t-/'
new "times of other code are seen"
change h200.tuned '/"kernel":"fa2"/{s/"hash":"[0-9a-f]*"/"hash":"0123456789abcdef"/;:rest;n;b rest}'
new "and a candidate whose times were all dropped"
change h200.tuned '/"kernel":"fa2"/d'
new "so are those of a kernel that is not here, which nobody can owe"
change h200.tuned 's/"kernel":"fa2"/"kernel":"fa2_old"/'
new "what is owed no more does not stay owed"
owe "an hour too few"
echo "1..$n"
python3 - "$tmp" "$n" <<'END'
import contextlib, importlib.machinery, importlib.util, io, sys
from pathlib import Path
sys.dont_write_bytecode = True
folder, n = Path(sys.argv[1]), int(sys.argv[2])
sys.path.insert(0, "tests/gpu")
loader = importlib.machinery.SourceFileLoader("owed", "tests/gpu/owed")
owed = importlib.util.module_from_spec(importlib.util.spec_from_loader("owed", loader))
loader.exec_module(owed)
for i in range(1, n + 1):
    says, *idle = (folder / str(i) / "says").read_text().splitlines()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = owed.check(folder / str(i))
    print(f"{'not ' if idle or status != (i > 1) else ''}ok {i} - {says}")
    for line in [*idle, *out.getvalue().splitlines()[-20:]] if idle or status != (i > 1) else []:
        print("#", line)
END
