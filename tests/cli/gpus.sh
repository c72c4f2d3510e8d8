#!/bin/sh
# gpus=N on the fake driver's devices, which are apart: right by NCCL and by copies, with the bytes that were planned; a copy or
# a wait that is left out is found; faults of one of them are told.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2086  # lib.sh gives tmp, rc, out and err; shapes are words
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_FAKECUDA:?}"
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_GPU_LOCK="$tmp" COLUMNS=200
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA" ATTNSCOPE_LIBNCCL="$ATTNSCOPE_FAKECUDA/fakenccl.so" ATTNSCOPE_PYTHON=none
fake() { export FAKECUDA="devices=4,apart=1$1" FAKENCCL="${2:-}"; }

# The value of a field of the n-th row, the first by default.
field() { printf '%s\n' "$out" | grep '"kernel"\|"card"' | sed -n "${2:-1}p" | sed -n "s/.*\"$1\":\\(\"[^\"]*\"\\|[^,}]*\\)[,}].*/\\1/p"; }
same() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == b + 0 && a > 0) }'; }
above() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == a && a > b) }'; }

# ---- right, and the bytes that the plan says
# A run that takes half a second has no second one, so where everything is slow some rows do not know.
fake ""
again=0
while read -r kernel gpus shape; do
    run ring $kernel $shape gpus=$gpus gpu=H200 --json
    planned=$(field link_bytes)
    for how in transport=nccl transport=copies device=0,0,0,0; do
        FAKENCCL=log=$tmp/log run check $kernel $shape gpus=$gpus backend=cuda $how --json
        is "right: $kernel on $gpus GPUs, $shape, $how" says "$out" '"check":"pass".*"deterministic":(true|null)'
        [ "$(field deterministic)" != true ] || again=$((again + 1))
        is "  its LSE, too" above "$(field lse_max_diff)" 0
        is "  $planned bytes, as planned" same "$planned" "$(field link_bytes)"
        case $how in *nccl) is "  and as NCCL has carried" same "$planned" "$(tail -n $((gpus > 2 && ! $(printf '%s' "$shape" | grep -c splitkv) ? gpus - 1 : 1)) "$tmp/log" | awk '{ n += $2 } END { print n }')" ;; esac
    done
done <<'LIST'
fa2 4 S=97 H=4 Hkv=2 causal
fa2 2 S=75 H=2 f32 causal
fa2_mma 4 S=200 H=4 Hkv=2 D=128 bf16 causal
fa3_persistent 4 S=128 H=2 D=64 f16 causal
splitkv 3 Sq=40 Sk=90 H=2
naive 4 S=64 H=1 B=2 layout=bshd causal shards=stretches
fa2 4 Sq=3 Sk=90 H=4 Hkv=2 causal shards=splitkv
decode_splitkv 3 Sq=1 Sk=131 H=8 Hkv=2 causal shards=splitkv
LIST
is "and the same again, in most of the 24" [ "$again" -gt 12 ]
run check fa2 S=64 H=1 gpus=4 devices=3,1,2,0 --json
is "in the order that was asked for" [ "$(field gpu_devices)" = '"3,1,2,0"' ]
is "  by NCCL where it is" [ "$(field transport)" = '"nccl 2.28.3"' ]
run check fa2 S=64 H=1 gpus=2 device=2 --json
is "device= and those behind it" [ "$(field gpu_devices)" = '"2,3"' ]
fake ",peer=0"
run check fa2 S=64 H=1 gpus=2 transport=copies --json
is "GPUs that do not reach each other: through the host" says "$out" '"check":"pass".*"transport":"host"'
run run fa2 S=64 H=1 gpus=2 transport=copies n=5 --json
is "  timed without holding the streams back, for which such a copy may wait" says "$out" '"median_us":[0-9.]+,.*"check":"pass".*"transport":"host"'

# ---- nothing that is left out goes unseen
fake ""
for n in 1 2 5 12; do
    fake ",cuMemcpyPeerAsync:$n=skip"
    run check fa2 S=64 H=2 causal gpus=4 transport=copies
    is "a copy that does nothing is found ($n)" [ "$rc" -ne 0 ]
done
found=0 tried=0
for n in 9 13 17 21 25 29 33 37 41 45; do
    fake ",cuStreamWaitEvent:$n=skip"
    run check fa2 S=64 H=2 causal gpus=4 transport=copies
    tried=$((tried + 1)) found=$((found + (rc != 0)))
done
echo "# $found of $tried waits that were left out were seen; others wait for what another wait has"
is "a wait that is left out is found" [ "$found" -ge 4 ]
fake "" lose=1
run check fa2 S=64 H=2 causal gpus=4
is "a send that does nothing is found, and told from a wrong kernel" says "$out$err" 'is not what GPU [0-9] began with'
fake "" swap=1
run check fa2 S=64 H=2 causal gpus=4
is "keys in place of values, too" says "$out$err" 'is not what GPU [0-9] began with'
fake ",wrong=1"
run check fa2 S=64 H=2 causal gpus=2
is "a wrong element of a part fails" [ "$rc" -eq 1 ]
fake ",wrong=2"
run check fa2 S=64 H=2 causal gpus=2
is "so does one that nobody writes" [ "$rc" -eq 1 ]
caught=0 # of one launch: a row of every GPU is looked at in each sample, others in the next
for launch in 52 55 57 60 63 66 68 71 74 77 79 82; do
    fake ",compute:$launch=zero"
    run run fa2 S=64 H=2 causal gpus=2 n=20 --json
    ! says "$out" '"check":"fail".*the output of GPU [01] in a timed run is wrong' || caught=$((caught + 1))
