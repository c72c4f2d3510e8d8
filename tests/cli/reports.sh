#!/bin/sh
# What the field reports measured on an L4, beside what the time model, fitted to nothing there, gives for what ran:
# kernels/reports has the kernel of one of them, the ladder those of the others.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
unset ATTNSCOPE_COMPILE

# predicted WORDS: microseconds on an L4, nothing where there is no prediction
predicted() {
    # shellcheck disable=SC2086
    run run $1 backend=sim blocks=some gpu=L4 --json
    printf '%s\n' "$out" | grep -o '"predicted_us":[0-9.]*' | head -1 | cut -d: -f2
}
# near US TIMES WORDS: is US within TIMES either way of the prediction?
near() {
    got=$(predicted "$3")
    printf '# %s: %s us measured, %s predicted\n' "$3" "$1" "${got:-none}"
    awk -v us="$1" -v times="$2" -v got="${got:-0}" 'BEGIN { exit !(got > 0 && us < times * got && got < times * us) }'
}

far() {
    ! near "$@"
}

# The 8.33 and 5.77 ms were profiled at 795 MHz.
at_2040() {
    awk -v us="$1" 'BEGIN { print us * 795 / 2040 }'
}
is "fa: one head of 8192 rows, D=32, f32" near "$(at_2040 8330)" 1.5 "fa_scalar H=1 S=8k D=32 f32"
is "fa_tc_v1: the same by WMMA" near "$(at_2040 5770)" 2 "wmma_serial H=1 S=8k D=32 f16"
is "taken for 32 heads of 256 rows, as many blocks, it is not near" far 8330 10 "fa_scalar B=4 H=8 S=256 D=64 f16"
for phase in "986 2 fused_scalar" "221 1.5 fused_wmma_pv" "131 2 fused_warp_softmax"; do
    # shellcheck disable=SC2086
    set -- $phase
    is "phase of $1 us" near "$1" "$2" "$3 H=8 S=512 D=64 f16"
done

run kernel add "$ATTNSCOPE_SRCDIR/kernels/reports/seq_shared.cu"
is "the report's kernel is added" [ "$rc" -eq 0 ]
run check seq_shared H=1 S=65 D=64 f16 backend=sim
if says "$out$err" 'no compiler|needs (NVRTC|nvcc|clang)'; then
    skip "no compiler of CUDA here"
    finish
    exit
fi
is "it is right" [ "$rc" -eq 0 ]
for row in "278 B=1 H=1 S=64" "290 B=1 H=1 S=65" "543 B=1 H=1 S=128" "808 B=1 H=1 S=192" "1073 B=1 H=1 S=256" "2133 B=1 H=1 S=512" \
    "545 B=4 H=1 S=128" "545 B=1 H=4 S=128" "554 B=4 H=4 S=128" "747 B=8 H=4 S=128"; do
    is "the report's ${row%% *} us" near "${row%% *}" 1.6 "seq_shared ${row#* } D=64 f16"
done
is "with rows that are padded it would take half" near 1066 1.4 "seq_shared PAD=1 B=1 H=1 S=512 D=64 f16"
is "and qtile_seq, which pads and keeps scores in registers, less than a tenth" far 2133 10 "qtile_seq B=1 H=1 S=512 D=64 f16"

finish
