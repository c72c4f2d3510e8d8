#!/bin/sh
# nodes=: a ring whose GPUs are of two machines, which are processes here, one of them behind an sshd of the test's own; the fake
# driver's devices are apart and its NCCL goes from process to process. Right, planned bytes, each fault told, nothing left behind.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR disable=SC1091,SC2154,SC2086  # lib.sh gives tmp, rc, out and err; shapes are words
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}"
. "$ATTNSCOPE_SRCDIR/tests/cli/sshd.sh"
sshd_start
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_GPU_LOCK="$tmp" COLUMNS=200 TMPDIR="$tmp"
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA" ATTNSCOPE_LIBNCCL="$ATTNSCOPE_FAKECUDA/fakenccl.so" ATTNSCOPE_PYTHON=none
export FAKECUDA="devices=4,apart=1" FAKENCCL=
config=$HOME/.config/attnscope/config
mkdir -p "$(dirname "$config")"
# The host box, with a script of the fake driver and of NCCL there. The folder of messages is one for both.
box() {
    cat >"$tmp/there" <<END
#!/bin/sh
export ATTNSCOPE_LIBCUDA=$ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC=$ATTNSCOPE_LIBNVRTC ATTNSCOPE_LIBNCCL=$ATTNSCOPE_LIBNCCL
export ATTNSCOPE_PYTHON=none FAKECUDA=devices=4,apart=1$1 FAKENCCL=${2:-}
exec $far "\$@"
END
    chmod +x "$tmp/there"
    echo "host box box $tmp/there" >"$config"
}
field() { printf '%s\n' "$out" | grep '"kernel"\|"card"' | sed -n "${2:-1}p" | sed -n "s/.*\"$1\":\\(\"[^\"]*\"\\|[^,}]*\\)[,}].*/\\1/p"; }
same() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == b + 0 && a > 0) }'; }
above() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 == a && a > b) }'; }
# Processes of this test that are ranks, after a moment in which they may end; and what NCCL has left.
ranks_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        left=
        for pid in /proc/[0-9]*; do
            if tr '\0' ' ' <"$pid/cmdline" 2>/dev/null | grep -q 'attnscope-worker rank' &&
                tr '\0' '\n' <"$pid/environ" 2>/dev/null | grep -qF "$tmp"; then
                left="$left ${pid#/proc/}"
            fi
        done
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    echo "$left"
}
box ""

# ---- right, and the bytes that the plan says
while read -r kernel n shape; do
    run ring $kernel $shape gpus=$n gpu=H200 --json
    planned=$(field link_bytes)
    run check $kernel $shape gpus=$n nodes=here,box backend=cuda --json
    is "right: $kernel on $n GPUs of two machines, $shape" says "$out" '"check":"pass".*"deterministic":(true|null)' # null: too slow for a second run
    is "  its LSE, too" above "$(field lse_max_diff)" 0
    is "  $planned bytes, as planned" same "$planned" "$(field link_bytes)"
    is "  and where they are" [ "$(field host) $(field gpus)" = "\"here,box\" $n" ]
done <<'LIST'
fa2 4 S=97 H=4 Hkv=2 causal
fa2 2 S=75 H=2 f32 causal
fa2_mma 4 S=200 H=4 Hkv=2 D=128 bf16 shards=stretches
fa2 4 Sq=3 Sk=90 H=4 Hkv=2 causal shards=splitkv
LIST
is "GPUs by machine" [ "$(field gpu_devices)" = '"here:0,here:1,box:0,box:1"' ]
is "  no process outlives the command" silent "$(ranks_left)"
is "  nor a message" silent "$(find "$tmp" -maxdepth 1 -name 'fakenccl-*')"
run run fa2 S=64 H=2 causal gpus=4 nodes=here,box device=0,3 l2=hot n=5 --json
is "runs are timed" above "$(field median_us)" 0
is "  with the clock of those GPUs" same "$(field sm_clock_mhz)" 1980
is "  each GPU's own share told" says "$out" '"gpu":0,.*"gpu":1,.*"gpu":2,.*"gpu":3,'
is "  by devices= of each" [ "$(field gpu_devices)" = '"here:0,here:3,box:0,box:3"' ]
run results --json
is "  and kept with their machines" says "$out" '"host":"here,box"'
run check fa2,naive S=64 H=1 gpus=2 nodes=box,here --json
is "the first GPU may be the other one's" [ "$(field gpu_devices 1) $(field check 1) $(field check 2)" = '"box:0,here:0" "pass" "pass"' ]

