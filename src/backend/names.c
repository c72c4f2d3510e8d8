/* names.c - what front ends may know of backends without linking them: their rows, whether
 * this machine looks as if it could run them, and what outputs are filled with before a run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/str.h"

/* Quiet NaNs with a payload that no arithmetic produces. The 16-bit one is a NaN both as f16 and as
 * bf16. Little endian, as everything here. */
const unsigned char output_poison_f32[4] = {0xda, 0x5a, 0xda, 0x7f};
const unsigned char output_poison_f16[2] = {0xda, 0x7f};
const unsigned char output_guard_byte = 0xc5;

/* Doubled up to a page, which is then copied behind itself, so that large outputs are written and not read. */
void output_poison(void *first, size_t bytes, enum dtype t)
{
    enum { PAGE = 4096 };
    unsigned char *o = first;
    size_t done = dtype_size(t) < bytes ? dtype_size(t) : bytes;
    memcpy(o, t == DTYPE_F32 ? output_poison_f32 : output_poison_f16, done);
    while (done < bytes) {
        const size_t left = bytes - done, have = done < PAGE ? done : PAGE;
        const size_t n = have < left ? have : left;
        memcpy(o + done, o, n);
        done += n;
    }
}

void output_guard(void *first, size_t bytes)
{
    unsigned char *o = first;
    memset(o - OUTPUT_GUARD_BYTES, output_guard_byte, OUTPUT_GUARD_BYTES);
    memset(o + bytes, output_guard_byte, OUTPUT_GUARD_BYTES);
}

/* The device file of a driver that is loaded and lets this process at a GPU: desktop and server,
 * Jetson, Windows' Linux. In a container without a GPU there is none, whatever /proc says. */
static bool device_file(void)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvgpu", "/dev/nvhost-gpu",
                                        "/usr/lib/wsl/lib/libcuda.so.1", NULL};
    for (const char *const *f = files; *f; f++)
        if (access(*f, F_OK) == 0)
            return true;
    return false;
}

/* Asked hundreds of times a frame, so the file system is asked once a second: a driver may come. */
static bool nvidia_present(void)
{
    static _Thread_local struct {
        double at;
        bool here;
    } seen = {.at = -INFINITY};
    const char *test = secure_getenv("ATTNSCOPE_LIBCUDA");
    if (test && *test)
        return true;
    const double now = seconds_now();
    if (now - seen.at >= 1) {
        seen.here = device_file();
        seen.at = now;
    }
    return seen.here;
}

/* ---- the table ---- */

#define BACKEND(name_, ...) {.name = #name_, __VA_ARGS__},
const struct backend_info backend_rows[] = {
#include "backend_table.h"
    {0},
};
#undef BACKEND

#define BACKEND(name_, ...) #name_,
const char *const backend_words[] = {
    "auto",
#include "backend_table.h"
    NULL,
};
const char *const backend_names[] = {
#include "backend_table.h"
    NULL,
};
#undef BACKEND

const struct backend_info *backend_info(const char *name)
{
    const struct backend_info *b = backend_rows;
    while (name && b->name && strcmp(b->name, name) != 0)
        b++;
    return name && b->name ? b : NULL;
}

static bool has_option(const struct backend_info *b, const char *option)
{
    for (const char *const *o = b->options; *o; o++)
        if (!strcmp(*o, option))
            return true;
    return false;
}

bool backend_heeds(const struct backend_info *b, const char *option)
{
    bool special = false;
    for (const struct backend_info *other = backend_rows; other->name; other++)
        special = special || has_option(other, option);
    return !special || has_option(b, option);
}

bool backend_is_here(const struct backend_info *b)
{
    return !b->present || b->present();
}

bool backend_present(const char *name)
{
    const struct backend_info *b = backend_info(name);
    return b && backend_is_here(b);
}

const struct backend_info *backend_usual(void)
{
    const struct backend_info *best = NULL;
    for (const struct backend_info *b = backend_rows; b->name; b++)
        if (b->rank > (best ? best->rank : 0) && backend_is_here(b))
            best = b;
    return best;
}

const char *backend_origin(const char *name)
{
    const struct backend_info *b = backend_info(name);
    return (b ? b : backend_usual())->origin;
}

const struct backend_info *backend_everywhere(void)
{
    const struct backend_info *b = backend_rows;
    while (b->present)
        b++;
    return b;
}

const struct backend_info *backend_simulator(void)
{
    const struct backend_info *b = backend_rows;
    while (b->times)
        b++;
    return b;
}

const struct backend_info *backend_gpu(void)
{
    const struct backend_info *b = backend_rows;
    while (!b->gpu)
        b++;
    return b;
}

bool backend_gpu_is_here(void)
{
    return backend_is_here(backend_gpu());
}

bool backend_is_gpu(const char *name)
{
    const struct backend_info *b = backend_info(name);
    return b && b->gpu;
}

const struct kernel_desc *backend_desc(const struct backend_info *b, const struct kernel *k)
{
    return kernel_on(k, b->side);
}

/* ---- the name of the GPU ---- */

static int is_entry(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* "Model: <tab> NVIDIA H200" of one GPU's file. */
static bool read_model(const char *dir, const char *entry, char *name, size_t size)
{
    char path[512], line[256];
    snprintf(path, sizeof path, "%s/%s/information", dir, entry);
    FILE *f = fopen(path, "re");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        if (!str_starts(line, "Model:"))
            continue;
        const char *text = line + 6 + strspn(line + 6, " \t");
        snprintf(name, size, "%.*s", (int)strcspn(text, "\r\n"), text);
        found = *name != '\0';
    }
    if (f)
        fclose(f);
    return found;
}

/* The driver's own word in its /proc folder, which costs no driver call. */
bool backend_gpu_name(int index, char *name, size_t size)
{
    const char *test = secure_getenv("ATTNSCOPE_PROC_GPUS"), *fake;
    const bool given = test && *test;
    if (!given && (!nvidia_present() || ((fake = secure_getenv("ATTNSCOPE_LIBCUDA")) && *fake)))
        return false;
    const char *dir = given ? test : "/proc/driver/nvidia/gpus";
    struct dirent **entries;
    const int n = scandir(dir, &entries, is_entry, alphasort); /* names are PCI addresses */
    char first[256] = "", model[256];
    bool same = n > 0;
    *name = '\0';
    for (int i = 0; i < n; i++) {
        same = same && read_model(dir, entries[i]->d_name, model, sizeof model);
        if (same && i == 0)
            snprintf(first, sizeof first, "%s", model);
        same = same && strcmp(first, model) == 0;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    if (same && index < n)
        snprintf(name, size, "%s", first);
    return *name != '\0';
}
