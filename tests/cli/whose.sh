#!/bin/sh
# Shipped, yours or someone's, with a hash, wherever a kernel, a lesson, a recording or a result is shown; and names
# of this program go on meaning what is shipped, whatever lies in the user's folders or here.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR disable=SC3046
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
data=$HOME/.local/share/attnscope
config=$HOME/.config/attnscope
mkdir -p "$data/kernels" "$data/lessons" "$data/recordings" "$config"

kernel() { # file, name
    sed "s/@name *naive/@name $2/; s/ naive\\([_(]\\)/ $2\\1/" "$ATTNSCOPE_SRCDIR/kernels/cuda/naive.cu" >"$1"
}
# The row of `name` in the last output as JSON: one member.
member() { # name, member
    printf '%s\n' "$out" | grep "\"name\":\"$1\"" | sed -n "s/.*\"$2\":\"\\{0,1\\}\\([^\",}]*\\).*/\\1/p"
}
sha() { sha256sum "$1" | cut -c1-12; }

# ---- kernels ----
run kernels
is "where all is shipped no table says so" [ "$(printf '%s' "$out" | grep -c shipped)" -eq 0 ]
run kernels --json
is "rows always do" [ "$(member fa2 whose) $(member fa2 hash)" = "shipped $(sha "$ATTNSCOPE_SRCDIR/kernels/cuda/fa2.cu")" ]
kernel "$data/kernels/laid.cu" laid
kernel away.cu away
run kernel add away.cu
run kernels
is "a kernel in your own folder is yours" says "$out" '^laid .* yours '
is "  one that lies elsewhere is someone's" says "$out" "^away .* someone's "
is "  others are shipped" says "$out" '^fa2 .* shipped '
run kernel list
is "kernel list has the hash" says "$out" "^away .* someone's +$(sha away.cu) "
echo '// changed' >>away.cu
run kernel list
is "  as the file is now" says "$out" "^away .* someone's +$(sha away.cu) "
run kernels --json
is "rows have both" [ "$(member laid whose) $(member away whose)" = "yours someone's" ]
run source away
is "  source says it beside" says "$err" "^.*away: someone's, sha256 [0-9a-f]{12}"
run run laid,fa2 S=16 H=1 D=64 f16 backend=sim
is "  and a table of runs below" says "$out" '^laid: yours, sha256 [0-9a-f]{12}$'
is "    of those that are not shipped" [ "$(printf '%s' "$out" | grep -c sha256)" -eq 1 ]
kernel "$data/kernels/fa2.cu" fa2
run kernels
is "a kernel cannot take a shipped one's name" says "$err" 'the name fa2 is taken by a built-in kernel'
is "  which stays what it is" says "$out" '^fa2 .*FA-2 .* shipped '
rm "$data/kernels/fa2.cu"
kernel fa2.cu fa2
run kernel add fa2.cu
is "  nor by being added" says "$rc $err" '^2 .*the name fa2 is taken by a built-in kernel'

# ---- lessons ----
printf '# Mine\n\n## One\n\nText.\n' >lesson-of-mine.md
cp lesson-of-mine.md "$data/lessons/laid.md"
run lesson add lesson-of-mine.md
run lessons --json
is "a lesson in your own folder is yours" [ "$(member laid whose) $(member laid hash)" = "yours $(sha lesson-of-mine.md)" ]
is "  one that was added from elsewhere is someone's" [ "$(member lesson-of-mine whose)" = "someone's" ]
is "  the course is shipped" [ "$(member blocks whose)" = shipped ]
run lesson lesson-of-mine </dev/null
is "its head says so" says "$out" "^lesson lesson-of-mine: someone's, sha256 $(sha lesson-of-mine.md)\$"
mkdir other
for of in blocks 01-blocks; do
    cp lesson-of-mine.md "other/$of.md"
    run lesson add "other/$of.md"
    is "a lesson cannot take a shipped one's name ($of)" says "$rc $err" '^2 .*there is a lesson "blocks" already'
    cp lesson-of-mine.md "$data/lessons/$of.md"
    run lessons
    is "  nor by lying there" says "$err$out" 'there is a lesson "blocks" already'
    rm "$data/lessons/$of.md"
