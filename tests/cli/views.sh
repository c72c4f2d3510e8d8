#!/bin/sh
# timeline and source: model, stamps of the CPU and of the fake GPU, words, marks, changes, listings.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC3046
. "$(dirname "$0")/lib.sh"
not() { ! "$@"; }

# the model
run timeline fa1_2022,splitkv gpu=H200
is "timeline draws" [ "$rc" -eq 0 ]
is "it says that it is a model, and of what" says "$out" '^fa1_2022  MODEL  H200$'
is "few blocks leave SMs idle" says "$out" '8 blocks, .* SMs busy 6\.06%'
is "a second pass has a sign" says "$out" '\+ combine$'
is "each stands on a scale of its own" [ "$(printf '%s\n' "$out" | grep -cE '^(blocks|predicted|recorded) +\|0')" -eq 2 ]
is "without a clock" [ "$(printf '%s\n' "$out" | grep -c '^time \|waves, [0-9.]* [um]s')" -eq 0 ]
run timeline fa2,qtile_seq gpu=H200 B=1 H=8 S=512 origin=model
is "what was recorded there ranks them" says "$out" 'RECORDED 107 us'
is "both of them" says "$out" 'RECORDED 21[0-9] us'
run timeline fa2,qtile_seq gpu=L4 B=1 H=8 S=512 origin=model
is "on another GPU nothing does" [ "$(printf '%s\n' "$out" | grep -c RECORDED)" -eq 0 ]
ATTNSCOPE_SIM_SECONDS=0.01 run timeline fa1_2022 gpu=L4 B=1 H=8 S=512 origin=model
is "a clock that takes too long is left out, and that is said" says "$out" '^ *no clock: fa1_2022: the simulation took more than'
is "  times are blocks then" says "$out" '^blocks +\|0'
run timeline qtile_seq gpu=L4 B=16 H=16 S=2k origin=model
is "nor are inputs made for it that take long" says "$out" '^ *no clock: 101 M input numbers'
run timeline fa2 S=128 H=1 causal=yes gpu=H200 --json
is "every block is a row of the list" says "$out" '"block":1,"tile":1,"head":0,"split":null,"kv_tiles":2'
is "with its place and time" says "$out" '"row":1,"lane":0,"wave":0,"begin_us":null,"end_us":null,"begin_blocks":0\.0'
run timeline fa2 causal=yes gpu=H200 --csv
is "csv has a row for a kernel" [ "$(printf '%s\n' "$out" | wc -l)" -eq 2 ]
run timeline row_online S=64k gpu=H200
is "too many blocks: status 1" [ "$rc" -eq 1 ]
is "too many blocks: a sentence" says "$err" '524288 blocks.*smaller B, H or S'
run timeline fa2 origin=modle
is "a wrong origin is a usage error" [ "$rc" -eq 2 ]
run timeline
is "timeline needs a kernel" says "$err" 'for example: timeline fa2'

# stamps of the CPU's threads
run timeline fa2 backend=cpu S=128 H=2 --json
is "stamps: live" says "$out" '"origin":"live"'
is "stamps: the unit is a thread" says "$out" '"unit":"thread"'
is "stamps: all blocks" [ "$(printf '%s' "$out" | grep -o '"block":' | wc -l)" -eq 4 ]

# the fake GPU
: "${ATTNSCOPE_FAKECUDA:?}"
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA"
export FAKECUDA=""
run timeline splitkv S=64 H=2 D=64 backend=cuda --json
is "a GPU's stamps" says "$out" '"origin":"live","device":"NVIDIA H200"'
is "its SMs are the rows" says "$out" '"rows":132,"blocks":16,'
is "block and SM" says "$out" '"pass":"splitkv","block":3,"tile":0,"head":0,"split":3,"kv_tiles":0,"row":3,.*"begin_us":0\.3'
is "the second pass comes after" says "$out" '"pass":"combine","block":0,.*"begin_us":1000\.0'
FAKECUDA="stamps=0"
run timeline splitkv S=64 H=2 D=64 backend=cuda
is "no stamps: a sentence" says "$err" 'block 0 left no stamp'
FAKECUDA="cuLaunchKernel:2=abort" # the first launch of a process is the check, the next two have stamps
run timeline fa2 S=16 H=1 backend=cuda
is "a crash with stamps: kernel and cause" says "$err" 'fa2: the worker died .signal 6, .* while tracing'
FAKECUDA="cuLaunchKernel:3=hang"
run timeline fa2 S=16 H=1 backend=cuda timeout=0.5
is "a hang with stamps ends with the time-out, not with the compiler's 30 s" \
    says "$err" 'fa2: the worker gave no sign of life for 0\.5.* while tracing'
FAKECUDA="cuLaunchKernel:5=abort"
run timeline fa2,naive S=16 H=1 backend=cuda --json
is "the next kernel's crash costs no stamps" says "$out" '"kernel":"fa2".*"blocks":1,.*"reason":null'
is "  and has its reason" says "$out" '"kernel":"naive".*"reason":"naive: the worker died'
unset ATTNSCOPE_LIBCUDA
FAKECUDA=""

