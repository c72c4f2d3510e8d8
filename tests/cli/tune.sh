#!/bin/sh
# tune ... measure: the fastest combination is found, confirmed in a run of its own, kept, and taken by "auto"; what cannot
# run is left out; without a difference the defaults stay; and what is no tuning of today's source is not taken.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
unset ATTNSCOPE_LIBCUDA
own=$HOME/.local/share/attnscope/kernels
src=${ATTNSCOPE_SRCDIR:?}/kernels/cpu
kept=$HOME/.local/share/attnscope/tuned
mkdir -p "$own"

# ---- what is asked ----
run tune fa2 S=64 backend=cpu measure BX=16,32
is "what is no parameter is told" says "$err" 'BX.* is none'
run tune fa2 S=64 backend=sim measure
is "without a clock there is nothing to measure" says "$err" 'needs times'
run tune fa2 S=64 backend=cpu l2=both measure
is "one state of the caches at a time" says "$err" 'l2=cold or l2=hot'
run tune S=64 measure
is "it needs a kernel" says "$err" 'tune needs a kernel'
run run auto S=64 H=1 f32 backend=cpu
is "auto without a tuning says how to make one" says "$err" 'auto: .*nothing that is here was timed .*tune K,K B=1 H=1 S=64 D=64 f32 measure'
is "  and takes the last step of the ladder, which it says" says "$err" 'auto: cpu_tiled, the last step of the ladder that runs there'
is "  and runs it" says "$out" '^cpu_tiled .* pass '
run check auto S=32 H=1 backend=sim gpu=L4
is "the simulator's auto is that of the GPU that is meant" says "$err" 'auto: [a-z0-9_]+.* by its times on H200, another GPU'
is "  and is checked" says "$out" ' pass '
run plan auto S=1k
is "so is a plan's" says "$err" 'auto: [a-z0-9_]+.*, expected to be fastest'
run run auto S=32 D=8191 f16 backend=cuda
is "what nothing takes is told" [ "$rc" -ne 0 ]
run run auto@BR=32 S=64 H=1 f32 backend=cpu
is "auto has no parameters of its own" says "$err" 'auto'

# ---- no difference ----
run tune fa2 BR=16,32 S=64 H=1 f32 backend=cpu n=12 measure
is "it ends well" [ "$rc" -eq 0 ]
is "what was tried is said" says "$out" '^[12] combinations? timed beside the defaults of fa2'
run run auto S=64 H=1 f32 backend=cpu n=3
is "auto is it" says "$out" '^fa2 .* pass '
run run auto S=60 H=1 f32 backend=cpu n=3
is "for shapes like it, too" says "$out" '^fa2 .* pass '
for other in 'S=256 H=1 f32' 'S=64 H=16 f32' 'Sq=64 Sk=1k H=1 f32' 'S=64 H=1 f16' 'S=64 H=1 f32 causal' 'S=64 H=1 f32 D=32' 'S=64 H=1 f32 l2=hot'; do
    # shellcheck disable=SC2086
    run run auto $other backend=cpu n=3
    is "not for $other" says "$err" 'auto: .*nothing that is here was timed'
done

