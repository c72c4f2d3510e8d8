#!/bin/sh
# Machines without anything of NVIDIA's: with the distribution's clang a kernel is changed, its race read and mended, and what
# it prints is shown; without any compiler the built-in kernels run, and a change is told how to get one. The path of both is
# made of links, so that what else is on this machine does not count.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154  # lib.sh gives tmp, rc, out and err
. "$(dirname "$0")/../cli/lib.sh"
clang=$(command -v clang || true)
mkdir "$tmp/bin" "$tmp/none"
for tool in sh env cat sed grep rm mkdir; do
    at=$(command -v $tool) && ln -s "$at" "$tmp/bin/$tool" && ln -s "$at" "$tmp/none/$tool"
done
unset CUDA_HOME CUDA_PATH LD_LIBRARY_PATH ATTNSCOPE_COMPILE ATTNSCOPE_NVCC ATTNSCOPE_CLANG
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=/nonexistent/nvcc ATTNSCOPE_PYTHON=none COLUMNS=200
usual=$PATH
# The program alone has the bare path.
on() { # folder, words
    bare=$1
    shift
    PATH=$bare run "$@"
    PATH=$usual
}

cat >"$tmp/tile.cu" <<'CU'
/* tile.cu
 *
 * @name      tile
 * @title     a tile through shared memory
 * @idea      Each thread gives its neighbour a word; only then is the output written.
 * @dtypes    f32
 * @param     THREADS 64  threads
 * @threads   THREADS
 * @smem      dynamic row THREADS*4 align=16
 * @grid      Sq H B
 */
#include "attn.cuh"

extern "C" __global__ void tile(const __grid_constant__ AttnArgs a)
{
    float *row = (float *)smem;
    row[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    const float got = row[(threadIdx.x + 33) % P_THREADS];
    if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0) printf("got %.1f %s\n", got, "\033[31mred");
    float *o = (float *)a.o;
    for (int d = threadIdx.x; d < ATTN_D; d += P_THREADS)
        if (d < a.D)
            o[blockIdx.z * a.o_stride[0] + blockIdx.y * a.o_stride[1] + blockIdx.x * a.o_stride[2] + d] = got;
}
CU
barrier=$(grep -n __syncthreads "$tmp/tile.cu" | cut -d: -f1)
mkdir "$tmp/bad"
sed '/__syncthreads/s/__syncthreads();//' "$tmp/tile.cu" >"$tmp/bad/tile.cu"

if [ -z "$clang" ]; then
    skip "no clang here; ./quickstart check --dev installs one"
else
    ln -s "$clang" "$tmp/bin/clang"
    run kernel add "$tmp/bad/tile.cu"
    is "a kernel of one's own is added" [ "$rc" -eq 0 ]
    on "$tmp/bin" sanitize tile S=4 H=1 D=64 f32
    is "without its barrier it has a hazard" [ "$rc" -eq 1 ]
    is "a race between warps, with the line that writes" says "$out" "tile\\.cu:$((barrier - 1))"
    is "and the line that reads" says "$out" "tile\\.cu:$((barrier + 1))"
    is "by clang's PTX" says "$out" "clang [0-9]"
    is "what it printed is shown" says "$out" '^printed by tile:'
    is "without what a terminal would obey" says "$out" '^ +got [-a-z0-9.]+ \^\[\[31mred'
    on "$tmp/bin" sanitize tile S=4 H=1 D=64 f32 --json
    is "and as lines in JSON" says "$out" '"printed":\["got [-a-z0-9.]+ \^\[\[31mred'
    on "$tmp/bin" run tile backend=sim S=4 H=1 D=64 f32
    is "run shows it, too" says "$out" '^ +got [-a-z0-9.]+ '
    is "and the hazard" says "$out" '^tile .* [1-9][0-9]* +fail ' # the sentence may be of the wrong values
    cp "$tmp/tile.cu" "$HOME/.local/share/attnscope/kernels/tile.cu"
    on "$tmp/bin" sanitize tile S=4 H=1 D=64 f32
    is "mended, it has none" says "$out" 'no hazard'
fi

# ---- no compiler at all
export ATTNSCOPE_CLANG=/nonexistent/clang
rm -rf "$HOME/.cache"
on "$tmp/none" check fa2,fa2_mma,splitkv backend=sim S=64 H=1
is "built-in kernels are checked without a compiler" [ "$rc" -eq 0 ]
on "$tmp/none" run fa2 backend=sim S=64 H=1
is "and run" says "$out" ' pass '
on "$tmp/none" sanitize fa2
is "and sanitized" says "$out" 'no hazard'
mkdir -p "$HOME/.local/share/attnscope/kernels"
cp "$tmp/tile.cu" "$HOME/.local/share/attnscope/kernels/mine.cu"
sed -i 's/@name      tile/@name      mine/; s/void tile(/void mine(/' "$HOME/.local/share/attnscope/kernels/mine.cu"
on "$tmp/none" kernel allow mine
on "$tmp/none" sanitize mine S=4 H=1 D=64 f32
says_how() { is "$1: it is told how to get a compiler" says "$out$err" 'install clang'; }
is "one's own needs a compiler" [ "$rc" -eq 3 ]
says_how sanitize
is "not what failed to start" [ "$(printf %s "$out$err" | grep -c "No such file")" -eq 0 ]
# An nvcc that finds no host compiler cannot, whatever the source is.
cat >"$tmp/none/nvcc" <<'SH'
#!/bin/sh
case $* in *--version*) echo "Cuda compilation tools, release 12.4, V12.4.131" && exit 0 ;; esac
echo "gcc: No such file or directory" >&2
echo "nvcc fatal   : Failed to preprocess host compiler properties." >&2
exit 1
SH
chmod +x "$tmp/none/nvcc"
unset ATTNSCOPE_NVCC
on "$tmp/none" sanitize mine S=4 H=1 D=64 f32
says_how "nvcc without gcc"
is "not what failed to start" [ "$(printf %s "$out$err" | grep -c "No such file")" -eq 0 ]
finish
