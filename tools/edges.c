/* edges.c - which edges of the programs a test takes, for tools/test-edges; linked into programs that clang built with
 * -fsanitize-coverage=trace-pc-guard,pc-table.
 *
 * What was taken lies in a shared map of a file, EDGES/TEST/PROGRAM, a byte an edge, so that it is known of processes that end by a
 * signal, too, and of those that may not open files any more. EDGES/PROGRAM.pcs says where the edges are. Whose environment
 * does not name the test (what sshd starts) asks those that started it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EDGES_MOST = 1 << 18, DEEP = 30 };
static unsigned char *volatile taken;
static uint32_t edges;

void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end);
void __sanitizer_cov_trace_pc_guard(const uint32_t *guard);
void __sanitizer_cov_pcs_init(const uintptr_t *begin, const uintptr_t *end);

/* A file of /proc, ended by NUL; its length. */
static size_t read_proc(pid_t pid, const char *what, char *to, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    const int f = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    for (ssize_t got = 1; f >= 0 && got > 0 && n + 1 < size; n += got > 0 ? (size_t)got : 0)
        got = read(f, to + n, size - 1 - n);
    if (f >= 0)
        close(f);
    to[n] = 0;
    return n;
}

static pid_t parent_of(pid_t pid)
{
    char text[4096];
    read_proc(pid, "status", text, sizeof text);
    const char *at = strstr(text, "\nPPid:");
    return at ? atoi(at + 6) : 0;
}

/* What the environment of this process, or of one that started it, has for a name. */
static const char *from_above(const char *name, char *text, size_t size)
{
    const size_t length = strlen(name);
    pid_t pid = getpid();
    for (int i = 0; i < DEEP && pid > 1; i++, pid = parent_of(pid)) {
        const size_t n = read_proc(pid, "environ", text, size);
        for (const char *at = text; at < text + n; at += strlen(at) + 1)
            if (strncmp(at, name, length) == 0 && at[length] == '=')
                return at + length + 1;
    }
    return NULL;
}

/* The file that NAME of the folder of edges is, of this program; -1 where none is asked for. */
static int open_file(const char *test, const char *ending, int flags)
{
    static char folder[1 << 16];
    char program[512], path[1024];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *all = from_above("EDGES", folder, sizeof folder);
    if (n <= 0 || !all)
        return -1;
    program[n] = 0;
    snprintf(path, sizeof path, "%.300s/%.200s", all, test);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%.300s/%.200s/%.200s%s", all, test, strrchr(program, '/') + 1,
             ending);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0666);
}

static void open_map(void)
{
    static char text[1 << 16];
    const char *test = from_above("EDGES_OF", text, sizeof text);
    const int f = test ? open_file(test, "", 0) : -1;
    if (f < 0)
        return;
    void *map = ftruncate(f, EDGES_MOST) == 0
                    ? mmap(NULL, EDGES_MOST, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0)
                    : MAP_FAILED;
    close(f);
    taken = map == MAP_FAILED ? NULL : map;
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end)
{
    if (begin == end || *begin)
        return;
    for (uint32_t *guard = begin; guard < end; guard++)
        *guard = edges++;
    if (!taken)
        open_map();
}

void __sanitizer_cov_trace_pc_guard(const uint32_t *guard)
{
    unsigned char *const map = taken;
    if (map && *guard < EDGES_MOST && !map[*guard])
        map[*guard] = 1;
}

/* The addresses of all edges as they stand in the program, written once. */
void __sanitizer_cov_pcs_init(const uintptr_t *begin, const uintptr_t *end)
{
    extern const char __executable_start[];
    const int f = open_file(".", ".pcs", O_EXCL);
    for (const uintptr_t *at = begin; f >= 0 && at < end; at += 2) {
        const uint64_t pc = *at - (uintptr_t)__executable_start;
        if (write(f, &pc, sizeof pc) != sizeof pc)
            break;
    }
    if (f >= 0)
        close(f);
}
