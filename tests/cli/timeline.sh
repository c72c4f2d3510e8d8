#!/bin/sh
# Simulated blocks over SMs with their phases, in predicted microseconds: what they add up to, one of them, pictures.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=120

cat >sums.py <<'E2'
"""Of timeline --json and run --json of one run: steps of all blocks against phases, parts and pictures of blocks."""
import json, sys
line, run = json.load(open("line.json"))[0], json.load(open("run.json"))[0]
phases, courses, blocks = line["phase_list"], line["course_list"], line["block_list"]
near = lambda a, b: abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-9)
names = ("us", "warp_instructions", "smem_wavefronts", "global_sectors", "tensor_ops", "async_copies", "shuffles")
passes = sorted({p["pass"] for p in phases})
for p in phases:
    steps = [(c["stands"] * s["rounds"], s) for c in courses if c["pass"] == p["pass"]
             for s in c["steps"] if s["phase"] == p["phase"]]
    for name in names:
        assert near(sum(n * s[name] for n, s in steps), p[name]), (p["phase"], name)
    pipes = sum(p["pipes"].values())
    assert near(pipes, p["warp_instructions"]), "pipes"
for name in names[1:]:
    if run.get(name) is not None:
        assert near(sum(p[name] for p in phases), run[name]), name
own = {}
for part in run["predicted_parts"]:
    if part["phase"] is not None:
        key = (part["pass"], part["phase"])
        own[key] = own.get(key, 0) + part["us"]
whole = sum(x["us"] for x in run["predicted_parts"] if x["unit"] in ("l2", "dram") and x["phase"] is None)
assert near(sum(p["us"] for p in phases), sum(own.values()) + whole), "parts"
if len(passes) == 1: # what memory adds to a launch its phases share
    more = 1 + whole / sum(own.values())
    for p in phases:
        assert near(p["us"], more * sum(v for k, v in own.items() if k[1] == p["phase"])), p["phase"]
assert near(line["span_us"], run["predicted_us"]) and near(line["predicted_us"], run["predicted_us"]), "the whole"
assert near(max(b["end_us"] for b in blocks), line["span_us"]), "the last block's end"
assert all(b["end_us"] > b["begin_us"] > 0 for b in blocks)
for c in courses:
    assert near(sum(s["share"] for s in c["steps"]), 1), "shares"
for n in passes:
    run_blocks = [b for b in blocks if courses[b["course"]]["pass"] == n]
    assert near(sum(c["stands"] for c in courses if c["pass"] == n), len(run_blocks)), "blocks"
print("alike")
E2
# Sums of one kernel and shape; blocks=some are those that timeline runs by itself.
sums() {
    rm -f line.json run.json
    "$ATTNSCOPE" timeline "$@" backend=sim gpu=H200 --json >line.json 2>.err </dev/null &&
        "$ATTNSCOPE" check "$@" backend=sim gpu=H200 blocks=some hazards=off --json >run.json 2>>.err </dev/null
    [ "$(python3 sums.py 2>>.err)" = alike ] || { tail -3 .err | sed 's/^/# /' && false; }
}
is "steps add up to phases, counts, parts and the whole: fa2, causal" sums fa2 S=1k causal
is "  of tensor cores with copies under way" sums fa2_mma_async S=512 H=2
is "  of two launches" sums splitkv Sq=1 Sk=1k H=2
is "  of blocks without a barrier" sums naive S=128 H=2
is "  of atomics" sums decode_atomic Sq=1 Sk=512 H=2

run timeline fa2 S=1k causal backend=sim gpu=H200
is "blocks in microseconds" says "$out" '^predicted +\|0 .*us'
is "  which are said to be predicted" says "$out" 'ends at [0-9.]+ us; .*predicted [0-9.]+ us, median error [0-9.]+ %: the clock of this picture'
is "  a letter is a phase, with its line" says "$out" 'B copies \(fa2\.cu:[0-9]+\) [0-9.]+ %'
is "  of a simulated run" says "$out" '^fa2  SIM  H200'
run timeline fa2 S=1k causal gpu=H200
is "without the simulator the plan's letters" says "$out" 'query tiles in order'
for gpu in H200 L4; do
    run timeline fa2_mma gpu=$gpu
    is "  which mean the same on every GPU: $gpu" says "$out" 'A\.\.H: the 8 heads in order'
done
run timeline fa2 S=1k causal gpu=H200 origin=sim
is "origin=sim alone will do" says "$out" '^fa2  SIM  H200'