done
run lesson check other/blocks.md
is "  its file is still reached by its path" says "$out" "runs +ok"

# ---- recordings ----
run record mine.rec -- run naive S=16 H=1 f32 n=3 time=0.05 backend=cpu
run open mine.rec
is "a recording of this machine is yours" says "$out" "^mine \\| yours, sha256 $(sha mine.rec) "
mkdir "$tmp/teacher"
env HOME="$tmp/teacher" "$ATTNSCOPE" record taught.rec -- run naive S=16 H=1 f32 n=3 time=0.05 backend=cpu >/dev/null 2>&1
run open taught.rec
is "one that somebody made on such a machine is someone's, whoever has the file" says "$out" "^taught \\| someone's, sha256 $(sha taught.rec) "
export ATTNSCOPE_RESULTS="$tmp/taught.db"
run -c "open taught.rec; results"
is "results: whose they are stands below, where all rows are of one" says "$out" "^not yours: 1 of 1 row, of the recording taught \\(someone's, sha256 $(sha taught.rec)\\)\$"
run -c "merge taught.rec; results limit=500 --json"
is "  and stays so in one's own results" says "$out" '"whose":"someone.s"'
is "    and nowhere as yours" [ "$(printf '%s' "$out" | grep -c '"whose":"yours"')" -eq 0 ]
run results
is "    which the table says below" says "$out" "^not yours: 1 of 1 row \\(someone's\\)\$"
sed 's/"median_us":[0-9.]*/"median_us":0.5/' taught.rec >helped.rec
run -c "open helped.rec; results"
is "  and that a row was changed by hand, whatever columns there is room for" says "$out" 'ALTERED, changed by hand +since: 1 of'
cp mine.rec both.rec
env HOME="$tmp/teacher" "$ATTNSCOPE" record both.rec --append -- run naive S=20 H=1 f32 n=3 time=0.05 backend=cpu >/dev/null 2>&1
run -c "open both.rec; results limit=500 --json"
is "one to which somebody else has added is no longer yours as a whole" says "$err" 'both: 2 lines were added by another account than the one that began it'
is "  your rows are" says "$(printf '%s\n' "$out" | grep 'S=16')" '"whose":"yours"'
is "  and his are not" says "$(printf '%s\n' "$out" | grep 'S=20')" '"whose":"someone.s"'
env HOME="$tmp/teacher" "$ATTNSCOPE" open both.rec >both.txt 2>&1
is "  nor is the file his" says "$(cat both.txt)" "^both \\| someone's, "
"$ATTNSCOPE" record both.rec --append -- run naive S=24 H=1 f32 n=3 time=0.05 backend=cpu >/dev/null 2>&1
run -c "open both.rec; results limit=500 --json"
is "  what you add behind his is yours" says "$(printf '%s\n' "$out" | grep 'S=24')" '"whose":"yours"'
is "  and only his bear a mark of their own" [ "$(grep -c '"mark":' both.rec)" -eq 3 ]
unset ATTNSCOPE_RESULTS
is "a mark is a secret, and no recording has it" [ "$(stat -c %a "$data/mark") $(grep -c "$(cat "$data/mark")" mine.rec)" = "600 0" ]
is "  its hash with the time is in the first line" [ "$(sed -n 's/.*"mark":"\([0-9a-f]*\)".*/\1/p' mine.rec | wc -c)" -eq 33 ]
sed 's/"cpu":"[^"]*"/"cpu":"Z80"/' mine.rec >theirs.rec
run open theirs.rec
is "of another machine it is someone's" says "$out" "^theirs \\| someone's, sha256 $(sha theirs.rec) "
is "  and a first line that was changed is told" says "$err" 'where and when it was recorded was changed by hand'
sed 's/"median_us":[0-9.]*/"median_us":0.5/' mine.rec >worked.rec
run open worked.rec
is "what was changed is nobody's own" says "$out" "^worked \\| someone's, "
cp mine.rec "$data/recordings/own.rec"
cp theirs.rec "$data/recordings/got.rec"
run open --json
is "lists have both" [ "$(member own whose) $(member got whose) $(member h200 whose)" = "yours someone's shipped" ]
ATTNSCOPE_RESULTS=$tmp/elsewhere.db "$ATTNSCOPE" run naive S=24 H=1 f32 n=3 time=0.05 backend=cpu >/dev/null 2>&1
run merge elsewhere.db
run results limit=500 --json
is "rows that were merged stay whose they were" says "$(printf '%s' "$out" | grep 'S=24')" '"whose":"someone.s"'
is "  others are yours" says "$(printf '%s' "$out" | grep -v 'S=24')" '"whose":"yours"'
run results limit=500
is "  and the table says so where not all agree" says "$out" "someone's"
run -c 'open theirs.rec; open h200-short; results limit=500 --json'
is "results: what was measured here is yours" says "$out" '"whose":"yours"'
is "  rows of a recording are whose it is, with its hash" says "$out" "\"recording\":\"theirs\",\"whose\":\"someone's\",\"recording_hash\":\"$(sha theirs.rec)\""
run -c 'open h200-short; results limit=500'
is "  in the table where they differ" says "$out" 'recorded +shipped$'

