#!/bin/sh
# K and V in pages: right on random shapes and page sizes, in the simulator and on the CPU; who takes none says so; what is
# planned, explained, kept; users' kernels. PAGES_CASES=300 for more shapes.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2086  # lib.sh gives tmp, rc, out and err; shapes are words
. "$(dirname "$0")/lib.sh"
fake=${ATTNSCOPE_FAKECUDA:-}
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=160 ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=/nonexistent/nvcc
src=${ATTNSCOPE_SRCDIR:-$OLDPWD}
case $src in /*) ;; *) src=$OLDPWD/$src ;; esac
small='B=2 H=4 Hkv=2 Sq=2 Sk=100 D=64'

is "the PTX that fills pages is of its source" \
    [ "$(head -1 "$src/kernels/pages/pages.ptx")" = "// pages.cu $(cksum <"$src/kernels/pages/pages.cu")" ]

# ---- random shapes: "check KERNEL SHAPE", from a seed ----
cases() { # how many, kernel, D's
    LC_ALL=C awk -v n="$1" -v kernel="$2" -v ds="$3" 'function pick(list,   a, k) { k = split(list, a, " "); return a[int(rand() * k) + 1] }
    BEGIN {
        srand(16)
        for (i = 0; i < n; i++) {
            hkv = pick("1 2 3"); page = pick("1 2 7 8 15 16 16 17 24 32 48 64 100 128 256 1000")
            keys = pick("0 1 2") == 0 ? 1 + int(rand() * 300) : page * (1 + int(rand() * (300 / page + 1))) + int(rand() * 3) - 1
            if (keys < 1) keys = 1
            if (keys > 400) keys = 400
            printf "check %s B=%d H=%d Hkv=%d Sq=%d Sk=%d D=%d %s page=%d %s %s %s seed=%d %s --json\n", kernel, pick("1 2 3"), hkv * pick("1 2 4"),
                hkv, 1 + int(rand() * 16), keys, pick(ds), pick("f16 bf16"), page, pick("causal causal=no"), pick("bhsd bshd"),
                pick("pages=shuffled pages=ordered"), 1 + int(rand() * 99), pick("input=normal input=normal input=outlier input=mean")
        }
    }'
}
number_of() { printf '%s\n' "$out" | grep -c -- "$1"; }
n=${PAGES_CASES:-40}
cases "$n" decode_paged "24 32 56 64 64 120 128" >"$tmp/cases"
run_input "set backend=sim
$(cat "$tmp/cases")"
is "decode_paged is right on $n shapes in the simulator" [ "$(number_of '"check":"pass"')" -eq "$n" ]
is "  without a hazard" [ "$(number_of '"hazards":0,')" -eq "$n" ]
[ "$(number_of '"check":"pass"')" -eq "$n" ] || printf '%s\n' "$out" | grep '"kernel"' | grep -v '"check":"pass"' | cut -c1-400 | sed 's/^/# /'
cases "$n" splitkv "1 9 24 64" >"$tmp/cases"
run_input "set backend=cpu
$(cat "$tmp/cases")"
is "splitkv is right on $n shapes on the CPU" [ "$(number_of '"check":"pass"')" -eq "$n" ]

# ---- the same bits, wherever a key lies ----
run check decode_paged,decode_atomic $small page=7 pages=both backend=sim --json
is "pages and a contiguous copy: the same bits" [ "$(number_of '"pair_max_diff":0.0')" -eq 1 ]
is "rows say who read what" [ "$(number_of '"kv":"pages"'),$(number_of '"kv":"contiguous"')" = 1,1 ]
run check decode_paged $small backend=sim --json
is "without pages they say nothing" says "$out" '"check":"pass".*"kv":null'

# ---- who takes none ----
run check fa2 $small page=16 backend=cpu
is "a kernel without pages is refused" [ "$rc" -ne 0 ]
is "  in a sentence, with the way out" says "$out$err" 'fa2 takes no pages, and K and V lie in pages of 16 keys; with pages=both it reads a contiguous copy'
run check all $small page=16 backend=sim blocks=few --json
is "all but one of the ladder" [ "$(number_of '"check":"pass"'),$(number_of 'takes no pages')" = "1,$(($(number_of '"kernel"') - 1))" ]
for k in torch:flash cudnn cublas py:math.sin; do
    run run $k $small page=16 backend=cuda
    is "$k takes none" says "$out$err" "$k takes no pages"
done
run ring fa2 gpus=2 S=64 page=16
is "a ring knows none" says "$err" 'a ring sends K and V in contiguous chunks and knows no pages; page is 16'
run check decode_paged Sq=4 Sk=64 gpus=2 page=16 backend=sim
is "nor its runs" says "$out$err" 'knows no pages'
run plan decode_paged $small page=4k pages=shuffled B=64k H=64 Hkv=64 D=256 gpu=H200
is "a pool beyond all limits is refused" [ "$rc" -eq 2 ]
is "  and says what to do" says "$err" 'a smaller page|would fit'

# ---- planned, explained ----
run plan decode_paged B=8 H=32 Hkv=8 Sq=1 Sk=8k D=128 page=16 gpu=H200
is "a plan shows pages, pools and table" says "$out" '^  pages +512 pages of 16 keys a sequence, 4096 of 4609 pages in use; pools of K and V 288 MiB, block table 16.0 KiB'
run plan decode_paged B=8 H=32 Hkv=8 Sq=1 Sk=8k D=128 page=16 gpu=H200 --json
is "in JSON, in bytes" says "$out" '"pool_bytes":302055424.0,"table_bytes":16384.0'
run plan decode_atomic B=8 H=32 Hkv=8 Sq=1 Sk=8k D=128 gpu=H200 --json
is "unknown where there are none" says "$out" '"pool_bytes":null,"table_bytes":null'
run explain table_bytes decode_paged B=8 H=32 Hkv=8 Sq=1 Sk=8k D=128 page=16 gpu=H200
is "explain has the formula" says "$out" 'table_bytes = B\*ceil\(Sk/page\)\*4 = 8\*512\*4 = 16384'
run sweep decode_paged page=16,64,256 B=4 H=8 Sq=1 Sk=100 metric=pool_bytes gpu=H200 --json
is "page is an axis" [ "$(number_of '"page":')" -eq 3 ]

# ---- what the simulator sees ----
run run decode_paged B=1 H=8 Hkv=2 Sq=1 Sk=512 D=128 backend=sim --json
whole=$(printf '%s' "$out" | sed -n 's/.*"global_sectors":\([0-9]*\).*/\1/p' | head -1)
for page in 1 16 256; do
    run run decode_paged B=1 H=8 Hkv=2 Sq=1 Sk=512 D=128 page=$page backend=sim --json
    paged=$(printf '%s' "$out" | sed -n 's/.*"global_sectors":\([0-9]*\).*/\1/p' | head -1)
    is "pages of $page cost less than 2 % of the sectors ($whole, $paged)" [ $((paged > whole && paged * 50 < whole * 51)) -eq 1 ]
