#!/bin/sh
# tests/gpu/hour: the steps of an hour on a GPU, here on the fake driver: each within its time, none in another's way.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    skip "no python3 of 3.11 or later"
    finish
    exit
fi
hour=${ATTNSCOPE_SRCDIR:?}/tests/gpu/hour
hour() {
    rc=0
    out=$(python3 "$hour" "$@" 2>&1 </dev/null) || rc=$?
}

# ---- the table that is shipped ----
hour list
is "every line of the table is understood" [ "$rc" -eq 0 ]
# shellcheck disable=SC2016
is "and its scripts are there" [ -z "$(printf '%s\n' "$out" | awk '$1 ~ /^(do|pack|compile|then)$/ { print $2 }' | sort -u | while read -r f; do [ -x "$f" ] || echo "$f"; done)" ]
is "a step that is begun has time to end" [ -z "$(printf '%s\n' "$out" | awk '$2 ~ /^[0-9]+\.\.[0-9]+$/ { split($2, s, "[.][.]"); if (s[1] + 0 > s[2] + 0 || s[2] > 570) print $1 }')" ]
hour list --only nothing
is "a step that is not there is named" says "$out" 'no step is called nothing; there are alive'

# ---- one of our own ----
printf 'import sys\nprint("a first line\\nwhy it failed")\nsys.exit(3)\n' >fails
printf 'import time\nprint("so far", flush=True)\nwhile True:\n    time.sleep(1)\n' >hangs
printf 'print("time is over before the rest")\n' >stops
printf 'import sys\nprint("share 0.9\\nthe end", sys.argv[1:])\nopen(sys.argv[1] + "/figures", "w").write("7\\n")\n' >writes
cat >steps <<END
then $tmp/fails
step good 1..60
says a check and a time
ahead fa2,fa2_mma H=1 S=16
run check fa2 S=16 H=1
run run fa2_mma S=16 H=1 n=3 l2=hot
step wrong 1..60
run check fa2 S=16 H=0
step fails 1..60
do $tmp/fails
step hangs 0..0.5
do $tmp/hangs
step stops 1..60
do $tmp/stops
step writes 1..60
do $tmp/writes {out} {left}
shows ^share
then $tmp/writes {out} {reason}
step late 1000..2000
do $tmp/writes {out}
step many 1..60 gpus=9
do $tmp/writes {out}
step tool 1..60 needs=no-such-tool
do $tmp/writes {out}
END
hour --steps steps run away
[ -e /dev/nvidiactl ] || is "without a driver: status 77" [ "$rc" -eq 77 ]

export ATTNSCOPE_LIBCUDA="${ATTNSCOPE_FAKECUDA:?}/fakecuda.so" FAKECUDA="us=70"
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA"
built=$(dirname "$ATTNSCOPE")
hour --steps steps run out "$built" --seconds 900 --save save.tgz
is "a step failed: status 1" [ "$rc" -eq 1 ]
is "rows are the result of what the program ran" says "$out" '^good +ok .*2 rows: fa2 .*pass, fa2_mma .*hot 70 us$'
is "they are kept" [ "$(grep -c '"check":"pass"' out/good/rows.json)" -eq 2 ]
is "what was not measured is a failure" says "$out" '^wrong +failed .*no rows; the log says why'
is "  and the log does" says "$(cat out/wrong/log)" 'H'
is "a script that fails: its last line" says "$out" '^fails +failed .* why it failed$'
is "  and all that it said" [ "$(grep -c . out/fails/log)" -eq 2 ]
is "one that does not end is stopped" says "$out" '^hangs +cut '
is "so is one that says that its time is over" says "$out" '^stops +cut .*before the rest$'
is "those behind it run, and tell what is asked for" says "$out" '^writes +ok .* share 0.9$'
is "no time is left" says "$out" '^late +skipped .*wants 1000 s, [0-9]+ s are left'
is "too few GPUs" says "$out" '^many +skipped .*needs 9 GPUs, here (is 1|are [0-8])'
is "no such tool" says "$out" '^tool +skipped .*needs no-such-tool, not found here'
is "all that was written is in the archive" says "$(tar tzf save.tgz | sort | tr '\n' ' ')" 'hour/done.json .*hour/fails/log .*hour/good/rows.json .*hour/writes/figures'
is "  and nothing else" [ "$(tar tzf save.tgz | grep -c '^hour/\(own\|home\|pack\)')" -eq 0 ]
hour --steps steps run out "$built" --seconds 900 --only writes --only fails
is "the steps that are named, in that order" [ "$(printf '%s\n' "$out" | sed -n 's/^hour: \(.*\): .*, .*/\1/p' | tr '\n' ' ')" = "writes fails " ]
sed 's/^step hangs.*/step hangs 1000..1000/' steps >later
hour --steps later run out "$built" --seconds 900
is "the same command goes on: what ended well is not run again" says "$out" '^good +before .*2 rows'
hour --steps steps "then" out "a reason of words"
is "what comes then, of the steps that ran" says "$out" "the end .*out/writes', 'a reason of words'"
is "  and one that fails is told" [ "$rc" -eq 1 ]
is "  last, when all others are done" says "$(printf '%s\n' "$out" | tail -1)" 'why it failed'