cp mine.rec "$data/recordings/h200-short.rec"
cp mine.rec h200-short
run open h200-short
is "a name that is shipped means what is shipped" says "$out" '^h200-short \| shipped, '
is "  and not what lies in the folder, which is said" says "$err" "recordings/h200-short.rec is hidden by the recording h200-short of this program"
run open "$data/recordings/h200-short.rec"
is "  that is reached by its path" says "$out" '^h200-short \| yours, '
run open ./h200-short
is "  as is one that lies here" says "$out" '^h200-short \| yours, '
run -c 'open; open own'
is "  the list says it, too" says "$err" 'is hidden by the recording h200-short'

# ---- devices, commands ----
printf 'H100 sms=1\nMine like=L4 sms=3\n' >"$config/devices"
run devices --json
is "a device cannot take a name that means a shipped one" says "$err" 'devices:1: H100 means H100-SXM, a device of this program'
is "  others are taken in" [ "$(member Mine sms) $(member Mine whose) $(member L4 whose)" = "3 yours shipped" ]
run devices
is "  the table says which it is" says "$out" '^Mine .* yours'
run roofline fa2_mma gpu=H200
is "a shipped ceiling is said to be measured" says "$out" 'measured [0-9-]*: [0-9.]+ TFLOP/s'
mkdir -p "$data/ceilings"
sed 's/"value": 8/"value": 4/' "$ATTNSCOPE_SRCDIR/lessons/recordings/h200.ceilings" >"$data/ceilings/x.json"
run roofline fa2_mma gpu=H200
is "one of yours has its place, and says so" says "$(printf %s "$out" | tr "\n" " ")" 'measured here [0-9-]*: [0-9.]+ TFLOP/s.*in place of the shipped 8[0-9.]+ TFLOP/s'
rm "$data/ceilings/x.json"
run plan fa2 gpu=H100 --json
is "  and the name means what it did" says "$out" '"gpu":"H100-SXM"'
for verb in run lesson trace; do
    run -c "alias $verb = plan"
    is "$verb cannot become an alias" says "$rc $err" '^2 .*is a command of its own and stays one'
    printf 'alias %s = plan\n' "$verb" >"$config/config"
    run show S
    is "  not in the configuration either" says "$err" 'config:1: .* is a command of its own and stays one'
done
# ---- what of yours changes keys, predictions and auto ----
mkdir -p "$HOME/.config/attnscope" && echo 'x :plan fa2' >"$HOME/.config/attnscope/keys"
run doctor
is "doctor shows a key map of yours, and which" says "$out" "^user keys +ok +.*/attnscope/keys, sha256 $(sha256sum "$HOME/.config/attnscope/keys" | cut -c1-12)\$"
is "  and where factors and tuned parameters of yours would lie" [ "$(printf '%s\n' "$out" | grep -cE '^(user factors|tuned) +(absent|ok) ')" -eq 2 ]
finish