# source
run source fa2 marks=yes
is "lines have numbers and marks" says "$out" '^ *[0-9]+    B   +__syncthreads'
run source fa2 diff
is "a diff says what it did" says "$out" '^registers +168 +128 +-24 %  MODEL'
is "and what is not measured" says "$out" 'run fa2_keys,fa2 first'
is "what it does to what is executed" says "$out" '^Warp instructions +[0-9]+ +[0-9]+  SIM  [-+][0-9.]+ %'
is "and to the predicted time, with its error" says "$out" '^predicted +[0-9.]+ [um]s +[0-9.]+ [um]s  MODEL  .*(by the model|too close to tell)'
is "for whom" says "$out" '^predicted for L4: not fitted'
is "beside each line" says "$out" '^ +-[0-9.]+ [kMG].* -    .*;'
is "and in sum" says "$out" ' in sum$'
sum_of() { printf '%s' "$out" | grep -o "\"$1\":[0-9.e+-]*" | cut -d: -f2 | LC_ALL=C awk '{ s += $1 } END { printf "%.0f", s }'; }
fact_of() { printf '%s' "$out" | grep "\"figure\":\"$1\"" | sed -n "s/.*\"$2\":\([0-9.e+]*\).*/\1/p" | LC_ALL=C awk '{ printf "%.0f", $1 }'; }
run source qtile_tpq diff --json
all="$(fact_of warp_instructions before) $(fact_of warp_instructions after) $(fact_of smem_wavefronts after)"
is "as rows" says "$all" '^[0-9]{7,} [0-9]{7,} [0-9]{6,}$'
is "a predicted time has a verdict and an error" says "$out" '"figure":"predicted_us","origin":"model".*"verdict":"(FASTER|SLOWER|AMBIGUOUS)","error_pct":[0-9]'
run source qtile_tpq diff by=line --json
lines="$(sum_of warp_instructions_before) $(sum_of warp_instructions_after) $(sum_of smem_wavefronts_after)"
is "lines add up to all: $all" [ "$lines" = "$all" ]
is "a line that is gone has nothing after" says "$out" '"mark":"-","base_line":[0-9]+,"line":null,.*"warp_instructions_before":[1-9][0-9.]*,"warp_instructions_after":0'
run source fa2 diff counts=no
is "nobody has to wait for it" not says "$out" SIM
run source fa2 diff by=word
is "by what" [ "$rc" -eq 2 ]
run source fa2 diff by=line backend=cpu
is "not of C" [ "$rc" -eq 2 ]
# ---- the clock of the model's timeline
run timeline fa2 S=512 H=2 gpu=A100 origin=model
is "a model's clock is predicted" says "$out" '^predicted +\|0 .*us'
is "with its error" says "$out" 'predicted [0-9.]+ us, median error [0-9]+ %: the clock'
run timeline fa2 S=512 H=2 gpu=A100 origin=model --json
is "as fields" says "$out" '"predicted_us":[0-9.]+,"predicted_error_pct":[0-9]+'
is "stamps it has none" says "$out" '"span_us":null'
run timeline cublas S=512 D=64 gpu=H100 origin=model
is "what is not simulated has blocks" says "$out" '^blocks +\|0'
run run fa2 Sq=1 Sk=512 H=2 gpu=H200 backend=sim
is "a small grid says what its time is" says "$out" '2 blocks for 132 SMs: the time is that of one block alone'
# ---- tiles by the time model: far apart an order, near none
run tune fa2 BR=64,128 sort=predicted gpu=L4 S=512 H=2
is "the predicted time orders tiles" says "$out" 'by the predicted time'
is "tiles within its error share a rank" says "$out" '^2 tiles share the first rank: they lie within 1\.[0-9]+ times'
is "with the error" says "$out" '^model, on L4: not fitted'
run tune fa2 BR=64,128 sort=predicted gpu=H200 S=64 H=528 --json
is "far apart one is first" says "$out" '"rank":1,.*"tile":"BR=64".*"predicted_us":[0-9.]+,"predicted_error_pct":[1-9]'
is "and the other is not" says "$out" '"rank":2,.*"tile":"BR=128"'
run tune fa2 BR=64,128 sort=bytes gpu=H200 S=512 H=2 --json
is "by other figures nothing is simulated" says "$out" '"predicted_us":null'
run sweep fa2 BR=64,128 metric=predicted_us gpu=L4 S=512 H=2
is "a sweep names the shortest, and what is too near it" says "$(printf '%s' "$out" | tr '\n' ' ')" 'fa2@BR=[0-9]+ is predicted shortest, .*off by 40 %; 1 other is too near to tell'
run sweep fa2 BR=64,128 metric=predicted_us gpu=H200 S=64 H=528
is "or that it is one" says "$(printf '%s' "$out" | tr '\n' ' ')" 'fa2@BR=64 is predicted shortest.*95 of 100'
run source fa2 diff splitkv
is "a diff of any two" says "$out" '^\+\+\+ splitkv'
run source fa2 diff --json
is "its figures as rows" says "$out" '"figure":"regs","origin":"model","before":168\.0,"after":128\.0'
run -c 'check qtile_seq,fa2 S=32 H=1 backend=cpu; set S=32 H=1; source fa2 diff'
is "the last check's error stands in it" says "$out" '^error / plain .*LIVE'
run source fa2 --json
is "lines as rows" says "$out" '"line":1,"marks":"     ","text":"/\* fa2'
run source fa2 marks=yes
line=$(printf '%s\n' "$out" | awk '/__syncthreads/ { print $1; exit }')
run source fa2 line="$line"
is "a line's words" says "$out" 'Barrier of the block'
run source fa2 view=ptxx
is "a wrong view is a usage error" [ "$rc" -eq 2 ]
run source fa2 view=ptx
is "PTX, of the fake compiler" says "$out" 'gpu-architecture=compute_89'
(
    export ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=none ATTNSCOPE_CLANG=none
    "$ATTNSCOPE" source fa2 view=ptx >"$tmp/shipped.ptx" 2>&1
)
is "PTX without any compiler, as the simulator runs it" says "$(cat "$tmp/shipped.ptx")" '^// by nvcc [0-9.]* for sm_80'
is "  and all of it" says "$(cat "$tmp/shipped.ptx")" '^\.visible \.entry fa2\('
run source cudnn view=ptx
is "what is not ours has none" says "$err" 'no CUDA source to compile'
run roofline fa2_mma S=4k D=128 f16 gpu=H200
is "roofline: the shipped H200 has a second roof" says "$out" 'measured 20[0-9-]*: [0-9.]* TFLOP/s, 4[0-9]* GB/s'
is "  in lines that fit a page" [ -z "$(printf '%s\n' "$out" | sed 3q | awk 'length > 78')" ]
run roofline fa2_mma S=4k D=128 f16 gpu=L4 --json
is "roofline: nobody measured an L4" says "$out" '"ceiling_tflops":null'