# ---- a GPU, as the fake driver plays it ----
if [ -n "${ATTNSCOPE_FAKECUDA:-}" ]; then
    export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_FAKECUDA/fakecuda.so" FAKECUDA="us=50"
    run run auto S=300 H=3 n=5
    is "the first command of all: the GPU is asked what it is, and what may be fastest is timed" says "$err" 'auto: [a-z0-9_]+.*, the fastest of [2-8] that may be, timed just now'
    is "  and runs" says "$out" '^[a-z0-9_]+ .* pass '
    run run auto S=300 H=3 n=5 backend=cuda
    is "  once" [ "$(printf '%s\n' "$err" | grep -c 'timed just now')" -eq 0 ]
    rm -f "$kept/H200.json"
    run tune fa2 S=64 f16 backend=cuda gpus=2 devices=0,0 measure
    is "what several GPUs share tells nothing of one" says "$err" 'keeps what is fastest on one GPU; leave out gpus='
    run tune fa2,decode_atomic WARPS=2,4 Sq=8 Sk=64 H=2 f16 backend=cuda n=6 measure
    is "equal times: the defaults stay" says "$out" 'auto is now fa2 with its defaults'
    is "a tile that does not fit is not timed" says "$(run tune decode_splitkv WARPS=4 STAGES=3,8 Sq=1 Sk=64 H=1 D=256 f16 backend=cuda n=3 measure && echo "$out")" '1 more cannot run'
    run run auto Sq=8 Sk=64 H=2 f16 backend=cuda n=3
    is "auto on the GPU" says "$out" '^fa2 .* pass '
    run run auto Sq=8 Sk=64 H=2 f16 backend=cpu n=3
    is "and not elsewhere" says "$err" 'auto: .*nothing that is here was timed'
    # The first row names the GPU, an H200, of which times are shipped.
    for l2 in hot cold; do
        run_input "check naive S=16 H=1 backend=cuda
check auto H=4 S=64 D=512 f32 backend=cuda l2=$l2"
        is "what is shipped of this GPU, L2 $l2" says "$out" '^bigd_[a-z]* .* pass '
    done
    # With one line in the place of what is shipped that is all that is known: the less of a shape the farther it is.
    hash=$("$ATTNSCOPE" check naive S=16 H=1 f32 backend=cuda --json 2>/dev/null | sed -n 's/.*"source_hash": *"\([0-9a-f]*\)".*/\1/p' | head -1)
    printf '{"tuned":[{"device":"H200","backend":"cuda","l2":"cold","shape":"B=1 H=2 S=64 D=64 f32","kernel":"naive","hash":"%s","median_us":5}]}' "$hash" >one.tuned
    doubt=0
    for asked in 'S=64 H=2' 'S=70 H=2' 'S=70 H=2 causal' 'S=1k H=8 causal'; do
        ATTNSCOPE_TUNED=one.tuned run_input "check naive S=16 H=1 backend=cuda
check auto $asked D=64 f32 backend=cuda"
        is "ATTNSCOPE_TUNED: for $asked" says "$out" '^naive .* pass '
        now=$(printf '%s\n' "$err" | sed -n 's/.*give or take \([0-9]*\) %.*/\1/p')
        is "  with more doubt than before" [ "${now:-1}" -gt "$doubt" ]
        doubt=${now:-1}
    done
    # Nor is a kernel forgotten whose source has changed: less is known of it.
    sed "s/$hash/0123456789abcdef/" one.tuned >old.tuned
    ATTNSCOPE_TUNED=old.tuned run explain auto S=64 H=2 D=64 f32 gpu=H200
    is "times of an earlier source count, and are told" says "$out" 'expected to be fastest: .* the nearest B=1 H=2 S=64 D=64 f32, when its source was another'
    is "  but not as if they were of this one" says "$out" '^naive +[0-9.]+ +[0-9]+ % .* [(]earlier source[)]'
    # A GPU of which nothing comes with the program is expected to do as another does, in its own units.
    run plan auto S=64 H=2 D=64 f32 gpu=L4
    is "times of another GPU count" says "$err" 'auto: [a-z0-9_]+.*, expected to be fastest: .* by its times on H200, another GPU, at '
    ATTNSCOPE_TUNED=one.tuned run_input "check naive S=16 H=1 backend=cuda
