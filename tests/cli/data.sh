#!/bin/sh
# Rows as data: the manual's recipes do what it says, and what older programs wrote opens.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2034,SC2154  # lib.sh gives tmp, rc, out and err
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_PYTHON=none ATTNSCOPE_LIBCUDA=none
case ${ATTNSCOPE_SRCDIR:=$(dirname "$0")/../..} in /*) ;; *) ATTNSCOPE_SRCDIR=$OLDPWD/$ATTNSCOPE_SRCDIR ;; esac
quick="n=3 time=0.02 threads=1 backend=cpu"

# The n-th literal block of the manual's section DATA, as its reader copies it.
recipe() {
    awk -v want="$1" '
        /^\.Sh /       { on = $2 == "DATA" }
        !on            { next }
        /^\.Bd /       { n++; text = 1; next }
        /^\.Ed/        { text = 0 }
        text && n == want { gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print }
    ' "$ATTNSCOPE_SRCDIR/man/attnscope.1.in"
}

recipe 1 >jq.sh
recipe 2 >recipe.py # pandas.py would be what `import pandas` finds
recipe 3 >rows.R
is "the manual has a recipe for jq" grep -q '^jq ' jq.sh
is "for pandas" grep -q 'import pandas' recipe.py
is "for R" grep -q 'read.csv' rows.R

# shellcheck disable=SC2086  # words of a command
run -c "run naive,cpu_tiled,fa2 S=32 H=1 D=16 f32 $quick --json > rows.json; \
        run naive,cpu_tiled S=32 H=1 D=16 f32 $quick --csv > rows.csv; \
        run naive S=16 H=1 D=16 f32 causal $quick --csv >> rows.csv"
is "rows are written" [ "$rc" -eq 0 ]

# Without a tool there is nothing to hold a recipe against; where one is, the recipe runs as it stands.
if command -v jq >/dev/null; then
    sed 1d jq.sh >only.sh # the first line measures
    out=$(sh -e only.sh 2>err)
    rc=$?
    err=$(cat err)
    is "the recipes for jq run" [ "$rc" -eq 0 ]
    is "the fastest first, with its keys" [ "$(printf '%s\n' "$out" | sed 3q | sort -t'	' -k3,3g)" = "$(printf '%s\n' "$out" | sed 3q)" ]
    is "keys are numbers" says "$out" '^fa2	32	[0-9.]+$'
    is "one line for each kernel and length" [ "$(printf '%s\n' "$out" | grep -c '"n":1')" -eq 3 ]
    is "parameters as columns" says "$out" '"kernel":"fa2","median_us":[0-9.]+,"BR":[0-9]+,"BC":[0-9]+'
    is "a version in every row" [ "$(jq 'map(select(.schema_version == 2)) | length' rows.json)" -eq 3 ]
else
    skip "the recipes for jq: jq is not here"
fi
if command -v python3 >/dev/null; then
    out=$(python3 -c 'import ast, sys; ast.parse(open("recipe.py").read())' 2>&1)
    rc=$?
    is "the recipe for pandas is Python" [ "$rc" -eq 0 ]
    if python3 -c 'import pandas' 2>/dev/null; then
        out=$(python3 recipe.py 2>&1)
        rc=$?
        is "and runs" [ "$rc" -eq 0 ]
        is "its table has a column for each kernel" says "$out" '^kernel +cpu_tiled +fa2 +naive'
        is "and a line for each length" says "$out" '^32 +[0-9.]+ +[0-9.]+ +[0-9.]+'
    else
        skip "the recipe for pandas: pandas is not here"
    fi
    out=$(python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("rows.csv", newline="")))
assert [(r["kernel"], r["Sk"], r["dtype"], r["causal"]) for r in rows] == [
    ("naive", "32", "f32", "false"), ("cpu_tiled", "32", "f32", "false"), ("naive", "16", "f32", "true")], rows
worst = json.loads(rows[0]["worst"])
assert rows[0]["worst_row"] == str(worst["row"]) and rows[0]["worst_col"] == str(worst["col"])
assert json.loads(rows[0]["param_values"]) == {"THREADS": 256}
END
    )
    rc=$?
    is "CSV: shape, parameters and the worst place are columns, appended rows fit" [ "$rc" -eq 0 ]
fi
if command -v Rscript >/dev/null; then
    out=$(Rscript rows.R 2>&1)
    rc=$?
    is "the recipe for R runs" [ "$rc" -eq 0 ]
    is "its table has each kernel and length" says "$out" '^ +kernel +Sk +median_us'
    is "what passed, the fastest first" [ "$(printf '%s\n' "$out" | awk 'NF == 4 { if ($4 < last) bad = 1; last = $4; n++ } END { print n, bad + 0 }')" = "3 0" ]
    is "and its plot is there" [ -s Rplots.pdf ]
else
    skip "the recipe for R: R is not here"
fi

# A sweep whose first cell is not possible: the columns are those of all rows.
run sweep naive H=3,4 Hkv=4 S=16 D=16 f32 n=2 time=0.02 threads=1 backend=cpu --csv
is "CSV has the fields of all rows, not of the first alone" [ "$(printf '%s\n' "$out" | head -n 1 | tr , '\n' | grep -c '^q1_us$')" -eq 1 ]

# Every picture says of what it is, on what, where its figures are from, and who made it.
missing=
captioned() { # COMMAND FIGURE WORD...
    # shellcheck disable=SC2086  # words of a command
    run -c "$1; export p.svg figure=$2; export p.gp figure=$2; export p.html"
    figure=$2
    shift 2
    for form in svg gp html; do
        # A long caption has the version in a line of its own.
        line=$(awk '/attnscope 0/ { print (/>attnscope 0/ ? before " " : "") $0 } { before = $0 }' p.$form |
            grep -E "$1" | grep -E '^set (multiplot .*)?title|class="d s"')
        for word in "$@" 'attnscope 0'; do
            says "$line" "$word" || missing="$missing $figure.$form:$word"
        done
        rm p.$form
    done
}
small="S=16 H=1 D=16 f32 $quick"
captioned "run fa2,naive $small" times 'fa2,naive' 'B=1 H=1 S=16 D=16 f32' 'live, .*1 thread'
captioned "compare $ATTNSCOPE_SRCDIR/tests/data/v1.rec $ATTNSCOPE_SRCDIR/tests/data/v1.rec" ratios 'fa2,cpu_tiled,naive' 'B=1 D=16 f32' 'recorded, .*1 thread'
captioned "sweep naive,fa2 S=8,16,32 H=1 D=16 f32 $quick" lines 'naive,fa2' 'B=1 H=1 D=16 f32' 'live, .*1 thread'
captioned 'sweep fa2 BR=32,64 BC=32,64 metric=waves gpu=L4' heat 'fa2' 'B=1 H=8 S=1024 D=64 f16' 'model, L4'
captioned 'plan fa2 gpu=H200' smem 'fa2' 'B=1 H=8 S=1024 D=64 f16' 'model, H200'
captioned 'roofline fa2,naive gpu=H100,L4' roofline 'fa2,naive' 'B=1 H=8 S=1024 D=64 f16' 'model, H100-SXM and L4'
captioned 'timeline fa2 gpu=L4 S=512 origin=model' timeline 'fa2' 'B=1 H=8 S=512 D=64 f16' 'model, L4'
captioned 'occupancy fa2 gpu=H200' sm 'fa2' 'B=1 H=8 S=1024 D=64 f16' 'model, H200'
is "captions have kernel, shape, device, origin and version:$missing" silent "$missing"
run -c 'devices L4; export t.svg'
is "a table that is drawn has one, too" grep -q 'attnscope 0' t.svg

# What the first version wrote: a recording and results. tests/data has them as they were.
old=$ATTNSCOPE_SRCDIR/tests/data
run open "$old/v1.rec" --json
is "an old recording opens" [ "$rc" -eq 0 ]
is "with all its rows" [ "$(printf '%s\n' "$out" | grep -c '"kernel":')" -eq 6 ]
is "each with the columns of today" [ "$(printf '%s\n' "$out" | grep -Ec '"origin":"recorded".*"Sq":(8|16|32),.*"D":16,"dtype":"f32".*"param_values":\{.*"schema_version":2')" -eq 6 ]
run -c "open $old/v1.rec; report old.html"
is "its tables and pictures make a page" grep -q '<svg' old.html
mkdir -p "$HOME/.local/share/attnscope"
cp "$old/v1.db" "$HOME/.local/share/attnscope/results.db"
run results --json
is "old results open" [ "$(printf '%s\n' "$out" | grep -Ec '"id":[1-6],.*"Sq":(8|16|32),.*"schema_version":2')" -eq 6 ]
# shellcheck disable=SC2086  # words of a command
run -c "run naive S=8 H=1 D=16 f32 $quick; results S=8 --csv"
is "and take new rows" says "$out" '^7,'

# Groups, and rows that go: never without a word.
cp "$old/v1.db" "$HOME/.local/share/attnscope/results.db"
run results by=kernel,shape --json
is "results are grouped" [ "$(printf '%s\n' "$out" | grep -c '"kernel":')" -eq 5 ]
is "with how many, and how far apart" says "$out" '"kernel":"naive","shape":"B=1 H=2 S=32 D=16 f32","n":2,"failed":0,"median_us":[0-9.]+,"best_us":[0-9.]+,"worst_us":[0-9.]+,"spread_pct":[0-9.]+'
is "a single one has no spread" says "$out" '"kernel":"fa2",.*"n":1,.*"spread_pct":null'
is "groups have the shape as columns" says "$out" '"Sq":32,.*"D":16'
run results by=Sq,kernel
is "numbers are sorted as numbers" [ "$(printf '%s\n' "$out" | awk 'NR > 1 { print $1 $2 }' | tr '\n' ' ')" = '8naive 16naive 32cpu_tiled 32fa2 32naive ' ]
run results by=kernel
is "times of several shapes have no median" says "$out" '^naive +4 +0 +- +- '
is "and the group says why" says "$out" 'naive: no times over rows that differ in shape'
run results by=kernl
is "a misspelt field gets its neighbour" says "$err" 'did you mean "kernel"'
run results by=kernel before=2020 --csv
is "no group: nothing breaks" [ "$rc" -eq 0 ]
run results prune
is "prune needs to know which" [ "$rc" -eq 2 ]
run results prune keep=1
is "it shows what would go, and does nothing without a word" [ "$rc" -eq 2 ]
is "it says what the word is" says "$err" 'nothing was removed; --yes removes 1 result, measured 20'
is "the older one of two" says "$out" '^ *1  20.* naive '
run results --json
is "all are there" [ "$(printf '%s\n' "$out" | grep -c '"id":')" -eq 6 ]
run --restricted results prune keep=1 --yes
is "not where a session is restricted" [ "$rc" -eq 2 ]
run results prune S=32 limit=1 --yes
is "a key that it does not heed is refused" [ "$rc" -eq 2 ]
if command -v python3 >/dev/null; then # on a terminal it asks, and Enter means no
    out=$(python3 - "$ATTNSCOPE" <<'END' 2>&1
import os, pty, sys, time
def answer(text):
    pid, fd = pty.fork()
    if not pid:
        os.execv(sys.argv[1], [sys.argv[1], "results", "prune", "S=16"])
    seen = b""
    try:
        while b"[y/N]" not in seen:
            seen += os.read(fd, 4096)
        os.write(fd, text)
        while True:
            seen += os.read(fd, 4096)
    except OSError:
        pass
    os.waitpid(pid, 0)
    return seen.decode()
for text in (b"\n", b"n\n", b"yes\n"):
    print(answer(text).splitlines()[-1])
END
    )
    is "on a terminal it asks, and Enter removes nothing" [ "$(printf '%s\n' "$out" | grep -c 'nothing was removed')" -eq 2 ]
    is "yes does" says "$out" '1 result removed'
else
    run results prune S=16 --yes
fi
for date in 2026-13-45 2026-02-30 2026-1 2026- 9999-12-31T25; do
    run results prune S=32 before=$date --yes
    is "prune takes no date $date" [ "$rc" -eq 2 ]
    is "  and says what it takes" says "$err" 'an age such as 30min.* or a date such as'
done
run results prune S=32 before=2020 --yes
is "none that old" says "$out" 'no results to remove'
run results prune S=32 keep=1 before=0min --yes --csv
is "with the word they go" [ "$rc" -eq 0 ]
is "and the output is a copy" [ "$(printf '%s\n' "$out" | grep -Ec '^[0-9]+,20')" -eq 1 ]
is "and it is said" says "$err" '1 result removed'
run results prune naive --yes
run results --json
is "the others stay" [ "$(printf '%s\n' "$out" | grep -o '"id":[0-9]*' | tr '\n' ' ')" = '"id":3 "id":2 ' ]

# A newer one may say more, and of a newer format nothing is made up.
sed 's/"row":{/"row":{"schema_version":99,"later":{"x":[1]},/' "$old/v1.rec" >later.rec
run open later.rec --json
is "members that are not known are skipped" [ "$(printf '%s\n' "$out" | grep -c '"schema_version":2')" -eq 6 ]
sed 's/"format_version":1/"format_version":2/' "$old/v1.rec" >newer.rec
run open newer.rec
is "a newer format is refused, and says so" [ "$rc" -eq 2 ]
is "with both numbers" says "$err" 'newer attnscope \(format 2, this one reads 1\)'
finish
