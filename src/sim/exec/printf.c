/* printf.c - vprintf and __assertfail of device code. Foreign text: bounded, read byte by byte, never given to
 * the C library as a format with more than one conversion that was looked at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "sim/exec/worker.h"

#define STRING_MAX 512

/* A string of global memory, as far as it is there. */
static void read_string(const struct worker *t, uint64_t addr, char *out, size_t size)
{
    const struct allocation *al = memory_find(t->memory, addr);
    size_t n = 0;
    while (al && n + 1 < size && addr + n - al->base < al->bytes) {
        const char c = (char)al->host[addr + n - al->base];
        if (!c)
            break;
        out[n++] = c;
    }
    out[n] = 0;
}

/* Bytes of a lane's local memory. */
static uint64_t local_value(const struct warp *w, uint64_t at, int bytes, int lane)
{
    const struct sim_program *p = w->block->program;
    uint8_t v[8] = {0};
    for (int i = 0; i < bytes; i++, at++)
        if (at < p->facts.local_bytes + (uint64_t)p->call_bytes)
            v[i] = *((uint8_t *)w->local + (at >> 2) * SIM_SLOT + (uint64_t)lane * 4 + (at & 3));
    uint64_t x;
    memcpy(&x, v, sizeof x);
    return x;
}

static uint64_t call_value(const struct warp *w, uint32_t offset, int bytes, int lane)
{
    return local_value(w, offset, bytes, lane);
}

/* One conversion; `spec` is "%...X" with flags, width and precision only. Returns how many bytes it took from `at`. */
static uint64_t convert(struct warp *w, const char *spec, char kind, bool wide, uint64_t at,
                        int lane, char *out, size_t size)
{
    char fmt[40];
    const bool real = strchr("aAeEfFgG", kind), is8 = wide || real || kind == 's' || kind == 'p';
    at = is8 ? (at + 7) & ~7ull : (at + 3) & ~3ull;
    const uint64_t v = local_value(w, at, is8 ? 8 : 4, lane);
    double d;
    memcpy(&d, &v, sizeof d);
    char text[STRING_MAX];
    if (real) {
        snprintf(fmt, sizeof fmt, "%s%c", spec, kind);
        snprintf(out, size, fmt, d);
    } else if (kind == 's') {
        read_string(worker_of(w), v, text, sizeof text);
        snprintf(fmt, sizeof fmt, "%ss", spec);
        snprintf(out, size, fmt, text);
    } else if (kind == 'c') {
        snprintf(fmt, sizeof fmt, "%sc", spec);
        snprintf(out, size, fmt, (int)v);
    } else if (kind == 'p')
        snprintf(out, size, "0x%" PRIx64, v);
    else {
        snprintf(fmt, sizeof fmt, "%sll%c", spec, kind);
        const bool is_signed = kind == 'd' || kind == 'i';
        snprintf(out, size, fmt,
                 (long long)(is8         ? (int64_t)v
                             : is_signed ? (int32_t)v
                                         : (int64_t)(uint32_t)v));
    }
    return at + (is8 ? 8 : 4);
}

static void add_text(struct worker *t, const char *text, size_t n)
{
    if (t->printed.len + n > t->max_printf) {
        n = t->max_printf > t->printed.len ? t->max_printf - t->printed.len : 0;
        t->printf_cut = true;
    }
    str_addn(&t->printed, text, n);
}

/* What it returns, where somebody reads it. */
static void set_local(struct warp *w, uint64_t at, uint32_t value, int lane)
{
    const struct sim_program *p = w->block->program;
    if (at % 4 || at + 4 > p->facts.local_bytes + (uint64_t)p->call_bytes)
        return;
    memcpy((uint8_t *)w->local + (at >> 2) * SIM_SLOT + (uint64_t)lane * 4, &value, sizeof value);
    w->local_written[at >> 2] |= 1u << lane;
}

/* Text of one lane; how many arguments it had. */
static uint32_t print_lane(struct warp *w, const char *fmt, uint64_t at, int lane)
{
    struct worker *t = worker_of(w);
    uint32_t converted = 0;
    while (*fmt) {
        const size_t plain = strcspn(fmt, "%");
        add_text(t, fmt, plain);
        fmt += plain;
        if (!*fmt)
            break;
        if (fmt[1] == '%') {
            add_text(t, "%", 1);
            fmt += 2;
            continue;
        }
        const size_t n = 1 + strspn(fmt + 1, "-+ #0123456789.");
        const size_t sized = strspn(fmt + n, "hlLzjt");
        const char kind = fmt[n + sized];
        if (!kind || !strchr("diouxXcspaAeEfFgG", kind) || n > 6) {
            add_text(t, fmt, n);
            fmt += n;
            continue;
        }
        char spec[16], out[STRING_MAX];
        memcpy(spec, fmt, n);
        spec[n] = 0;
        at = convert(w, spec, kind,
                     memchr(fmt + n, 'l', sized) || memchr(fmt + n, 'z', sized) ||
                         memchr(fmt + n, 'j', sized),
                     at, lane, out, sizeof out);
        add_text(t, out, strlen(out));
        fmt += n + sized + 1;
        converted++;
    }
    return converted;
}

/* a: offset of the first parameter of the call in local memory: the format's address, then that of the arguments
 * (generic, in local memory, or 0). imm - 1: that of the result, the number of arguments; 0: none. */
void warp_printf(struct warp *w, const struct code *c, uint32_t m)
{
    for (int i = 0; i < 32; i++) {
        if (!(m >> i & 1))
            continue;
        char fmt[4 * STRING_MAX];
        read_string(worker_of(w), call_value(w, c->a, 8, i), fmt, sizeof fmt);
        const uint64_t args = call_value(w, c->b, 8, i);
        const uint32_t n = print_lane(
            w, fmt,
            args - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES ? args - SIM_LOCAL_WINDOW : UINT32_MAX, i);
        if (c->imm)
            set_local(w, c->imm - 1, n, i);
    }
}

/* a: message, b: file, c: line, imm: function, as offsets of parameters in local memory */
void warp_assert(struct warp *w, const struct code *c, uint32_t m)
{
    const int lane = __builtin_ctz(m);
    char what[80], file[256], function[60];
    const struct worker *t = worker_of(w);
    read_string(t, call_value(w, c->a, 8, lane), what, sizeof what);
    read_string(t, call_value(w, c->b, 8, lane), file, sizeof file);
    read_string(t, call_value(w, c->imm, 8, lane), function, sizeof function);
    const char *name = strrchr(file, '/');
    block_fault(w->block, w, c, lane, SIM_FAULT_ASSERT, SIM_NOWHERE, 0, 0,
                (uint32_t)__builtin_popcount(m), "%s, %s line %u, in %s", what,
                name ? name + 1 : file, (unsigned)call_value(w, c->c, 4, lane), function);
}