check auto S=64 H=2 D=64 f32 backend=cuda l2=hot"
    is "what was timed with the other cache says so, and is no time of this one" says "$err" 'auto: naive, expected to be fastest: .*, with the L2 cold'
    # Two that are expected to take as long: they are timed, once, where something is timed anyway.
    line() { # kernel, shape, us
        h=$("$ATTNSCOPE" check "$1" S=16 H=1 f32 backend=cuda --json 2>/dev/null | sed -n 's/.*"source_hash": *"\([0-9a-f]*\)".*/\1/p' | head -1)
        printf '{"device":"H200","backend":"cuda","l2":"cold","shape":"%s","kernel":"%s","hash":"%s","median_us":%s}' "$2" "$1" "$h" "$3"
    }
    two() { # us of each
        printf '{"tuned":[%s,%s]}' "$(line fa2 'B=1 H=2 S=128 D=48 f32' "$1")" "$(line splitkv 'B=1 H=2 S=128 D=48 f32' "$2")" >two.tuned
    }
    see='check naive S=16 H=1 backend=cuda'
    two 50 51
    export ATTNSCOPE_TUNED=two.tuned
    run_input "$see
plan auto H=2 S=160 D=48 f32 gpu=H200
check auto H=2 S=160 D=48 f32 backend=cuda"
    is "plans and checks time nothing" says "$err" 'auto: fa2, expected to be fastest: about [0-9.]+ us, give or take [0-9]+ %, by its times on another H200 at 1 shape, the nearest B=1 H=2 S=128 D=48 f32; splitkv would take 1.05 times as long'
    is "  and keep nothing" [ "$(cat "$kept"/*.json | grep -c '"scope": "shape"')" -eq 0 ]
    run_input "$see
explain auto H=2 S=160 D=48 f32"
    is "explain says which may be fastest" says "$out" 'The first 2 may be fastest, for all that is known: run auto times them'
    is "  with the time of each" says "$out" '^splitkv +[0-9.]+ +[0-9]+ % +1[.]05 +1 +B=1 H=2 S=128 D=48 f32'
    FAKECUDA="us=50" run_input "$see
run auto H=2 S=160 D=48 f32 backend=cuda n=3
run auto H=2 S=160 D=48 f32 backend=cuda n=3
plan auto H=2 S=160 D=48 f32"
    is "run times them, once" [ "$(printf '%s\n' "$err" | grep -c 'auto: fa2, the fastest of 2 that may be, timed just now')" -eq 1 ]
    is "  and then nothing is to be told" [ "$(printf '%s\n' "$err" | grep -c 'auto:')" -eq 1 ]
    is "  by what it found" [ "$(printf '%s\n' "$out" | grep -c '^fa2 .* pass ')" -eq 2 ]
    is "  at the shape that was asked for" says "$out" '^B=1 H=2 S=160 D=48 f32'
    is "  which is kept of that shape" [ "$(grep -c '"scope": "shape"' "$kept/H200.json")" -eq 2 ]
    run_input "$see
plan auto H=2 S=161 D=48 f32"
    is "  and of no other, but for what may be expected there" says "$err" 'auto: [a-z0-9]+, expected to be fastest: .* by its times here at 2 shapes, the nearest B=1 H=2 S=160'
    rm "$kept/H200.json"
    two 50 90
    run_input "$see
run auto H=2 S=140 D=48 f32 backend=cuda n=3"
    is "beyond doubt nothing is timed" says "$err" 'auto: fa2, expected to be fastest: .*splitkv would take 1.8'
    two 50 51
    run_input "$see
run auto H=2 S=144 D=48 f32 backend=cuda n=3 shapes=/dev/null
tune splitkv H=2 S=144 D=48 f32 BR=32,64 backend=cuda n=3 measure
run auto H=2 S=144 D=48 f32 backend=cuda n=3"
    is "what tune found goes before" says "$(printf '%s\n' "$out" | tail -3)" '^splitkv '
    is "  without timing" [ "$(printf '%s\n' "$err" | grep -c 'timed just now')" -eq 0 ]
    unset ATTNSCOPE_TUNED
    unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC FAKECUDA
fi
run plan auto S=3k gpu=H200
is "a plan for a GPU of which times are shipped needs none" says "$err" 'auto: .*on another H200'
run explain auto gpu=MI300X
is "explain says where nothing can be expected" says "$out" 'Nothing that is here was timed there'

