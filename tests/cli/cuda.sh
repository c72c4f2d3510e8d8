#!/bin/sh
# backend=cuda on the fake driver: the whole way from a command to a verdict, and its faults.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"

if [ ! -e /dev/nvidiactl ]; then
    run run naive backend=cuda
    is "without a driver: status 77" [ "$rc" -eq 77 ]
    is "without a driver: a sentence" says "$out$err" 'needs a GPU.*backend=cpu runs everywhere'
    run check naive S=16 H=1 --json
    is "without a driver the CPU is the default" says "$out" '"backend":"cpu".*"check":"pass"'
fi

: "${ATTNSCOPE_FAKECUDA:?}"
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA"
fake() {
    export FAKECUDA="$1"
}

fake ""
run check all S=33 H=2 Hkv=1 D=24 bf16 causal=yes layout=bshd --json
is "check all" [ "$rc" -eq 0 ]
is "cuda is the default where a driver is" says "$out" '"backend":"cuda","device":"NVIDIA H200"'
is "every kernel passes" [ "$(printf '%s' "$out" | grep -c '"check":"pass"')" -ge 8 ]
is "no kernel fails" [ "$(printf '%s' "$out" | grep -c '"check":"fail"')" -eq 0 ]
is "rows name driver and CUDA" says "$out" '"driver":"580.00.fake","cuda":"13.0"'

fake "us=70,regs=128"
run run fa2 S=32 H=1 l2=both n=5 --json
is "run: cold is launched through the stream" says "$out" '"l2":"cold","launch":"stream"'
is "run: hot replays a graph" says "$out" '"l2":"hot","launch":"graph"'
is "run: the driver's time" says "$out" '"median_us":(70\.0|69\.99)'
is "run: the clock of NVML" says "$out" '"sm_clock_mhz":1980'

fake "us=50,hold=36,mhz=1400"
run_input "$(printf 'set backend=cuda\ndoctor --peak --json')"
rows=$out
is "the peak: DRAM by the data sheet" says "$rows" '"name":"dram_gbytes_per_s".*"unit":"GB/s","device":"NVIDIA H200".*"sheet":4800'
is "the peak: at the clock that was held, and why" says "$rows" '"name":"mma_f16_tflops".*at 1400 MHz \(held by power, heat\)'
is "the peak: launches" says "$rows" '"name":"launch_graph_us".*"value":(50\.0|49\.99)'
is "the peak: it is kept" [ -s "$HOME/.local/share/attnscope/ceilings/NVIDIA-H200.json" ]
run roofline fa2_mma S=1k D=128 f16 gpu=H200
is "the peak: a second roof, measured here" says "$out" 'measured here 20.*TFLOP/s, [0-9.]* GB/s'
is "the peak: at which clock, and what held it" says "$out" 'at 1400 MHz, held by power, heat; in place of the shipped 816.0 TFLOP/s$'
run run fa2_mma S=64 H=1 n=8 --json
is "the peak: rows have their share of it" says "$out" '"held":"power, heat","of_ceiling_pct":[0-9]'
run run fa2_mma S=64 H=1 n=8
is "the peak: a clock that is held is told" says "$out" 'clock: fa2_mma: 1400 MHz, held by power, heat'
fake "us=50,cuModuleLoadData:1=200"
run_input "$(printf 'set backend=cuda\ndoctor --peak')"
is "the peak: code that the driver refuses is told" says "$out" 'not measured .*have no code here'
fake "cuStreamSynchronize:4=700"
run_input "$(printf 'set backend=cuda\ndoctor --peak')"
is "the peak: a fault is told" says "$out$err" 'the peak was not measured: .*illegal address'

fake "wrong=1"
run check naive S=32 H=1
is "a wrong element fails the check" [ "$rc" -eq 1 ]
fake "wrong=2"
run check naive S=32 H=1
is "an output that nobody wrote fails" says "$out" 'never written'
fake "wrong=3"
run check naive S=32 H=1
is "a write behind the output fails" says "$out" 'after the output'