done
run_input "$(printf 'debug decode_paged %s page=16 block=0\nprint K[13][1][15][63]\nprint K[16][1][0][0]\nprint K[0][0][16][0]\nprint V[0][2][0][0]\n' "$small")"
is "the debugger has keys by their page" says "$out" 'K\[13\]\[1\]\[15\]\[63\]'
is "  and knows none beyond page, head and pool" [ "$(printf '%s\n' "$err" | grep -c 'there is no [KV]')" -eq 3 ]
run sanitize decode_paged $small page=24
is "no hazard" says "$out" 'no hazard'
sed -e 's/^ \* @name .*/ * @name paged_beyond/' -e 's/ decode_paged(const/ paged_beyond(const/' -e 's/min(key + (int)threadIdx.x % KEYS, a.Sk - 1)/key + (int)threadIdx.x % KEYS/' \
    "$src/kernels/cuda/decode_paged.cu" >"$tmp/paged_beyond.cu"
if command -v clang >/dev/null; then
    run kernel add "$tmp/paged_beyond.cu"
    run sanitize paged_beyond $small page=24 --json
    is "a look-up beyond the block table has its name" says "$out" '"kind":"out_of_bounds_read".*"name":"block table"'
else
    skip "no clang"
fi

# ---- kept, and found again ----
run run splitkv $small page=16 backend=cpu time=0.02 n=3 --json
is "a row's shape has the pages" says "$out" '"shape":"B=2 H=4 Hkv=2 Sq=2 Sk=100 D=64 f16 page=16"'
run results page=16 --csv
is "results are found by it" [ "$(number_of 'page=16')" -ge 1 ]
run results page=32 --csv
is "and no others" [ "$(number_of 'page=16')" -eq 0 ]