mkdir -p pack/cubin
for program in attnscope attnscope-worker; do
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$built/$program" >pack/$program
    chmod +x pack/$program
done
echo code >pack/cubin/key.cubin
tar czf pack.tgz pack
hour --steps steps run packed pack.tgz --only good
is "programs that were packed" says "$out" '^good +ok .*2 rows: fa2 '
is "  and what was compiled with them lies where it is looked for" [ -s packed/own/.cache/attnscope/cubin/key.cubin ]
is "  for scripts, too" [ -s packed/home/cache/attnscope/cubin/key.cubin ]
sed -i 's/exec.*/exit 1/' pack/attnscope
tar czf pack.tgz pack
hour --steps steps run packed pack.tgz --only good
is "  others take their place" says "$out" '^good +failed '

printf 'step one 1..2\nmake tea\n' >bad
hour --steps bad list
is "a word that is none, with its line" says "$out" 'bad:2: nothing is called make'

# ---- tables: a run of some kernels leaves the rows of others ----
mkdir new
python3 - "$ATTNSCOPE_SRCDIR/tests/gpu" new >"$tmp/.out" 2>&1 <<'END'
import gzip, json, shutil, sys
from pathlib import Path
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import drawn
out = Path(sys.argv[2])
def rows(path):
    return {line.split("\t")[0] + line.split("\t")[1]: line for line in path.read_text().splitlines() if "\t" in line}
def changed(script, name, function, *args):
    """Of a copy of the table: the keys whose rows are others now, and its head."""
    module = drawn.script(script)
    path = out / getattr(module, name).name
    shutil.copy(getattr(module, name), path)
    setattr(module, name, path)
    before = rows(path)
    getattr(module, function)(*args)
    print(script, *sorted(k for k in before.keys() | rows(path).keys() if before.get(k) != rows(path).get(k)))
    print(script, "head:", *[line for line in path.read_text().splitlines() if line.startswith("# ") and "GPU of today" in line])
(out / "errors.jsonl").write_text(json.dumps({"kernel": "fa2", "dtype": "bf16", "shape": "S=1", "check": "pass", "rounding_ratio": 1.0, "error_ratio": 0.5,
                                              "source_hash": "0" * 16, "device": "GPU of today", "driver": "1"}) + "\n")
(out / "errors.head").write_text("a day, seed 5\n")
changed("errors", "TABLE", "table", [out])
(out / "sanitized.jsonl").write_text("".join(json.dumps({"kernel": "fa2", "tool": t, "checks": 2, "errors": 0, "asked": 2, "said": "", "source_hash": "0" * 16}) + "\n"
                                             for t in ("memcheck", "racecheck", "initcheck", "synccheck")))
(out / "sanitized.head").write_text("GPU of today; a day, seed 5\n")
changed("sanitized", "TABLE", "table", [out])
(out / "sim.tsv").write_text("x\tfused-k-early\tfused_scalar\trace\tS=200 H=2 D=64\tfound\tyes\n")
(out / "head.txt").write_text("GPU of today; a day\n")
with gzip.open(out / "said.json.gz", "wt") as f:
    print(json.dumps(["fused-k-early", "fused_scalar", "S=200 H=2 D=64", "memcheck", "ended with 0\n========= ERROR SUMMARY: 9 errors"]), file=f)
changed("faults", "FOUND", "table", out)
END
out=$(cat "$tmp/.out")
is "errors: the row of what was checked, no other" says "$out" '^errors fa2bf16$'
is "  and where it comes from" says "$out" '^errors head: # NVIDIA H200.*; of fa2 GPU of today, driver 1, a day, seed 5$'
is "sanitized: as well" says "$out" '^sanitized fa2[0-9]+ fa2[0-9]+$|^sanitized fa28$'
is "  and where it comes from" says "$out" '^sanitized head: # .*; of fa2 GPU of today, a day, seed 5$'
is "faults: as well" says "$out" '^faults fused-k-earlyfused_scalar$'
# ---- forms of a kernel: compare prints the fastest first ----
forms=$(python3 - "${ATTNSCOPE_SRCDIR:?}/tests/gpu" <<'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import drawn
v = drawn.script("variants")
for D, names in v.FORMS.items():
    rows = [{"params": " ".join(["BR=192", "BLOCKS=132", *f.split()])} for f in names]
    for order in (rows, rows[::-1], rows[3:] + rows[:3], sorted(rows, key=str)):
        of = v.by_form(names, order)
        print(D, of is not None and all(of[f] is r for f, r in zip(names, rows)))
    print(D, len(rows), v.by_form(names, rows[1:]) is None, v.by_form(names, [*rows, rows[0]]) is None)
END
)
is "each form has its row, in whatever order they come" [ "$(printf '%s\n' "$forms" | grep -c 'True$')" -eq "$(python3 -c "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '${ATTNSCOPE_SRCDIR:?}/tests/gpu'); import drawn; print(5 * len(drawn.script('variants').FORMS))")" ]
is "  and none where one is missing or too many" [ "$(printf '%s\n' "$forms" | grep -c False)" -eq 0 ]

finish