fake "cuStreamSynchronize:14=700" # behind four of the neighbouring shape, four of another seed, the inputs, naive three times
run check naive,fa2,splitkv S=32 H=1 --json
is "a fault: the kernel before it keeps its verdict" says "$out" '"kernel":"naive".*"check":"pass"'
is "a fault: kernel and cause are named" says "$out" '"kernel":"fa2".*fa2: illegal address'
is "a fault: the kernel after it runs in a new worker" says "$out" '"kernel":"splitkv".*"check":"pass"'
fake ptx=0
run run naive S=32 H=1 n=3 --json
is "without the reader of the L2 a cold time has its reserve" says "$out" '"l2":"cold".*"check":"pass".*"reason":"the driver cannot compile what reads the L2 clean'
run run naive S=32 H=1 n=3 l2=hot --json
is "a hot one has none" says "$out" '"l2":"hot".*"reason":null'
fake ""
run run naive S=32 H=1 n=3 --json
is "nor has one behind the reader" says "$out" '"l2":"cold".*"reason":null'
for n in 6 7 8; do
    fake "cuStreamSynchronize:$n=700" # behind two of each trial and the inputs: its run, once more, and without an LSE
    run check naive S=32 H=1 --json
    is "a fault in run $((n - 5)) of its check: it does not pass" says "$out" '"check":(null|"fail").*naive: illegal address'
    is "  and the status is that of a failure" [ "$rc" -eq 3 ]
done
fake "cuStreamSynchronize:10=abort"
run check naive,fa2 S=32 H=1 --json
is "a process that ends in a further run: its kernel does not pass" says "$out" '"kernel":"naive".*"check":null.*naive: the worker died'
is "  the next one does" says "$out" '"kernel":"fa2".*"check":"pass"'
is "  and the status is that of a failure" [ "$rc" -eq 3 ]
fake "cuLaunchKernel:1=hang"
run check naive S=32 H=1 timeout=0.5
is "a hang ends, by the limit that was asked for" says "$out" 'no sign of life for 0\.5 s, where timeout=0\.5'
fake "cuLaunchKernel:1=abort"
run check naive S=32 H=1
is "a crash ends" says "$out" 'signal 6'
fake "cuInit:1=304"
run check naive S=32 H=1
is "a sandbox is named" says "$out" 'sandbox'
is "without access to a GPU: status 77" [ "$rc" -eq 77 ]
fake "cuInit:1=100"
run run naive S=32 H=1 --json
is "a driver without a GPU: status 77" [ "$rc" -eq 77 ]
is "a driver without a GPU: a sentence" says "$out$err" 'shows no GPU'
fake "cuInit:1=999"
run check naive S=32 H=1
is "a driver that fails: status 3" [ "$rc" -eq 3 ]
fake "cuLaunchKernel:1=719"
run_input "$(printf 'check naive S=32 H=1\ncheck nonesuch')"
is "after a fault the program goes on" says "$err" 'nonesuch'

# ---- few samples, half of them at a low clock: beside a slow rival there may be one ----
few=
while [ ${#few} -lt 600 ]; do
    few="$few
compare fa2,naive,splitkv,qtile_seq S=64 H=1 D=64 backend=cuda time=0.001 l2=cold --json --no-store"
done
FAKECUDA="us=50,throttle=2" run_input "$few"
is "who was timed has a time" [ "$(printf '%s' "$out" | grep -o '"median_us":[0-9]' | wc -l)" -eq 24 ]
is "  or would say why" [ "$(printf '%s' "$out" | grep -o '"median_us":null' | wc -l)" -eq 0 ]
is "no ratio has a reason" [ "$(printf '%s' "$out" | grep -o '"ratio":null' | wc -l)" \
    -eq "$(printf '%s' "$out" | grep -o '"verdict_reason":"no round has' | wc -l)" ]
finish