# ---- the program that makes a list: what it has measured is kept, whenever it is stopped ----
auto=${ATTNSCOPE_SRCDIR:?}/tests/gpu/auto
built=$(dirname "$ATTNSCOPE")
keep() {
    python3 "$auto" keep --cpu --programs "$built" --rows rows.jsonl --time 0.01 --only 'H=1 S=128 D=64 f32|H=1 S=16 ' "$@" >"$tmp/.out" 2>&1
    out=$(cat "$tmp/.out")
}
keep --seconds 0
is "no time: nothing is measured, and that is said" says "$out" 'time is over before H=1 S=128'
keep
is "a line for each shape" [ "$(wc -l <rows.jsonl)" -eq 2 ]
sum=$(head -1 rows.jsonl | cksum)
head -1 rows.jsonl >cut.jsonl
printf '{"asked":"H=1 S=16 D=8k f32","ro' >>cut.jsonl
mv cut.jsonl rows.jsonl
keep
is "one that was cut off is measured again" [ "$(wc -l <rows.jsonl)" -eq 2 ]
is "  and the other is not" [ "$(head -1 rows.jsonl | cksum)" = "$sum" ]
python3 "$auto" write first.tuned rows.jsonl >/dev/null
head -1 rows.jsonl >new.jsonl
python3 "$auto" write both.tuned --over first.tuned new.jsonl >"$tmp/.out"
is "a list that is renewed in part keeps the rest" [ "$(grep -c '"shape":"B=1 H=1 Sq=16\|"shape":"B=1 H=1 S=16' both.tuned)" -eq "$(grep -c '"shape":"B=1 H=1 Sq=16\|"shape":"B=1 H=1 S=16' first.tuned)" ]
is "  and has as many lines" [ "$(wc -l <both.tuned)" -eq "$(wc -l <first.tuned)" ]
python3 - <<'END'
import json
lines = [json.loads(line) for line in open("rows.jsonl")]
with open("rows.rec", "w") as f:
    f.write('{"type":"header","format":"attnscope-recording"}\n')
    for row in (r for x in lines for r in x["rows"]):
        f.write(json.dumps({"type": "row", "row": {k: v for k, v in row.items() if k not in ("own", "asked", "gpu")}}) + "\n")
    f.write(json.dumps({"type": "row", "row": {**lines[0]["rows"][0], "kernel": "torch:flash"}}) + "\n")
with open("old.jsonl", "w") as f:
    for x in lines:
        f.write(json.dumps({**x, "rows": [{**r, "backend": "cuda", "source_hash": "0123"} for r in x["rows"]]}) + "\n")
