#!/bin/sh
# profile: hardware counters on a fake GPU with a fake CUPTI, and what it says where there are none.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_FAKECUDA:?}"
shape="S=16 D=32 H=1"

# ---- without a GPU
if [ ! -e /dev/nvidiactl ]; then
    run profile row_online S=64 H=1 f32
    is "no GPU: the simulator counts" [ "$rc" -eq 0 ]
    is "no GPU: it says who" says "$out" 'PTX simulator.*PTX of .*simulated'
    is "no GPU: what is executed" says "$out" '^Warp instructions +- +[1-9]'
    is "no GPU: what hardware alone counts is not among it" [ "${out#*Elapsed cycles}" = "$out" ]
fi
run profile row_online backend=cpu
is "backend=cpu is a usage error" [ "$rc" -eq 2 ]
is "it has no counters" says "$err" 'backend=cpu has none, backend=sim has'
run profile
is "it needs a kernel" says "$err" 'profile needs a kernel, for example'
run explain dram_bytes
is "explain: what a counter means, and CUPTI's name" says "$out" 'counted by CUPTI as dram__bytes\.sum'
run explain smem_conflict_pct
is "explain: what a figure follows from" says "$out" '= smem_conflicts / smem_wavefronts \* 100'
run apropos wavefronts
is "apropos finds counters" says "$out" 'smem_wavefronts'

# ---- on the fakes
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA"
export ATTNSCOPE_LIBCUPTI="$ATTNSCOPE_FAKECUDA/fakecupti.so"
# shellcheck disable=SC2086
counted() { run profile "$@" $shape; }

counted row_online,splitkv
is "two kernels" [ "$rc" -eq 0 ]
is "a kernel is a column" says "$out" '^speed +unit +row_online +splitkv$'
is "time" says "$out" '^Duration +us +50 +150$'
is "bytes" says "$out" '^DRAM reads +bytes +768 KiB +2\.25 MiB$'
is "beside the plan's" says "$out" '^Compulsory \(plan\) +bytes +4\.00 KiB'
is "several launches: said, and how" says "$out" 'splitkv: sums over 2 launches, percentages weighted by time'
is "extremes of several launches are unknown" says "$out" '^Busiest SM +cycle +75000 +-$'
is "the heading names what was measured" says "$out" '^B=1 H=1 S=16 D=32 f16 \| NVIDIA H200 \| L2 cold \| 3 replays$'

counted row_online --json
is "json: figures" says "$out" '"dram_bytes":1048576\.0'
is "json: the specification stays" says "$out" '"kernel":"row_online","backend":"cuda","device":"NVIDIA H200","origin":"live","shape":"B=1 H=1 S=16 D=32 f16"'
is "json: the plan of the code that ran" says "$out" '"occupancy_pct":.*"compulsory_bytes":4096\.0'
is "json: every launch" says "$out" '"launch_list":\[\{.*"name":"row_online"\}\]'
run --help-mdoc
manual=$out missing=
counted splitkv --json
for key in $(printf '%s' "$out" | grep -o '"[a-z0-9_]*":' | tr -d '":' | sort -u); do
    says "$manual" "^\.It Va (.*, )?$key(,|\$)|(^|[( ])${key}[,. ]" || missing="$missing $key"
done
is "every field is in the manual:$missing" silent "$missing"
counted row_online l2=hot --csv
is "csv" says "$out" '^kernel,backend,device,origin,shape,'
is "csv: hot" says "$out" ',hot,run,3,'
counted row_online --md
is "md: tables and the command" says "$out" '^attnscope profile row_online .*D=32'
# shellcheck disable=SC2016
run -c 'profile row_online '"$shape"' > x.txt; show $last.dram_ratio; explain l2_bytes'
is "fields of the row in expressions" says "$out" 'dram_ratio +256'
is "explain shows the last row's" says "$out" '4194304'

export FAKECUDA=lacks=dram__bytes
counted row_online --json
is "a counter that the chip lacks: null" says "$out" '"dram_bytes":null,"dram_read_bytes":null'
is "and what follows from it" says "$out" '"dram_ratio":null'
is "the others are there" says "$out" '"l2_bytes":4194304\.0'
counted row_online
is "in the table: -" says "$out" '^DRAM traffic +bytes +-$'

# ---- what is not permitted
export FAKECUDA=cuptiRangeProfilerEnable:1=35
counted row_online
is "no permission: status 3" [ "$rc" -eq 3 ]
is "no permission: one sentence with the remedy" says "$err" 'NVreg_RestrictProfilingToAdminUsers=0'
is "it is said once" [ "$(printf '%s' "$out$err" | grep -c NVreg)" -eq 1 ]
counted row_online --json
is "no permission: the row has null, the plan and the reason" says "$out" \
    '"dram_bytes":null.*"compulsory_bytes":4096\.0.*"reason":"the driver gives'
unset FAKECUDA
ATTNSCOPE_LIBCUPTI=/nonexistent/libcupti.so counted row_online
is "no library: status 3" [ "$rc" -eq 3 ]
is "no library: the remedy" says "$err" 'libcupti.*install the CUDA toolkit'
ATTNSCOPE_LIBCUPTI=$ATTNSCOPE_FAKECUDA/fakecublas.so counted row_online
is "an old library: the remedy" says "$err" 'too old.*CUDA 12\.6.*install the CUDA toolkit'

# ---- what a library can do to its process
export FAKECUDA=cuptiRangeProfilerStop:2=segv
counted row_online
is "a crash: status 3" [ "$rc" -eq 3 ]
is "a crash: who, what, when" says "$err" 'row_online: the worker died \(signal 11.*while profiling'
export FAKECUDA=cuptiRangeProfilerStop:5=segv
counted row_online,splitkv,naive
is "a crash after the first: the first is kept" says "$out" '^Duration +us +50 +300$'
is "the second says why" says "$out" '^splitkv: the worker died'
export FAKECUDA=cuptiRangeProfilerStop:2=hang
counted row_online timeout=0.5
is "a hang: who, what, when" says "$err" 'row_online: the worker gave no sign of life.*while profiling'
export FAKECUDA=once="$tmp/once",cuptiRangeProfilerStart:1=abort
: >"$tmp/once"
# shellcheck disable=SC2086
run -c "profile row_online $shape; profile row_online $shape"
is "the first profile fails, the line stops" says "$err" 'row_online: the worker died'
counted row_online
is "the next one works" says "$out" '^Duration +us +50$'
finish