# ---- .npy: contiguous files, put into pages ----
if python3 -c 'import numpy' 2>/dev/null; then
    python3 - <<'PY'
import numpy as np
g = np.random.default_rng(1)
for name, shape in (("q", (2, 4, 2, 64)), ("k", (2, 2, 100, 64)), ("v", (2, 2, 100, 64))):
    np.save(name + ".npy", g.standard_normal(shape).astype(np.float16))
PY
    run check decode_paged input=q.npy,k.npy,v.npy page=16 backend=sim --json
    is "files go into pages" says "$out" '"check":"pass".*"page":16'
else
    skip "no numpy"
fi

# ---- users' own ----
sed -e 's/^ \* @name .*/ * @name mine/' -e 's/attn_splitkv/attn_mine/' "$src/kernels/cpu/splitkv.c" >"$tmp/mine.c"
run kernel add "$tmp/mine.c"
run kernel allow mine
run check mine $small page=16 backend=cpu --json
is "a C kernel of one's own reads pages" says "$out" '"check":"pass"'
sed -e 's/a->table\[.*\]/j \/ page/' "$tmp/mine.c" >"$tmp/bad.c"
sed -i -e 's/@name *mine/@name bad/' -e 's/attn_mine/attn_bad/' "$tmp/bad.c"
run kernel add "$tmp/bad.c"
run kernel allow bad
run check bad $small page=16 backend=cpu --json
is "one that knows no table fails" says "$out" '"check":"fail"'
sed -e 's/@pages.*/@pages page % 32 == 0/' -e 's/@name *mine/@name only32/' -e 's/attn_mine/attn_only32/' "$tmp/mine.c" >"$tmp/only32.c"
run kernel add "$tmp/only32.c"
run check only32 $small page=48 backend=cpu
is "a kernel may take some page sizes" says "$out$err" 'only32 needs page % 32 == 0; page is 48'

# ---- a GPU, as the fake driver plays it ----
if [ -n "$fake" ]; then
    export ATTNSCOPE_LIBCUDA="$fake/fakecuda.so" ATTNSCOPE_LIBNVRTC="$fake/fakecuda.so" FAKECUDA=regs=168
    run compare decode_paged,decode_atomic $small page=24 pages=both time=0.02 n=3 backend=cuda --json
    is "the pools are filled for every sample" [ "$(number_of '"check":"pass"')" -eq 2 ]
    export FAKECUDA=regs=168,compute:1=inputs
    run check decode_paged $small page=24 backend=cuda
    is "a write to a pool is seen" says "$out$err" 'decode_paged: it overwrote its inputs'
    export FAKECUDA=regs=168,ptx=0
    run check decode_paged $small page=24 backend=cuda
    is "a driver that cannot compile says so" says "$out$err" 'the driver cannot compile the kernel that fills pages'
else
    skip "no fake driver"
fi
finish
