#!/bin/sh
# The NEON code of the CPU kernels: cross-compiled, run by an emulator, judged against float64.
# On an aarch64 machine test_cpu_kernels does the same without this detour.
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
src=${ATTNSCOPE_SRCDIR:-.}
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
[ "$(uname -m)" != aarch64 ] || skip "this is an aarch64 machine: test_cpu_kernels covers it"
command -v "$cc" >/dev/null 2>&1 || skip "no $cc (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
run=
for emulator in qemu-aarch64 qemu-aarch64-static; do
    command -v $emulator >/dev/null 2>&1 && run=$emulator && break
done
[ -n "$run" ] || skip "no qemu-aarch64 (Debian: qemu-user)"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$src"
echo 'int main(void) { return 0; }' >"$tmp/probe.c"
"$cc" -static "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null ||
    skip "$cc cannot link statically (Debian: libc6-dev-arm64-cross)"
sh tools/embed.sh . . kernels/cpu/*.h kernels/cpu/*.c >"$tmp/blob_table.c"
# What the cases need of the library: no JSON, no database, no kernels of other kinds. Functions of the
# field table that speak JSON are in the same files; nobody calls them here, so the linker drops them.
"$cc" -static -std=gnu11 -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections -D_GNU_SOURCE -Isrc -Itests/unit \
    tests/unit/neon_main.c tests/unit/cpu_cases.c "$tmp/blob_table.c" kernels/cpu/*.c \
    src/backend/cpu/cpu_kernel.c src/backend/cpu/cpu_simd.c src/backend/pool.c src/backend/cpu_host.c src/backend/quota.c src/base/clock.c \
    src/kernel/blob.c src/kernel/code.c src/kernel/desc*.c src/spec/shape.c src/spec/dtype.c \
    src/base/status.c src/base/mem.c src/base/str.c src/base/utf8.c src/base/number.c \
    src/base/expr.c src/base/field.c src/base/record.c src/base/procstate.c \
    -o "$tmp/neon" -lm -lpthread
"$run" "$tmp/neon"
