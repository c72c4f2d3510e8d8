#!/bin/sh
# Which GPU plans are made for when gpu= is not given: the one of this machine, by the driver's
# /proc folder or by what ran; L4 stands in where there is none.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"

# present FOLDER MODEL...: a /proc folder with these GPUs
present() {
    rm -rf "$tmp/gpus"
    number_of=0
    for model; do
        number_of=$((number_of + 1))
        mkdir -p "$tmp/gpus/0000:0$number_of:00.0"
        printf 'Model: \t\t %s\nIRQ:   \t\t 42\n' "$model" >"$tmp/gpus/0000:0$number_of:00.0/information"
    done
    export ATTNSCOPE_PROC_GPUS="$tmp/gpus"
}
# Which model is the one driver's name taken for?
taken_for() {
    present "$1"
    run occupancy threads=128 --json
    is "\"$1\" is $2" says "$out" "\"gpu\":\"$2\""
    is "\"$1\" needs no note" silent "$err"
}
taken_for "NVIDIA H200" H200
taken_for "NVIDIA L4" L4
taken_for "NVIDIA L40S" L40S
taken_for "NVIDIA GeForce RTX 4090" RTX-4090
taken_for "NVIDIA GeForce RTX 3060" RTX-3060
taken_for "NVIDIA A100-SXM4-80GB" A100-80GB
taken_for "NVIDIA A100-SXM4-40GB" A100-40GB
taken_for "NVIDIA A100-PCIE-40GB" A100-40GB
taken_for "NVIDIA A100 80GB PCIe" A100-80GB
taken_for "NVIDIA H100 80GB HBM3" H100-SXM
taken_for "NVIDIA H100 PCIe" H100-PCIe
taken_for "Tesla T4" T4
taken_for "Tesla V100-SXM2-16GB" V100
taken_for "Tesla V100-SXM2-32GB" V100
taken_for "NVIDIA B200" B200
taken_for "NVIDIA RTX 6000 Ada Generation" RTX-6000-Ada
taken_for "NVIDIA RTX PRO 6000 Blackwell Workstation Edition" RTX-PRO-6000
taken_for "NVIDIA RTX PRO 6000 Blackwell Server Edition" RTX-PRO-6000

present "NVIDIA H200" "NVIDIA H200"
run plan fa2
is "a plan is for the GPU here and says so" says "$out" '^ *gpu  *H200, the GPU of this machine'
run plan fa2 gpu=A100
is "gpu= wins" says "$out" '^fa2 on A100-80GB'
is "a model that was asked for needs no reason" [ "$(printf '%s' "$out" | grep -c '^ *gpu ')" -eq 0 ]
run plan fa2 gpu=auto --json
is "auto is the GPU here" says "$out" '"gpu":"H200"'
run sweep fa2 S=64,128 metric=waves
is "sweep: computed, for the GPU here" says "$out" 'MODEL H200$'
run device
is "device: the sheet of the GPU here" says "$out" '^H200, the GPU of this machine'
# shellcheck disable=SC3046 # a verb of the program
run source fa2 diff
is "source: computed, for the GPU here" says "$out" '^waves .*MODEL H200$'
# shellcheck disable=SC3046 # a verb of the program
run source fa2 diff --json
is "source --json names it" says "$out" '"figure":"waves","origin":"model",.*"gpu":"H200"'
run doctor
is "doctor says which GPU plans are for" says "$out" '^plans +ok +are for H200, the GPU of this machine'
for verb in "plan fa2" "timeline fa2 origin=model" "sweep fa2 S=64,128 metric=waves"; do
    # shellcheck disable=SC2086
    run $verb --md
    is "$verb --md: the command names the GPU" says "$out" '^attnscope .* gpu=H200'
done
run -c 'set D=128 gpu=L4; sweep fa2 S=64..256:x2 metric=waves --md'
is "sweep --md: the command has what was set before" says "$out" \
    '^attnscope sweep fa2 S=64\.\.256:x2 metric=waves D=128 gpu=L4$'
is "sweep --md: computed, and for what" says "$out" '^computed for L4, not measured'
run -c 'set gpu=L4; plan fa2; set gpu=auto; plan fa2'
is "set gpu= holds until auto" says "$out" '^fa2 on L4'
is "set gpu=auto is the GPU here" says "$out" '^fa2 on H200'

present "Frobnicator 9000"
run -c 'plan fa2; plan naive'
is "an unknown model: L4 stands in" says "$out" '^fa2 on L4'
is "an unknown model: the plan says for whom" says "$out" 'gpu  *L4, which stands in for Frobnicator 9000'
is "an unknown model: one note" [ "$(printf '%s\n' "$err" | grep -c 'Frobnicator 9000 is not in')" -eq 1 ]
mkdir -p "$HOME/.config/attnscope"
echo 'Frobnicator 9000 like=L4 sms=60' >"$HOME/.config/attnscope/devices"
run plan fa2
is "a line in the devices file makes it known" says "$out" '^fa2 on Frobnicator 9000 \(sm_89, 60 SMs'
is "a known model has no note" silent "$err"
present "NVIDIA GeForce RTX 4090 Laptop GPU"
run plan fa2
is "a laptop's chip is not the card of that name" says "$out" 'L4, which stands in for .*Laptop'
echo 'RTX-4090-laptop like=RTX-4090 sms=76' >"$HOME/.config/attnscope/devices"
run plan fa2
is "the example of the manual names it" says "$out" '^fa2 on RTX-4090-laptop'
rm "$HOME/.config/attnscope/devices"

esc=$(printf '\033')
present "Evil${esc}[31m"
run plan fa2
is "a driver's name cannot reach the terminal" [ "$(printf '%s' "$out$err" | grep -c "$esc")" -eq 0 ]

: "${ATTNSCOPE_FAKECUDA:?}"
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA"
present "NVIDIA L4" "NVIDIA H200"
run plan fa2
is "two models: which one is device 0 is known when it has run" says "$out" 'L4, which stands in until'
unset ATTNSCOPE_PROC_GPUS
run sweep fa2 S=16,32 H=1 n=2 --md
is "sweep --md of a GPU names it" says "$out" '^NVIDIA H200, driver 580'
run -c 'plan fa2; check fa2 S=16 H=1; plan fa2; occupancy threads=128 --json'
is "before the first run: nobody knows" says "$out" '^fa2 on L4'
is "after it: what ran" says "$out" 'H200, the GPU of this machine'
is "every verb follows" says "$out" '"gpu":"H200"'
unset ATTNSCOPE_LIBCUDA
if [ ! -e /dev/nvidiactl ]; then
    run plan fa2
    is "without a GPU: L4, and how to choose" says "$out" 'gpu  *L4, which stands in as no GPU is here; gpu='
fi
finish