done
is "and wrong ones of a timed run, where they are looked at ($caught of 12)" [ "$caught" -ge 2 ]

# ---- times
fake ",tflops=1,gbs=100"
run_input "run fa2 S=256 H=4 causal l2=hot n=5 --json
run fa2 S=256 H=4 causal l2=hot n=5 gpus=4 transport=copies --json"
alone=$(field median_us) four=$(field median_us 2)
is "four do it in about a quarter of the time" above "$(LC_ALL=C awk -v a="$alone" -v b="$four" 'BEGIN { print a / b }')" 3.5
is "  which is its efficiency" same "$(LC_ALL=C awk -v a="$alone" -v b="$four" 'BEGIN { printf "%.6g", 25 * a / b }')" "$(LC_ALL=C awk -v a="$(field efficiency_pct 2)" 'BEGIN { printf "%.6g", a }')"
is "  one has none" [ "$(field efficiency_pct)" = null ]
is "  the link beside it" above "$(field link_gbs 2)" 50
is "  and what each GPU says" says "$out" '"gpu_us":\[\{"gpu":0,"device":0,"span_us":[0-9.]+,"compute_us":[0-9.]+\},.*"gpu":3'
is "  evenly shared" above 1.01 "$(field imbalance 2)"
run run fa2 S=256 H=4 causal l2=hot n=5 gpus=4 transport=copies shards=stretches --json
is "stretches are not" above "$(field imbalance)" 1.5
fake ",us=70"
cat >mine.suite <<'END'
title Mine
with H=2 f16 l2=hot
ours fa2
peers fa2_keys
S=64
END
run record ring.rec -- run fa2,fa2_keys S=64 H=2 l2=hot n=5 gpus=2 backend=cuda
run bench ./mine.suite ring.rec gpu=H200
is "a suite's table does not take a ring's time for one GPU's" says "$out$err" 'nothing of ./mine.suite is recorded|1 comparison of ./mine.suite is not recorded'
run sweep fa2 S=64 H=2 causal gpus=1,2,4 devices=0+0+0+0 n=3 l2=hot --json
is "a sweep over gpus has efficiencies" [ "$(printf '%s' "$out" | grep -o '"efficiency_pct":[0-9]' | wc -l)" -eq 2 ]
is "  and says which row is of how many" says "$(printf '%s' "$out" | tr -d '\n')" '"gpus":1,.*"gpus":2,.*"gpus":4,'


fake ",tflops=1,gbs=5"
run timeline fa2 S=256 H=2 causal gpus=4 shards=stretches origin=live transport=copies
is "a timeline by GPU, of its events: whose keys in which step" says "$out" '^GPU 3 +\|D+d? +\|C+ +\|B+ +\|A+'
is "  who sees nothing under the mask has no step" says "$out" '^GPU 0 +\|A+a?$'
is "  and what the letters are" says "$out" "A..D: the 4 GPUs' keys"

# ---- transport=auto follows what was measured
# The shipped recording has five runs on two H100s by both; nothing is known of two H200s. Which GPUs are here is known beforehand.
present() { # MODEL
    for i in 1 2 3 4; do
        mkdir -p "$tmp/gpus/0000:0$i:00.0"
        printf 'Model: \t\t %s\n' "$1" >"$tmp/gpus/0000:0$i:00.0/information"
    done
    export ATTNSCOPE_PROC_GPUS="$tmp/gpus" ATTNSCOPE_RESULTS="$tmp/auto.db"
    fake ",name=$1${2:-,us=70}"
}
ring="fa2 S=64 H=1 gpus=2 backend=cuda"
present "NVIDIA H200"
run check $ring --json
is "nothing was measured on such GPUs: NCCL" says "$out" '"check":"pass".*"transport":"nccl'
is "  and no word about it" silent "$err"
present "NVIDIA H100 80GB HBM3"
run check $ring --json
is "copies were faster on two H100s: copies" says "$out" '"check":"pass".*"transport":"peer"'
is "  with how much, of how many, and from where" says "$err" 'straight copies, which took 0\.[0-9]+ times as long as NCCL on 2 H100-SXM \(5 of 5 runs were faster, recording h100-x2\); transport=nccl asks for NCCL'
run_input "check $ring --json
check $ring --json"
is "  told once" [ "$(printf '%s\n' "$err" | grep -c transport=auto)" -eq 1 ]
run check $ring transport=nccl --json
is "  NCCL when it is asked for" says "$out" '"transport":"nccl'
run check fa2 S=64 H=1 gpus=4 backend=cuda --json
is "  of four nothing is known: NCCL" says "$out" '"transport":"nccl'
present "NVIDIA H100 80GB HBM3" ",us=70,peer=0"
run check $ring --json
is "  where copies do not go straight: NCCL" says "$out" '"check":"pass".*"transport":"nccl'
# One's own times count before a recording, whatever they say: here NCCL's are made the shorter ones.
present "NVIDIA H100 80GB HBM3"
run run $ring transport=copies n=3 l2=hot --json
slow=$(field median_us)
is "a time by copies alone is no pair" above "$slow" 0
run check $ring --json
is "  the recording counts on" says "$out" '"transport":"peer"'
present "NVIDIA H100 80GB HBM3" ",us=7"
run run $ring transport=nccl n=3 l2=hot --json
is "(NCCL's is the shorter one)" above "$slow" "$(field median_us)"
run check $ring --json
is "NCCL was faster here: NCCL" says "$out" '"check":"pass".*"transport":"nccl'
is "  and no word about it" silent "$err"
present "NVIDIA H100 80GB HBM3" ",us=1"
run run $ring transport=copies n=3 l2=hot --json
run check $ring --json
is "then copies were: copies" says "$out" '"transport":"peer"'
is "  measured here" says "$err" '\(1 of 1 runs were faster, measured here\)'
unset ATTNSCOPE_PROC_GPUS ATTNSCOPE_RESULTS