run timeline fa2 S=1k causal backend=sim gpu=H200 block=5
is "one block" says "$out" '^block 5 \(query tile 5 of head 0\) on SM 5, wave 1: [0-9.]+ us to [0-9.]+ us, predicted$'
is "  a line of its phases" says "$out" '^phases +\|A+B+C+B'
is "  and a row for each, a loop's rounds as one" says "$out" '^ +2  B +fa2\.cu:[0-9]+  copies +5  1 of 2 '
is "  beside its fellow" says "$out" '^ +3  C +fa2\.cu:[0-9]+  products, exp2/cvt.* +5  2 of 2 '
run timeline fa2 S=1k causal backend=sim gpu=H200 block=5 --csv
is "  as figures" says "$out" '^(.*,)?pipes'
all=$(printf '%s\n' "$out" | python3 -c 'import csv, sys; print(round(sum(float(r["share_pct"]) for r in csv.DictReader(sys.stdin)), 3))')
is "  of which none is missing" [ "$all" = 100.0 ]
run timeline fa2 S=1k backend=sim gpu=H200 block=900
is "a block that is not there" [ "$rc" -eq 2 ]
is "  says which are" says "$err" 'blocks 0 to 127'
run timeline fa2 S=1k gpu=H200 block=3
is "the plan knows no phases" says "$err" 'origin=sim'
run timeline fa2,naive S=1k backend=sim gpu=H200 block=3
is "a block is of one kernel" [ "$rc" -eq 2 ]
run timeline fa2 origin=guess
is "an origin that is none" says "$err" 'origin is model, sim or live'

# Rounds of a long loop are a handful of rows, whatever its length.
run timeline fa2 S=8k H=1 backend=sim gpu=H200 blocks=few block=0 --json
rows=$(printf '%s' "$out" | python3 -c 'import json, sys; r = json.load(sys.stdin); print(len(r), max(x["rounds"] for x in r))')
is "a loop over 8192 keys is folded" [ "${rows%% *}" -le 8 ]
is "  and says how often it goes round" [ "${rows##* }" -ge 100 ]

run -c 'timeline fa2 S=64 H=1 backend=sim gpu=H200' -c 'export figure=timeline t.svg'
is "as SVG" [ -s t.svg ]
is "  with letters of phases" says "$(cat t.svg)" '>C<'
is "  and what they are" says "$(cat t.svg)" 'products, exp2/cvt.* \(fa2\.cu:'
is "  in predicted microseconds" says "$(cat t.svg)" 'predicted [0-9.]+ us, median error'
run -c 'timeline fa2 S=1k causal backend=sim gpu=H200' -c 'export t.html'
is "as HTML" says "$(cat t.html)" 'products, exp2/cvt.* \(fa2\.cu:'

# Warpgroups of a block: who copies, who multiplies, what is under way meanwhile, who waits for which mbarrier.
run timeline fa3_warpspec S=512 H=1 D=128 gpu=H200 origin=sim block=0
is "they are told to have a scale of their own" says "$out" "^the first [0-9.]+ us of it, larger:$"
is "copies have a line for each place" says "$out" '^to Ks\[1\] +>'
is "a consumer waits for Q" says "$out" '^wg 0 consumer .*\.q_here/0\.'
is "  its products are under way on a line of their own" says "$out" '^  products of +=+Ks\[0\]='
is "the producer waits until a place is free" says "$out" '^wg 2 producer .*\.k_free\[0\]/0\.'
is "  what letters mean" says "$out" '> a copy under way  \. waits for an'
run timeline fa3_pingpong S=512 H=1 D=128 gpu=H200 origin=sim --json
is "warpgroups that take turns wait for each other" says "$out" '"name": *"barrier 2"'
run timeline fa2 S=512 H=1 D=64 gpu=H200 origin=sim block=0
is "a kernel without warpgroups has no such lines" silent "$(printf '%s' "$out" | grep consumer)"
run timeline fa3_persistent S=300 H=1 D=256 gpu=H200 origin=sim --json
is "as data, by the names of the source" says "$out" '"name": *"v_here\[1\]"'
is "  parity and bytes" says "$out" '"parity": *[01].*"bytes": *[0-9]+|"bytes": *[0-9]+.*"parity": *[01]'
run -c 'timeline fa3_warpspec S=512 H=1 D=128 gpu=H200 origin=sim block=0' -c 'export figure=roles t.svg' -c 'export t.html'
is "as SVG" says "$(cat t.svg)" 'wg 2 producer'
is "  a hint says what and when" says "$(cat t.svg)" 'waits for an mbarrier, k_free\[0\]/0'
is "as HTML" says "$(cat t.html)" 'wg 2 producer'

run timeline row_full S=512 H=2 gpu=H200
is "one query is no tile of queries" says "$out" 'A\.\.Z: the 512 queries in order'
run timeline row_full S=512 H=2 backend=sim blocks=few gpu=H200 block=0
is "  in a block's words, too" says "$out" '^block 0 \(query 0 of head 0\)'
run timeline fa2 S=128 H=1 gpu=Orin
is "a device that no time can be told for is named, and why" says "$out" 'no clock: Orin: the device table lacks'
finish
