/* faults.c - how the fake driver breaks.
 *
 * A driver lives in the worker's process and can do anything to it: end it, hang, write into the
 * worker's connection, use up what the system gives. Each fault is one word.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "faults.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "job/wire.h"

enum { CALLS_MAX = 96, WIRE_FD = 3, TEXT_MAX = 512 };

struct call {
    char name[60];
    int count;
};

static struct {
    struct call own[CALLS_MAX], *calls; /* in the tally file, if there is one */
    char kernel[96], value[TEXT_MAX];
    int once; /* 0: not opened yet; -1: none */
} fake;

/* ---- the script ---- */

/* "key=text" in $FAKECUDA into `text`; false when it is not there. */
static int find(const char *key, char text[TEXT_MAX])
{
    const char *at = getenv("FAKECUDA");
    const size_t len = strlen(key);
    while (at && *at) {
        if (strncmp(at, key, len) == 0 && at[len] == '=') {
            snprintf(text, TEXT_MAX, "%.*s", (int)strcspn(at + len + 1, ","), at + len + 1);
            return 1;
        }
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return 0;
}

const char *fake_text(const char *key, const char *fallback)
{
    static char text[TEXT_MAX];
    return find(key, text) ? text : fallback;
}

int fake_number(const char *key, int fallback)
{
    char text[TEXT_MAX];
    return find(key, text) ? atoi(text) : fallback;
}

double fake_value(double usual)
{
    return strncmp(fake.value, "is", 2) == 0 ? strtod(fake.value + 2, NULL) : usual;
}

void fake_at_kernel(const char *name)
{
    snprintf(fake.kernel, sizeof fake.kernel, "%s", name);
}

/* ---- calls ---- */

static struct call *open_calls(void)
{
    char path[TEXT_MAX];
    const int fd = find("tally", path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    void *map = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof fake.own) == 0)
        map = mmap(NULL, sizeof fake.own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return map == MAP_FAILED ? fake.own : map;
}

static struct call *find_call(const char *name)
{
    if (!fake.calls)
        fake.calls = open_calls();
    for (int i = 0; i < CALLS_MAX; i++) {
        struct call *c = &fake.calls[i];
        if (!c->name[0])
            snprintf(c->name, sizeof c->name, "%s", name);
        if (strcmp(c->name, name) == 0)
            return c;
    }
    abort();
}

__attribute__((visibility("default"))) int fake_calls(const char *entry);
int fake_calls(const char *entry)
{
    return find_call(entry)->count;
}

void fake_forget(void)
{
    memset(&fake, 0, sizeof fake);
}

/* Opened with the first call: a compiler is confined later, and may open nothing then. */
static void open_once(void)
{
    char path[TEXT_MAX];
    if (!fake.once)
        fake.once = find("once", path) ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

/* With "once=FILE" in the script the first fault writes into the file, which kernel was hit, and there
 * is no second, in whatever process. */
static int may_fire(void)
{
    char path[TEXT_MAX], text[100];
    struct stat st;
    if (!find("once", path))
        return 1;
    if (fake.once < 0 || flock(fake.once, LOCK_EX) != 0 || fstat(fake.once, &st) != 0)
        return 0;
    snprintf(text, sizeof text, "hit %s", fake.kernel);
    const int mine = st.st_size == 0 && write(fake.once, text, strlen(text)) > 0;
    flock(fake.once, LOCK_UN);
    return mine;
}

const char *fake_scripted(const char *entry)
{
    char key[96];
    open_once();
    snprintf(key, sizeof key, "%s:%d", entry, ++find_call(entry)->count);
    const int hit = find(key, fake.value) && may_fire();
    if (!hit)
        fake.value[0] = '\0';
    return hit ? fake.value : NULL;
}

/* ---- ends ---- */

static void do_hang(void)
{
    for (;;)
        pause();
}

static void do_spin(void)
{
    for (volatile unsigned x = 0;; x++)
        ;
}

/* As it is without a sanitizer's handler. */
static void die_of(int sig)
{
    signal(sig, SIG_DFL);
    raise(sig);
}

static void do_segv(void)
{
    die_of(SIGSEGV);
}

static void do_abort(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void do_bus(void)
{
    die_of(SIGBUS);
}

static void do_fpe(void)
{
    die_of(SIGFPE);
}

static void do_ill(void)
{
    die_of(SIGILL);
}

static void do_kill(void)
{
    raise(SIGKILL);
}

static void do_term(void)
{
    die_of(SIGTERM);
}

static void do_pipe(void)
{
    die_of(SIGPIPE);
}

static void do_stop(void)
{
    raise(SIGSTOP);
}

static void do_exit0(void)
{
    _exit(0);
}

static void do_exit3(void)
{
    fprintf(stderr, "the driver gave up\n");
    _exit(3);
}

/* A child that holds the connection open outlives us. */
static void do_orphan(void)
{
    if (fork() == 0)
        do_hang();
    raise(SIGKILL);
}

/* ---- output ---- */

static void do_flood(void)
{
    for (int i = 0; i < 20000; i++)
        printf("%d the driver talks and talks and talks\n", i);
    fflush(stdout);
}

static void do_flood_err(void)
{
    for (int i = 0; i < 20000; i++)
        fprintf(stderr, "%d the driver complains\n", i);
}

static void do_escape(void)
{
    static const char noise[] = "\x1b]0;owned\a\x1b[2J\x9b\xff\xfe\x00\x1b[31m\xe2\x80\xae no end";
    fwrite(noise, 1, sizeof noise, stdout);
    fwrite(noise, 1, sizeof noise, stderr);
    fflush(stdout);
}

/* ---- the worker's connection ---- */

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

static uint32_t crc32c(const unsigned char *p, int n)
{
    uint32_t crc = ~0u;
    for (int i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

struct frame {
    unsigned char bytes[26];
};

/* A frame of the worker's protocol: type ESTIMATE, number 0, "{}". */
static struct frame frame(void)
{
    struct frame f = {.bytes = {0}};
    unsigned char sum[22];
    memcpy(f.bytes, "ATSC", 4);
    f.bytes[4] = WIRE_VERSION;
    f.bytes[6] = 3;
    put32(f.bytes + 8, 2);
    memcpy(f.bytes + 24, "{}", 2);
    memcpy(sum, f.bytes, 20);
    memcpy(sum + 20, f.bytes + 24, 2);
    put32(f.bytes + 20, crc32c(sum, sizeof sum));
    return f;
}

static void tell(const struct frame *f, size_t len)
{
    if (send(WIRE_FD, f->bytes, len, MSG_NOSIGNAL) < 0)
        _exit(9);
}

static void tell_changed(int at, int value)
{
    struct frame f = frame();
    f.bytes[at] = (unsigned char)value;
    tell(&f, sizeof f.bytes);
}

static void do_noise(void)
{
    struct frame f;
    for (int i = 0; i < 26; i++)
        f.bytes[i] = (unsigned char)(i * 37 + 11);
    tell(&f, sizeof f.bytes);
}

static void do_replay(void)
{
    const struct frame f = frame();
    tell(&f, sizeof f.bytes);
}

static void do_version(void)
{
    tell_changed(4, 9);
}

static void do_type(void)
{
    tell_changed(6, 99);
}

static void do_huge(void)
{
    tell_changed(11, 0xff);
}

static void do_checksum(void)
{
    tell_changed(25, '!');
}

static void do_half(void)
{
    const struct frame f = frame();
    tell(&f, 11);
    do_hang();
}

static void do_half_exit(void)
{
    const struct frame f = frame();
    tell(&f, 25);
    _exit(0);
}

static void do_hangup(void)
{
    shutdown(WIRE_FD, SHUT_RDWR);
}

static void do_close(void)
{
    close(WIRE_FD);
}

/* ---- what the system gives ---- */

static void limit(int what, rlim_t n)
{
    setrlimit((__rlimit_resource_t)what, &(struct rlimit){.rlim_cur = n, .rlim_max = n});
}

static void do_nofile(void)
{
    limit(RLIMIT_NOFILE, 3);
}

/* As on a full disk: files, memfds among them, do not grow. */
static void do_disk(void)
{
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 0);
}

static void do_nomem(void)
{
    limit(RLIMIT_AS, 1 << 20);
}

/* What a process that eats all memory meets; the limit is the worker's own, if it has one. */
static void do_eat(void)
{
    enum { PIECE = 64 << 20, PIECES = 256 };
    for (int i = 0; i < PIECES; i++)
        if (mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
            do_abort();
}

static void do_late(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

static void do_chdir(void)
{
    if (chdir("/") == 0)
        umask(0777);
}

/* ---- the table ---- */

static const struct {
    const char *word;
    void (*act)(void);
} faults[] = {
    {"hang", do_hang},
    {"spin", do_spin},
    {"segv", do_segv},
    {"abort", do_abort},
    {"bus", do_bus},
    {"fpe", do_fpe},
    {"ill", do_ill},
    {"kill", do_kill},
    {"term", do_term},
    {"pipe", do_pipe},
    {"stop", do_stop},
    {"exit0", do_exit0},
    {"exit3", do_exit3},
    {"orphan", do_orphan},
    {"flood", do_flood},
    {"flooderr", do_flood_err},
    {"escape", do_escape},
    {"noise", do_noise},
    {"replay", do_replay},
    {"version", do_version},
    {"type", do_type},
    {"huge", do_huge},
    {"checksum", do_checksum},
    {"half", do_half},
    {"halfexit", do_half_exit},
    {"hangup", do_hangup},
    {"close", do_close},
    {"nofile", do_nofile},
    {"disk", do_disk},
    {"nomem", do_nomem},
    {"eat", do_eat},
    {"late", do_late},
    {"chdir", do_chdir},
};

int fake_break(const char *what)
{
    if (strncmp(what, "is", 2) == 0)
        return 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(what, faults[i].word) == 0) {
            faults[i].act();
            return 0;
        }
    return atoi(what);
}
