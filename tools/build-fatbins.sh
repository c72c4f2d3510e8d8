#!/bin/sh
# Compiles the CUDA kernels beforehand: NAME.DTYPE.dD.fatbin (one image per architecture) and
# NAME.DTYPE.dD.ptx (for the lowest one, read by the simulator), and NAME.DTYPE.dD.def, the
# definitions they were compiled with. Only what changed is rebuilt: each output keeps the command
# that made it.
# usage: build-fatbins.sh NVCC ARCHS SRCDIR OUTDIR JOBS < lines of kerneldefs
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
nvcc=$1 archs=$2 src=$3 out=$4 jobs=$5
mkdir -p "$out"

# The options for architectures between commas.
gencode_of() {
    for a in $(echo "$1" | tr ',' ' '); do
        printf '%s' " -gencode arch=compute_$a,code=sm_$a"
    done
}
all_archs=$archs all_gencode=$(gencode_of "$archs")

# Prints the shell command for one line of kerneldefs, unless its outputs are fresh.
plan_one() { # kernel dtype D [arch=90a] definitions
    name=$1 stem=$1.$2.d$3
    shift 3
    archs=$all_archs gencode=$all_gencode lowest=${all_archs%%,*}
    case ${1-} in
    arch=*) # for this one alone; not where the build leaves its GPUs out
        archs=${1#arch=} lowest=${1#arch=} gencode=$(gencode_of "${1#arch=}")
        case ,$all_archs, in *",${archs%[a-z]},"*) ;; *) return 0 ;; esac
        shift
        ;;
    esac
    cu=$src/kernels/cuda/$name.cu
    command="$nvcc -std=c++17 -I$src/kernels/cuda $* $cu"
    made="$command $gencode $(cat "$cu" "$src"/kernels/cuda/*.cuh | cksum)"
    [ -f "$out/$stem.fatbin" ] && [ -f "$out/$stem.ptx" ] &&
        [ "$(cat "$out/$stem.cmd" 2>/dev/null)" = "$made" ] && return 0
    printf '%s\n' "$made" >"$out/$stem.cmd.new"
    rm -f "$out/$stem.def"
    printf '%s\n' "$*" >"$out/$stem.def.new"
    printf '%s' "$command -arch=compute_$lowest -ptx -o $out/$stem.ptx && "
    # With one architecture its PTX is what the image is made from: half the time, the same bytes.
    case $archs in
    *,*) printf '%s' "$command $gencode -fatbin -o $out/$stem.fatbin && " ;;
    *) printf '%s' "$nvcc $gencode -fatbin -o $out/$stem.fatbin $out/$stem.ptx && " ;;
    esac
    printf '%s\n' "mv $out/$stem.def.new $out/$stem.def && mv $out/$stem.cmd.new $out/$stem.cmd || { echo 'nvcc failed: $stem' >&2; exit 255; }"
}

while read -r line; do
    # shellcheck disable=SC2086  # words of the line are arguments
    plan_one $line
done | tr '\n' '\0' | xargs -0 -r -n 1 -P "$jobs" sh -c