# ---- the roof of this machine's CPU ----
here="cpu_tiled B=1 H=2 S=64 D=32 f32 backend=cpu"
# shellcheck disable=SC2086
run roofline $here --json
is "roofline backend=cpu: no peak is guessed" says "$out" '"roof_us":null,"peak_tflops":null.*"ceiling_tflops":null'
# shellcheck disable=SC2086
run roofline $here
is "  and how to get one is said" says "$(printf %s "$out" | tr '\n' ' ')" 'peaks are not measured with these threads: doctor --peak +does that'
# shellcheck disable=SC2086
run run $here n=3 time=0.1 --json
device=$(printf '%s' "$out" | sed -n 's/.*"device":"\([^"]*\)".*/\1/p')
mkdir -p "$HOME/.local/share/attnscope/ceilings"
printf '{"device":"%s","backend":"cpu","threads":3,"time":"2026-11-22T10:00:00Z","other_cores":0,"ceilings":[{"name":"fma_gflops","value":900.0,"spread_pct":1},{"name":"fma_gflops_all","value":1000.0,"spread_pct":1},{"name":"dram_gbytes_per_s","value":50.0}]}' \
    "$device" >"$HOME/.local/share/attnscope/ceilings/cpu.json"
# shellcheck disable=SC2086
run -c "run $here n=3 time=0.1 l2=cold; roofline $here --json"
is "what was measured is the roof, with its origin" says "$out" '"peak_tflops":1\.0.*"ceiling_tflops":1\.0.*"ceiling_gbs":50\.0.*"ceiling_time":"2026-11-22T10:00:00Z","ceiling_threads":3'
is "  and a run has its share of it" says "$out" '"measured_tflops":[0-9.e-]+,.*"measured_origin":"live".*"of_ceiling_pct":[0-9.e-]+'
# shellcheck disable=SC2086
run roofline $here
is "  it says where and when" says "$(printf %s "$out" | tr '\n' ' ')" 'measured here 2026-11-22: 1 TFLOP/s, 50 GB/s of 3 threads at once, ridge 20 FLOP/B'
# shellcheck disable=SC2086
run -c "set threads=7; roofline $here"
is "  other threads have another roof" says "$(printf %s "$out" | tr '\n' ' ')" '7 threads, .*not measured with these threads'
sed -i 's/"other_cores":0/"other_cores":1.5/' "$HOME/.local/share/attnscope/ceilings/cpu.json"
# shellcheck disable=SC2086
run roofline $here
is "  one that was disturbed is called noisy" says "$(printf %s "$out" | tr '\n' ' ')" 'noisy: tries 1 % apart, others used 1.5 cores'
sed -i 's/1000.0/0.001/' "$HOME/.local/share/attnscope/ceilings/cpu.json"
# shellcheck disable=SC2086
run -c "run $here n=3 time=0.1; roofline $here"
is "  what is above the roof shows that it is too low" says "$(printf '%s\n' "$out" | grep -c '^ceiling: ')" '^2$'
rm -r "$HOME/.local/share/attnscope/ceilings"
finish