# ---- faults
box "" lose=1
run check fa2 S=64 H=2 causal gpus=4 nodes=here,box
is "a message that brings nothing is found, and where" says "$out$err" 'node (here|box): fa2: what GPU [0-9] has of GPU [0-9].s keys'
is "  the answer is no" [ "$rc" -ne 0 ]
box ",wrong=1"
run check fa2 S=64 H=2 causal gpus=2 nodes=here,box
is "a wrong element of one node fails all" [ "$rc" -eq 1 ]
box ",compute:1=scale"
run check fa2 S=64 H=2 gpus=2 nodes=here,box --json
is "a part that one machine scales fails the check" says "$out" '"check":"fail"'
for n in 3 5; do
    box "" die=$n
    began=$(date +%s)
    run check fa2 S=64 H=2 causal gpus=4 nodes=here,box
    is "a node that dies is named (group $n)" says "$out$err" 'node box (ended|died|is gone|gave|closed)'
    is "  at once" [ $(($(date +%s) - began)) -lt 20 ]
    is "  status 3" [ "$rc" -eq 3 ]
    is "  nothing is left" silent "$(ranks_left)"
done
box "" version=22703
run check fa2 S=64 H=1 gpus=2 nodes=here,box
is "two versions of NCCL" says "$out$err" 'NCCL is 2\.28\.3 on here and 2\.27\.3 on box'
box "" init=2
run check fa2 S=64 H=1 gpus=2 nodes=here,box
is "NCCL that does not start there" says "$out$err" 'node box: ncclCommInitRank: unhandled error'
is "  nothing is left" silent "$(ranks_left)"
box ",room=30000,roomof=1"
run check fa2 S=256 H=4 gpus=4 nodes=here,box
is "one with too little memory: which, and of what" says "$out$err" 'node box: GPU 3 of 4 \(device 1\): fa2: .* of GPU memory'
box ",cuLaunchKernel:3=719"
run check fa2 S=64 H=1 gpus=4 nodes=here,box
is "a GPU that is lost there" says "$out$err" 'node box: GPU [23] of 4 \(device [01]\): fa2: launch failure'
is "  nothing is left" silent "$(ranks_left)"
echo "host box box /nonexistent/attnscope" >"$config"
run check fa2 S=64 H=1 gpus=2 nodes=here,box
is "no attnscope there" says "$out$err" 'node box .*(not found|No such file)'
echo "host nowhere nowhere.invalid" >"$config"
run check fa2 S=64 H=1 gpus=2 nodes=here,nowhere
is "a machine that nobody reaches" says "$out$err" 'node nowhere .*ould not resolve'

# ---- what cannot be
box ""
run check fa2 S=64 H=1 gpus=3 nodes=here,box
is "GPUs that do not divide" says "$out$err" 'gpus=3 on 2 nodes: as many GPUs of each'
run check fa2 S=64 H=1 nodes=here,box
is "one GPU is no ring" says "$out$err" 'gpus=1 on 2 nodes'
run check fa2 S=64 H=1 gpus=2 nodes=box,box
is "a machine that comes twice" says "$out$err" 'node box comes twice'
run check fa2 S=3 H=1 gpus=4 nodes=here,box
is "more GPUs than keys" says "$out$err" '4 GPUs share a sequence of at least 4'
run check fa2 Sq=64 Sk=128 H=1 causal gpus=2 nodes=here,box
is "a causal ring of unequal sides" says "$out$err" 'as many queries as keys'
run check fa2 S=64 H=1 gpus=2 nodes=here,box transport=copies
is "copies end at the machine" says "$out$err" 'NCCL alone carries'
run check fa2 S=64 H=1 gpus=2 nodes=here,box host=box
is "nodes of another machine's" says "$out$err" 'leave out host='
run check fa2 S=64 H=1 gpus=2 nodes=here,-oProxyCommand=x
is "no host of that name" says "$out$err" 'there is no host "-oProxyCommand=x"'
run --restricted check fa2 S=64 H=1 gpus=2 nodes=here,box
is "a restricted session chooses none" says "$out$err" 'this session is restricted'
run check fa2 S=64 H=1 gpus=10 nodes=here,box
is "more than a machine has" says "$out$err" 'node (here|box): gpus=5 needs device 4'
run timeline fa2 S=64 H=1 gpus=2 nodes=here,box origin=live
is "no timeline of two clocks" says "$out$err" 'leave out nodes='
run check fa2 S=64 H=1 gpus=2 nodes=here,box backend=sim
is "simulated ones are of one machine" [ "$rc" -ne 0 ]
is "and nothing is left" silent "$(ranks_left)"
finish
