#!/bin/sh
# The whole program on aarch64, by an emulator: cross-compiled from the sources, then the screens' figures, CPU kernels with NEON, the
# simulator without AVX, its counts the same as here. Needs qemu-user, gcc-aarch64-linux-gnu and the libraries of arm64: installed
# (dpkg --add-architecture arm64), or unpacked into a folder that $AARCH64_ROOT names.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ "$(uname -m)" != aarch64 ] || skip_all "this is an aarch64 machine: make check covers it"
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc} root=${AARCH64_ROOT:-}
for program in $cc qemu-aarch64 pkg-config; do
    command -v "$program" >/dev/null 2>&1 || skip_all "no $program (Debian: gcc-aarch64-linux-gnu qemu-user pkg-config)"
done
libraries=$root/usr/lib/aarch64-linux-gnu
for library in ncursesw readline jansson sqlite3 md4c lzma; do
    [ -e "$libraries/lib$library.so" ] || skip_all "no lib$library of arm64 in $libraries"
done
[ -x "$ATTNSCOPE_SRCDIR/configure" ] || skip_all "no configure"

PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$root/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
mkdir build
build() {
    cd build && "$ATTNSCOPE_SRCDIR/configure" -q --host=aarch64-linux-gnu --without-cuda --without-cunit CC="$cc${root:+ --sysroot=$root}" \
        CFLAGS=-O1 && make -s -j"$(nproc)" attnscope attnscope-worker
}
if [ -n "${AARCH64_BUILD:-}" ]; then # one that is there already
    ln -s "$AARCH64_BUILD"/attnscope "$AARCH64_BUILD"/attnscope-worker build
else
    (build) >build.log 2>&1 || tail -5 build.log
fi
rc=0 out=""
is "the program is built for aarch64" says "$(readelf -h build/attnscope build/attnscope-worker 2>&1 | grep -c AArch64)" '^2$'

# The system knows no programs of another processor: scripts start the emulator.
for program in attnscope attnscope-worker; do
    printf '#!/bin/sh\nexec qemu-aarch64 -L "%s" "%s/build/%s" "$@"\n' "${root:-/}" "$tmp" "$program" >$program
    chmod +x $program
done
here=$ATTNSCOPE here_worker=${ATTNSCOPE_WORKER:-}
ATTNSCOPE=$tmp/attnscope ATTNSCOPE_WORKER=$tmp/attnscope-worker
export ATTNSCOPE_WORKER
run --version
is "it starts" says "$out" '^attnscope [0-9]'
run doctor
is "its processor has NEON" says "$out" 'CPU +ok .*NEON'
run plan fa2 gpu=H200 --json
mine=$out
is "plans" [ "$rc" -eq 0 ]
run check cpu_tiled,fa2,naive S=65 H=2 Hkv=1 D=48 causal=yes backend=cpu --json
is "CPU kernels pass, cpu_tiled with NEON" [ "$(printf '%s' "$out" | grep -c '"check":"pass"')" -eq 3 ]
run run cpu_tiled S=64 H=1 D=64 f32 backend=cpu n=3 time=0.1 --json
is "and are timed" says "$out" '"median_us":[0-9]'
run check fa2_mma,row_atomic S=64 H=1 D=64 f16 backend=sim --json
is "the simulator runs, and its outputs pass" [ "$(printf '%s' "$out" | grep -c '"check":"pass"')" -eq 2 ]
counts() {
    printf '%s' "$out" | grep -oE '"(warp_instructions|active_lanes|tensor_ops|smem_wavefronts|global_sectors|barriers|shuffles|l2_bytes|hazards)":[^,]*' | sort
}
theirs=$(counts)
ATTNSCOPE=$here ATTNSCOPE_WORKER=$here_worker
export ATTNSCOPE_WORKER
run check fa2_mma,row_atomic S=64 H=1 D=64 f16 backend=sim --json
is "its counts are those of this machine" [ "$(counts) $(printf '%s\n' "$theirs" | wc -l)" = "$theirs 18" ]
run plan fa2 gpu=H200 --json
is "its plans, too" [ "$out" = "$mine" ]
finish
