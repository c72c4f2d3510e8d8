#!/bin/sh
# A recording that was changed by hand: the row is ALTERED wherever it is shown, and ranked nowhere; lines that
# were taken out or put in show, too. What only looks different is the same.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
data=$HOME/.local/share/attnscope
mkdir -p "$data/recordings"
record() { # file words...
    file=$1
    shift
    run record "$file" "$@" -- run naive,fa2 S=32 H=1 f32 n=5 time=0.1 backend=cpu
}
record a.rec
is "each line has a seal" [ "$(grep -c '"seal":"[0-9a-f]\{64\}"}$' a.rec)" -eq "$(wc -l <a.rec)" ]
run open a.rec
is "as it was written, nothing is said" silent "$err"
is "  and it is recorded" says "$out" 'recorded'
record a.rec --append
run open a.rec
is "what is recorded behind it continues" silent "$err"
run open a.rec --json
is "  all of it" [ "$(printf '%s' "$out" | grep -o '"origin":"recorded"' | wc -l)" -ge 4 ]

# ---- another look of the same ----
python3 - <<'END'
import json
with open("a.rec") as f:
    lines = [json.loads(x) for x in f]
with open("same.rec", "w") as f:
    for x in lines:
        f.write(json.dumps(dict(reversed(list(x.items())))) + "\n")
END
run open same.rec
is "blanks and the order of members are no change" silent "$err"

# ---- a time, by hand ----
sed '0,/"median_us":[0-9.]*/s//"median_us":0.5/' a.rec >b.rec
is "the time was changed" [ "$(cmp -s a.rec b.rec; echo $?)" -eq 1 ]
run open b.rec
is "a changed time is told" says "$err" '1 line was changed by hand since it was recorded: ALTERED'
run open b.rec naive
is "  its row says so" says "$out" '^naive .* altered$'
run open b.rec --json
is "  one row, and no other" [ "$(printf '%s' "$out" | grep -o '"origin":"altered"' | wc -l)" -eq 1 ]
run open b.rec --md
is "  in Markdown" says "$out" 'altered'
run report r.html b.rec
is "  on the page" [ "$(grep -c 'ALTERED, and ranked nowhere' r.html)" -ge 1 ]
sed 's/\({"type":"table".*"median_us":\)[0-9.]*/\10.5/' a.rec >g.rec
run report g.html g.rec
is "  and of a changed table" says "$(grep -o 'altered: [0-9]* rows' g.html)" 'altered: [0-9]'
record one.rec
sed '0,/"median_us":[0-9.]*/s//"median_us":0.5/' one.rec >two.rec
run compare one.rec two.rec
is "it is not compared" says "$out" 'ALTERED: it was changed by hand'
is "  and wins nothing" [ "$(printf '%s\n' "$out" | grep -c 'FASTER\|SLOWER')" -eq 0 ]
# samples are the row's, too
sed '0,/"samples_us":\[[0-9.]*/s//"samples_us":[0.25/' a.rec >c.rec
run open c.rec
is "changed samples" says "$err" '1 line was changed by hand'
# without its seal
sed '2s/,"seal":"[0-9a-f]*"}$/}/' a.rec >d.rec
run open d.rec
is "a seal that was taken off" says "$err" 'changed by hand'
# rows that go
sed 2d a.rec >e.rec
run open e.rec
is "a line that was taken out" says "$err" 'lines were taken out, put in or moved'
sed '2{h;d};3{G}' a.rec >f.rec
run open f.rec
is "lines that were moved" says "$err" 'lines were taken out, put in or moved'

run open "$ATTNSCOPE_SRCDIR/tests/data/v1.rec"
is "a recording of an older program has no seals, and is no worse" [ "$(printf '%s\n%s\n' "$out" "$err" | grep -ci altered)" -eq 0 ]
finish