# ---- what cannot be
fake ""
run check fa2 S=64 H=1 gpus=8
is "more GPUs than there are: status 77" [ "$rc" -eq 77 ]
is "  and a sentence" says "$out$err" 'gpus=8 needs device 4, and this machine has 4 GPUs'
run check fa2 S=64 H=1 gpus=2 device=0,0 transport=nccl
is "NCCL takes every GPU once" says "$out$err" 'one is named more than once'
run check fa2 S=64 H=1 gpus=2 devices=0,x
is "no such device" [ "$rc" -eq 2 ]
run check cublas S=64 H=1 gpus=2
is "a library is given whole problems" says "$out$err" 'whole problems alone'
run profile fa2 S=64 H=1 gpus=2
is "counters are of one GPU" says "$out$err" 'leave out gpus='
run check fa2 S=64 H=1 gpus=2 streams=2
is "streams are theirs" says "$out$err" 'streams of their own'
fake "" init=2
run check fa2 S=64 H=1 gpus=2 --json
is "NCCL does not start: copies take its place" says "$out" '"check":"pass".*"reason":"the driver copies in NCCL.s place: ncclCommInitAll: unhandled error, as scripted \(2\)".*"transport":"peer"'
run check fa2 S=64 H=1 gpus=2 transport=nccl
is "  unless it was asked for" says "$out$err" 'ncclCommInitAll: unhandled error'
ATTNSCOPE_LIBNCCL=/nonexistent run check fa2 S=64 H=1 gpus=2 --json
is "nor is it needed" says "$out" '"check":"pass".*"transport":"peer"'
fake "" "after=2,send=6"
run check fa2 S=64 H=1 gpus=4
is "a send that fails" says "$out$err" 'fa2: ncclSend: unhandled error, as scripted \(6\)'
fake "" "after=1,end=3"
run check fa2,naive S=64 H=1 gpus=4
is "a group that fails" says "$out$err" 'fa2: ncclGroupEnd: unhandled error'
fake ",cuLaunchKernel:11=719"
run check fa2 S=64 H=1 gpus=4
is "a GPU that is lost in the middle is named" says "$out$err" 'GPU [0-3] of 4 \(device [0-3]\): fa2: launch failure'
: >"$tmp/once"
fake ",cuStreamQuery:90=700,once=$tmp/once"
run check naive,fa2 S=64 H=1 gpus=4 --json
is "so is one whose kernel faults" says "$out" 'GPU [0-3] of 4 .device [0-3].: (naive|fa2): illegal address'
is "  and the other kernel runs in a new worker" [ "$(printf '%s' "$out" | grep -c '"check":"pass"')" -eq 1 ]
fake ",room=300000,roomof=2"
run check fa2 S=256 H=4 gpus=4
is "one with too little memory is named, and what it is short of" says "$out$err" 'GPU 2 of 4 \(device 2\): fa2: .* needs .* of GPU memory'
is "  the program's status says so" [ "$rc" -eq 3 ]

# ---- turns
fake ""
run_input "check fa2 S=64 H=1 gpus=2 devices=3,1 --json"
is "each GPU has its lock" [ -e "$tmp/attnscope-gpu-0000:02:00.0.lock" -a -e "$tmp/attnscope-gpu-0000:04:00.0.lock" ]
run check fa2 S=64 H=1 gpus=4 devices=0,1,2,3 --json &
one=$!
run check fa2 S=64 H=1 gpus=4 devices=3,2,1,0 --json
wait "$one"
is "two users of the same GPUs in opposite order: both get them" says "$out" '"check":"pass"'
run doctor
is "doctor has NCCL" says "$out" 'NCCL.*2\.28\.3'
ATTNSCOPE_LIBNCCL=/nonexistent run doctor
is "  or what is without it" says "$out" 'NCCL.*the driver copies'
finish