END
python3 "$auto" write rec.tuned rows.rec >/dev/null
is "recordings are rows, too, but for those of others" [ "$(sed 's/"own":"[^"]*",//; s/,$//' rec.tuned | sort | cksum)" = "$(sed 's/"own":"[^"]*",//; s/,$//' first.tuned | sort | cksum)" ]
python3 "$auto" write none.tuned old.jsonl >/dev/null
is "what is of another source is left out" [ "$(grep -c kernel none.tuned)" -eq 0 ]

# ---- a difference that nobody can miss: a parameter that wastes time ----
if ! command -v cc >/dev/null; then
    finish
    exit
fi
waster() {
    sed -e 's/@name      fa2/@name      waster/' -e 's/attn_fa2/attn_waster/' \
        -e 's/^ \* @grid  .*/ * @param     WASTE 8 [1..64]  how much time is lost\n * @requires  WASTE != 2\n&/' \
        -e 's/    run_grid(a, l, ceil/    for (volatile long i = cpu_param(l, "WASTE") * 400000; i > 0; i--) continue;\n    run_grid(a, l, ceil/' \
        "$@" "$src/fa2.c" >"$own/waster.c"
    "$ATTNSCOPE" kernel allow waster >/dev/null 2>&1
}
waster
run tune waster WASTE=1,2,8,16 S=32 H=1 f32 backend=cpu n=200 measure
is "the fastest one stands first" says "$(printf '%s\n' "$out" | grep '^waster ' | head -1)" '^waster +WASTE=1 '
is "what the kernel rules out is not timed" says "$out" '^2 combinations timed .* 1 more cannot run'
is "it is confirmed in a run of its own" says "$out" 'timed once more.*waster \(WASTE=1\).*FASTER'
is "and kept" says "$out" 'auto is now waster \(WASTE=1\)'
is "with its verdict" grep -q '"verdict": "FASTER"' "$kept"/*.json
run run auto S=32 H=1 f32 backend=cpu n=3
is "auto has its parameters" says "$out" '^waster .*WASTE=1|WASTE=1'
run run auto S=32 H=1 f32 backend=cpu n=3 --json
is "as rows say" says "$out" '"kernel":"waster".*"params":"[^"]*WASTE=1'
run compare auto,waster@WASTE=8 S=32 H=1 f32 backend=cpu n=12
is "beside others" says "$out" 'waster.*base'
run tune waster BR=16,32 S=128 H=1 f32 backend=cpu n=6 WASTE=1 measure
is "a parameter with one value stays" says "$out" 'auto is now'

# ---- whose source it is ----
waster -e 's/400000/400001/'
run run auto S=32 H=1 f32 backend=cpu n=3
is "a changed source was not timed: the nearest that was" says "$out" '^fa2 .* pass '
is "  which is told, with its shape" says "$err" 'auto: fa2(@BR=(16|32))?, which was fastest here at B=1 H=1 S=64 D=64 f32, the nearest that was timed'
run run auto S=32 H=8 f32 backend=cpu n=3
is "  but none that is more than a factor of 8 away" says "$err" 'auto: .*nothing that is here was timed'
printf 'rubbish' >"$kept/a.json"
printf '{"tuned":[{"device":1},{"kernel":"fa2"},5]}' >"$kept/b.json"
run run auto S=64 H=1 f32 backend=cpu n=3
is "files that are none are passed over" says "$out" '^fa2 .* pass '
run run auto S=32 H=8 f32 backend=cpu n=3
is "  and where nothing is found are told" says "$err" 'auto: .*nothing that is here was timed .*; not used: .*/[ab]\.json'
mine=$(find "$kept" -name '[!abH]*.json')
cp "$mine" mine.kept
printf '{"tuned":[7]}' >"$mine"
run tune fa2 BR=16,32 S=64 H=1 f32 backend=cpu n=6 measure
is "what cannot be read is not written over" [ "$(cat "$mine")" = '{"tuned":[7]}' ]
is "  which is told" says "$out$err" 'not kept for auto: .*: 1 of 1 entries are none; move it away'
is "  and is no success, for it was measured to be kept" [ "$rc" -eq 3 ]
cp mine.kept "$mine"
sed -i 's/"own": "[^"]*"/"own": "NONE=1@BR"/; s/"own": null/"own": "NONE=1"/' "$kept"/[!ab]*.json
run run auto S=64 H=1 f32 backend=cpu n=3
is "parameters that the kernel lacks are told" says "$err" 'NONE'
run --restricted -c 'tune fa2 BR=16,32 S=64 H=1 f32 backend=cpu n=6 measure'
is "a restricted session keeps nothing" says "$err" 'writes no files'
is "  as it was asked to" [ "$rc" -eq 0 ]

# ---- 60 columns ----
if command -v python3 >/dev/null; then
    out=$(python3 - "$ATTNSCOPE" tune fa2 gpu=L4 2>/dev/null <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.write(data.decode().replace("\r", ""))
os.waitpid(pid, 0)
END
    )
    is "a narrow terminal has the table" says "$out" '^ +1 +BR=128 BC=32 '
    is "  in lines that it has room for" [ -z "$(printf '%s\n' "$out" | grep -E '^.{61}')" ]
fi
finish
