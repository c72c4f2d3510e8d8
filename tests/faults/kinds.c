/* kinds.c - the table of faults, and how an injection is drawn from it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "faults.h"

#define STICKY "226|700|702|710|714|715|716|717|718|719|721|810|911"
#define NVML                                                               \
    "nvmlInit_v2|nvmlDeviceGetHandleByPciBusId_v2|nvmlDeviceGetClockInfo|" \
    "nvmlSystemGetDriverVersion"
#define COMPILE_ENTRIES \
    "nvrtcCreateProgram|nvrtcCompileProgram|nvrtcGetProgramLogSize|nvrtcGetCUBIN"
#define DIED(n)  "died (signal " #n ","
#define SILENT   "no sign of life"
#define NONSENSE "sent nonsense"

// clang-format off
const struct kind kinds[] = {
    /* calls that say no */
    {"an ordinary error",           IN_CALL, TOLD,   .what = "1|2|101|201|304|400|500|700|999", .weight = 40},
    {"a final error",               IN_CALL, TOLD,   .what = STICKY, .weight = 40},
    {"an error where none matters", IN_CALL, EITHER, .target = "*", .what = "1|2|600|999|" STICKY, .weight = 20},
    {"no memory on the device",     IN_CALL, TOLD,   .target = "cuMemAlloc_v2", .what = "2", .says = "of GPU memory"},
    {"the device is lost",          IN_CALL, TOLD,   .target = "cuStreamSynchronize|cuMemcpyDtoH_v2|cuLaunchKernel", .what = "46|719|999"},
    /* calls that lie */
    {"a call that does nothing",    IN_CALL, EITHER, .target = "*", .what = "skip", .weight = 16},
    {"an input that never arrives", IN_CALL, TOLD,   .target = "cuMemcpyHtoD_v2", .what = "skip"},
    {"an output that is not copied", IN_CALL, TOLD,  .target = "cuMemcpyDtoH_v2", .what = "skip"},
    {"memory that is not there",    IN_CALL, TOLD,   .target = "cuMemAlloc_v2", .what = "skip|is0|is4096"},
    {"the wrong number of devices", IN_CALL, TOLD,   .target = "cuDeviceGetCount", .what = "is0|is-3"},
    {"a device without limits",     IN_CALL, EITHER, .target = "cuDeviceGetAttribute", .what = "is0|is-1|is2147483647", .weight = 16},
    {"a device name of controls",   IN_CALL, EITHER, .target = "cuDeviceGetName|nvmlSystemGetDriverVersion", .what = "is1"},
    {"absurd function attributes",  IN_CALL, EITHER, .target = "cuFuncGetAttribute", .what = "is0|is-1|is100000"},
    {"another occupancy",           IN_CALL, TOLD,   .target = "cuOccupancyMaxActiveBlocksPerMultiprocessor", .what = "is0|is-1|is77", .says = "disagree"},
    {"a clock that runs backwards", IN_CALL, TOLD,   .target = "cuEventElapsedTime", .what = "is-1|is0|isnan|isinf", .says = "its events"},
    /* kernels that are wrong */
    {"one wrong element",           IN_CALL, TOLD,   .target = "compute", .what = "one"},
    {"a NaN",                       IN_CALL, TOLD,   .target = "compute", .what = "nan"},
    {"all zeros",                   IN_CALL, TOLD,   .target = "compute", .what = "zero"},
    {"an output shifted by one",    IN_CALL, TOLD,   .target = "compute", .what = "shift"},
    {"a wrong scale",               IN_CALL, TOLD,   .target = "compute", .what = "scale"},
    {"nothing written",             IN_CALL, TOLD,   .target = "compute", .what = "none", .says = "never written"},
    {"half of the rows written",    IN_CALL, TOLD,   .target = "compute", .what = "half", .says = "never written"},
    {"a write behind the output",   IN_CALL, TOLD,   .target = "compute", .what = "behind|farbehind", .says = "after the output"},
    {"a write before the output",   IN_CALL, TOLD,   .target = "compute", .what = "before", .says = "before the output"},
    {"a write to the inputs",       IN_CALL, TOLD,   .target = "compute", .what = "inputs", .says = "overwrote its inputs"},
    /* ends inside the driver */
    {"a segmentation fault",        IN_CALL, TOLD,   .target = "*", .what = "segv", .says = DIED(11), .weight = 16},
    {"a bus error",                 IN_CALL, TOLD,   .target = "*", .what = "bus", .says = DIED(7)},
    {"an abort",                    IN_CALL, TOLD,   .target = "*", .what = "abort", .says = DIED(6)},
    {"an illegal instruction",      IN_CALL, TOLD,   .target = "*", .what = "ill", .says = DIED(4)},
    {"an arithmetic trap",          IN_CALL, TOLD,   .target = "*", .what = "fpe", .says = DIED(8)},
    {"SIGKILL inside a call",       IN_CALL, TOLD,   .target = "*", .what = "kill", .says = DIED(9)},
    {"SIGTERM inside a call",       IN_CALL, TOLD,   .target = "*", .what = "term", .says = DIED(15)},
    {"an exit with status 0",       IN_CALL, TOLD,   .target = "*", .what = "exit0", .says = "ended with status 0"},
    {"an exit with a last word",    IN_CALL, TOLD,   .target = "*", .what = "exit3", .says = "status 3: the driver gave up"},
    {"a child left behind",         IN_CALL, TOLD,   .target = "*", .what = "orphan", .says = DIED(9)},
    {"a hang in a launch or a wait", IN_CALL, TOLD,  .patience = SHORT, .target = "cuLaunchKernel|cuStreamSynchronize|cuGraphLaunch", .what = "hang", .says = SILENT},
    {"a hang in an allocation",     IN_CALL, TOLD,   .patience = SHORT, .weight = 4, .target = "cuMemAlloc_v2|cuMemcpyHtoD_v2|cuMemcpyDtoH_v2", .what = "hang", .says = SILENT},
    {"a hang anywhere",             IN_CALL, TOLD,   .patience = SHORT, .weight = 6, .target = "*", .what = "hang", .says = SILENT},
    {"an endless loop",             IN_CALL, TOLD,   .patience = SHORT, .weight = 1, .target = "*", .what = "spin", .says = SILENT},
    {"SIGSTOP inside a call",       IN_CALL, TOLD,   .patience = SHORT, .weight = 4, .target = "*", .what = "stop", .says = SILENT},
    {"a call that takes its time",  IN_CALL, NONE,   .target = "*", .what = "late"},
    /* output */
    {"a flood on standard output",  IN_CALL, NONE,   .target = "*", .what = "flood"},
    {"a flood on standard error",   IN_CALL, NONE,   .target = "*", .what = "flooderr"},
    {"escapes and broken UTF-8",    IN_CALL, NONE,   .target = "*", .what = "escape"},
    /* the driver writes into the connection */
    {"noise in the connection",     IN_CALL, TOLD,   .target = "*", .what = "noise", .says = NONSENSE},
    {"a frame again",               IN_CALL, TOLD,   .target = "*", .what = "replay", .says = NONSENSE},
    {"another protocol version",    IN_CALL, TOLD,   .target = "*", .what = "version", .says = "version 9"},
    {"an unknown frame",            IN_CALL, TOLD,   .target = "*", .what = "type", .says = NONSENSE},
    {"a frame of 4 GB",             IN_CALL, TOLD,   .target = "*", .what = "huge", .says = NONSENSE},
    {"a wrong checksum",            IN_CALL, TOLD,   .target = "*", .what = "checksum", .says = NONSENSE},
    {"half a frame, then silence",  IN_CALL, TOLD,   .patience = SHORT, .weight = 4, .target = "*", .what = "half", .says = SILENT},
    {"half a frame, then the end",  IN_CALL, TOLD,   .target = "*", .what = "halfexit", .says = "ended with status 0"},
    {"the connection is shut",      IN_CALL, TOLD,   .target = "*", .what = "hangup"},
    {"the connection is closed",    IN_CALL, TOLD,   .target = "*", .what = "close"},
    /* what the system gives */
    {"no descriptors are left",     IN_CALL, EITHER, .target = "*", .what = "nofile"},
    {"the disk is full",            IN_CALL, EITHER, .target = "*", .what = "disk"},
    {"a full disk for the cache",   IN_CALL, NONE,   .target = "nvrtcGetCUBIN", .what = "disk", .cold = true},
    {"no memory is left",           IN_CALL, EITHER, .target = "*", .what = "nomem"},
    {"the folder changes",          IN_CALL, NONE,   .target = "*", .what = "chdir"},
    /* NVML */
    {"NVML fails",                  IN_CALL, NONE,   .target = NVML, .what = "1|3|15|999"},
    {"NVML says nothing",           IN_CALL, NONE,   .target = NVML, .what = "skip"},
    {"NVML lies about the clock",   IN_CALL, NONE,   .target = "nvmlDeviceGetClockInfo", .what = "is0|is4294967295|is7"},
    {"NVML crashes",                IN_CALL, TOLD,   .target = NVML, .what = "segv", .says = DIED(11)},
    {"NVML hangs",                  IN_CALL, TOLD,   .patience = SHORT, .weight = 2, .target = NVML, .what = "hang", .says = SILENT},
    /* the compiler */
    {"the compiler refuses",        IN_CALL, TOLD,   .target = "nvrtcCompileProgram", .what = "6", .says = "does not compile", .cold = true},
    {"the compiler fails",          IN_CALL, TOLD,   .target = "nvrtcCreateProgram", .what = "1|3|11", .cold = true},
    {"the compiler crashes",        IN_CALL, TOLD,   .target = COMPILE_ENTRIES, .what = "segv|abort|bus", .says = "the compiler died", .cold = true},
    {"the compiler is killed",      IN_CALL, TOLD,   .target = COMPILE_ENTRIES, .what = "kill|term", .says = "the compiler died", .cold = true},
    {"the compiler ends",           IN_CALL, TOLD,   .target = COMPILE_ENTRIES, .what = "exit0|exit3", .says = "no answer", .cold = true},
    {"the compiler hangs",          IN_CALL, TOLD,   .patience = COMPILE, .weight = 2, .target = "nvrtcCompileProgram", .what = "hang|stop", .says = "no answer for", .cold = true},
    {"a compile bomb of time",      IN_CALL, TOLD,   .patience = COMPILE, .weight = 1, .target = "nvrtcCompileProgram", .what = "spin", .says = "and was stopped", .cold = true},
    {"a compile bomb of memory",    IN_CALL, TOLD,   .target = "nvrtcCompileProgram", .what = "eat", .says = "the compiler", .cold = true},
    {"a compile bomb of code",      IN_CALL, TOLD,   .target = "nvrtcGetCUBINSize", .what = "is0|is1e9|is1e15", .cold = true},
    {"a compile bomb of messages",  IN_CALL, EITHER, .target = "nvrtcGetProgramLogSize", .what = "is1e8|is1e15", .cold = true},
    {"no code after a compile",     IN_CALL, TOLD,   .target = "nvrtcGetCUBIN", .what = "skip|1", .cold = true},
    {"the compiler writes to us",   IN_CALL, TOLD,   .target = COMPILE_ENTRIES, .what = "noise|replay|huge|half|halfexit", .patience = COMPILE, .weight = 2, .cold = true},
    {"the compiler hangs up",       IN_CALL, TOLD,   .target = COMPILE_ENTRIES, .what = "hangup|close", .cold = true},
    {"the compiler is talkative",   IN_CALL, NONE,   .target = COMPILE_ENTRIES, .what = "flood|flooderr|escape", .cold = true},
    {"no version of the compiler",  IN_CALL, EITHER, .target = "nvrtcVersion", .what = "1|skip|segv|exit0", .cold = true},
    /* frames, both workers */
    {"a bit of a frame is wrong",   IN_FRAME, TOLD,   .patience = SHORT, .target = "launch|judge", .what = "flip", .weight = 16},
    {"a frame is missing",          IN_FRAME, TOLD,   .patience = SHORT, .weight = 4, .target = "launch|judge", .what = "drop"},
    {"a frame comes twice",         IN_FRAME, EITHER, .target = "launch|judge", .what = "twice"},
    {"a frame is cut by the end",   IN_FRAME, EITHER, .target = "launch|judge", .what = "cutexit"},
    {"a frame is cut by silence",   IN_FRAME, TOLD,   .patience = SHORT, .weight = 4, .target = "launch|judge", .what = "cuthang"},
    {"death behind a frame",        IN_FRAME, EITHER, .target = "launch|judge", .what = "kill"},
    {"a frame byte by byte",        IN_FRAME, NONE,   .target = "launch|judge", .what = "drip"},
    {"a frame of another version",  IN_FRAME, TOLD,   .target = "launch|judge", .what = "version", .says = "version"},
    /* signals */
    {"the launch worker is killed", IN_SIGNAL, EITHER, .target = "launch", .what = "9", .weight = 24},
    {"the judge is killed",         IN_SIGNAL, EITHER, .target = "judge", .what = "9", .weight = 24},
    {"a worker is terminated",      IN_SIGNAL, EITHER, .target = "launch|judge", .what = "15|6|2|1"},
    {"the launch worker is stopped", IN_SIGNAL, EITHER, .patience = SHORT, .weight = 4, .target = "launch", .what = "19"},
    {"the judge is stopped",        IN_SIGNAL, EITHER, .patience = SHORT, .weight = 4, .target = "judge", .what = "19"},
    {"a worker is told to go on",   IN_SIGNAL, NONE,   .target = "launch|judge", .what = "18|23|28"},
    /* the cache */
    {"a damaged cache entry",       IN_CACHE, NONE, .what = "flip|cut|empty|garbage", .weight = 12},
    {"a cache entry of another",    IN_CACHE, NONE, .what = "swap|mode"},
    {"no file in the cache",        IN_CACHE, NONE, .what = "link|folder|fifo"},
    {"a cache that others may write", IN_CACHE, NONE, .what = "foldermode"},
    {"a cache that is no folder",   IN_CACHE, NONE, .what = "file"},
    /* the environment */
    {"no driver",                   IN_SYSTEM, TOLD, .target = "ATTNSCOPE_LIBCUDA", .what = "/nonexistent|/dev/null|/etc/passwd", .says = "no NVIDIA driver"},
    {"no compiler",                 IN_SYSTEM, TOLD, .target = "ATTNSCOPE_LIBNVRTC", .what = "/nonexistent|/etc/passwd", .says = "not found", .cold = true},
    {"a throttled clock",           IN_SYSTEM, NONE, .target = "FAKECUDA", .what = "throttle=2|throttle=3|mhz=300"},
};
// clang-format on
const int nkinds = sizeof kinds / sizeof *kinds;

const char *const task_names[TASKS] = {"check", "run hot", "run cold", "compare"};

/* What is only tidied up, often after the job's end. */
bool is_tidying(const char *entry)
{
    static const char *const names[] = {"cuMemFree_v2",
                                        "cuModuleUnload",
                                        "cuStreamDestroy_v2",
                                        "cuMemFreeHost",
                                        "cuEventDestroy_v2",
                                        "cuGraphDestroy",
                                        "cuGraphExecDestroy",
                                        "cuDevicePrimaryCtxRelease",
                                        NULL};
    for (const char *const *n = names; *n; n++)
        if (strcmp(*n, entry) == 0)
            return true;
    return false;
}

/* That, and what we ask for but can do without. */
bool is_lenient(const char *entry)
{
    static const char *const names[] = {
        "cuMemHostAlloc",       "cuStreamWaitValue32_v2",
        "cuDeviceGetPCIBusId",  "cuStreamBeginCapture_v2",
        "cuStreamEndCapture",   "cuGraphInstantiateWithFlags",
        "cuDeviceGetAttribute", "cuMemsetD32Async",
        "cuModuleLoadData",     NULL,
    };
    for (const char *const *n = names; *n; n++)
        if (strcmp(*n, entry) == 0)
            return true;
    return is_tidying(entry) || str_starts(entry, "nvml") || str_starts(entry, "nvrtc") ||
           strcmp(entry, "compute") == 0;
}

/* ---- drawing ---- */

/* SplitMix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int below(uint64_t *state, int n)
{
    return (int)(next(state) % (uint64_t)n);
}

/* One of the words between "|". The caller frees it. */
static char *draw_word(uint64_t *state, const char *words)
{
    int n = 1;
    for (const char *p = words; *p; p++)
        n += *p == '|';
    const char *at = words;
    for (int i = below(state, n); i > 0; i--)
        at = strchr(at, '|') + 1;
    return xstrndup(at, strcspn(at, "|"));
}

static int weight(const struct kind *k)
{
    return k->weight ? k->weight : 8;
}

/* Every kind comes round, as often as its weight says; neighbours differ. */
static const struct kind *draw_kind(int number)
{
    enum { STEP = 619 }; /* a prime that does not divide the sum of weights */
    int sum = 0;
    for (int i = 0; i < nkinds; i++)
        sum += weight(&kinds[i]);
    int at = (int)((long)number * STEP % sum), i = 0;
    while (at >= weight(&kinds[i]))
        at -= weight(&kinds[i++]);
    return &kinds[i];
}

static int count_of(const struct tally *t, const char *entry)
{
    for (size_t i = 0; i < sizeof t->calls / sizeof *t->calls && t->calls[i].name[0]; i++)
        if (strcmp(t->calls[i].name, entry) == 0)
            return t->calls[i].count;
    return 0;
}

/* Any entry point that a good job of this kind calls. The compiler's run elsewhere. */
static const char *draw_entry(uint64_t *state, const struct tally *t, bool lenient_too,
                              bool tidying_too)
{
    const char *names[96];
    int n = 0;
    for (size_t i = 0; i < 96 && t->calls[i].name[0]; i++) {
        const char *name = t->calls[i].name;
        if (t->calls[i].count && !str_starts(name, "nvrtc") && strcmp(name, "compute") != 0 &&
            (lenient_too ? tidying_too || !is_tidying(name) : !is_lenient(name)))
            names[n++] = name;
    }
    return names[below(state, n)];
}

static void draw_call(struct injection *in, uint64_t *state, const struct tally *tallies)
{
    const struct kind *k = in->kind;
    const struct tally *t = &tallies[in->task];
    const bool any = k->target && strcmp(k->target, "*") == 0;
    if (k->target && strcmp(k->target, "compute") == 0) { /* only the first run is looked at */
        in->task = CHECK;
        t = &tallies[CHECK];
    }
    char *entry =
        any || !k->target ? xstrdup(draw_entry(state, t, any, k->outcome == EITHER)) : NULL;
    for (int tries = 0; !entry || (!count_of(t, entry) && tries < 100); tries++) {
        free(entry);
        entry = draw_word(state, k->target);
    }
    if (!count_of(t, entry)) { /* only timed jobs call it */
        in->task = HOT;
        t = &tallies[HOT];
    }
    if (strcmp(entry, "cuMemsetD16Async") == 0) /* which poisons outputs of two bytes */
        in->dtype = DTYPE_F16;
    char *what = draw_word(state, k->what);
    /* Of a timed job the first quarter of its calls: the later ones are the same again, and a machine
     * that is busy takes fewer samples. */
    const int all = count_of(t, entry), early = in->task == CHECK ? all : (all + 3) / 4;
    const int most = str_starts(entry, "nvrtc") ? 1 : early;
    const int call = 1 + below(state, most ? most : 1);
    in->script = xasprintf("%s:%d=%s", entry, call, what);
    free(entry);
    free(what);
}

static void draw_rest(struct injection *in, uint64_t *state)
{
    enum { FRAMES_LAUNCH = 12, FRAMES_JUDGE = 4, MOMENTS = 10 };
    const struct kind *k = in->kind;
    char *what = draw_word(state, k->what);
    char *target = k->target ? draw_word(state, k->target) : xstrdup("");
    const int frames = strcmp(target, "judge") == 0 ? FRAMES_JUDGE : FRAMES_LAUNCH;
    in->after = below(state, MOMENTS);
    in->signal = k->place == IN_SIGNAL ? atoi(what) : 0;
    if (k->place == IN_FRAME)
        in->script = xasprintf("role=%s,frame=%d,how=%s,bit=%d", target, below(state, frames), what,
                               below(state, 300));
    else if (k->place == IN_SIGNAL)
        in->script = xstrdup(target);
    else if (k->place == IN_SYSTEM && strcmp(target, "FAKECUDA") != 0)
        in->script = xasprintf("%s=%s", target, what);
    else
        in->script = xstrdup(what);
    free(target);
    free(what);
}

void injection_draw(struct injection *in, uint64_t seed, int number, const struct tally *tallies)
{
    static const char *const names[] = {"naive", "row_online", "fa2", "splitkv", "qtile_tpq"};
    enum { NAMES = sizeof names / sizeof *names };
    uint64_t state = seed * 1000003 + (uint64_t)number;
    *in = (struct injection){.number = number, .kind = draw_kind(number)};
    in->task = (enum task)below(&state, TASKS);
    in->dtype = (enum dtype)below(&state, DTYPE_COUNT);
    const int first = below(&state, NAMES), step = 1 + below(&state, 2);
    for (int i = 0; i < 3; i++)
        in->kernels[i] = names[(first + i * step) % NAMES];
    if (in->kind->place == IN_CALL)
        draw_call(in, &state, tallies);
    else
        draw_rest(in, &state);
    in->random = next(&state);
    in->where = xasprintf("%s %s %s,%s,%s %s%s%d", task_names[in->task], dtype_name(in->dtype),
                          in->kernels[0], in->kernels[1], in->kernels[2], in->script,
                          in->signal ? " signal " : " ", in->signal ? in->signal : number);
}

void injection_clear(struct injection *in)
{
    free(in->script);
    free(in->where);
    *in = (struct injection){0};
}

/* ---- the cache ---- */

static void write_text(const char *path, const char *text, size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, len) != (ssize_t)len)
        fatal("cannot write %s", path);
    close(fd);
}

static void flip_byte(const char *path, uint64_t random)
{
    char *data;
    size_t len;
    if (str_read_file(path, 1 << 20, &data, &len, NULL) != ST_OK || !len)
        fatal("cannot read %s", path);
    data[random % len] ^= (char)(1 << random / 7 % 8);
    write_text(path, data, len);
    free(data);
}

/* A link to a file beside the cache, which whoever follows it overwrites: never to one of the machine's, as tests may run as root. */
static const char victim_text[] = "not yours\n";

static int plant_link(const char *folder, const char *path)
{
    char *victim = xasprintf("%s/victim", folder);
    if (access(victim, F_OK) != 0)
        write_text(victim, victim_text, sizeof victim_text - 1);
    const int rc = symlink(victim, path);
    free(victim);
    return rc;
}

bool victim_is_whole(const char *folder)
{
    char *victim = xasprintf("%s/victim", folder), *text = NULL;
    size_t len = 0;
    const bool none = access(victim, F_OK) != 0,
               whole = none || (str_read_file(victim, 1 << 20, &text, &len, NULL) == ST_OK &&
                                len == sizeof victim_text - 1 && !memcmp(text, victim_text, len));
    free(text);
    free(victim);
    return whole;
}

static void break_file(const char *folder, const char *path, const char *other, const char *how,
                       uint64_t random)
{
    struct stat st;
    if (stat(path, &st) != 0)
        fatal("no %s", path);
    const off_t cut = st.st_size ? (off_t)(random % (uint64_t)st.st_size) : 0;
    int rc = 0;
    if (strcmp(how, "flip") == 0)
        flip_byte(path, random);
    else if (strcmp(how, "cut") == 0)
        rc = truncate(path, cut);
    else if (strcmp(how, "empty") == 0)
        rc = truncate(path, 0);
    else if (strcmp(how, "garbage") == 0)
        write_text(path,
                   "\x7f"
                   "ELF\2\1\1 this is no cubin",
                   25);
    else if (strcmp(how, "mode") == 0)
        rc = chmod(path, 0666);
    else if (strcmp(how, "swap") == 0)
        rc = rename(other, path);
    else if ((rc = unlink(path)) != 0)
        ;
    else if (strcmp(how, "link") == 0)
        rc = plant_link(folder, path);
    else if (strcmp(how, "fifo") == 0)
        rc = mkfifo(path, 0600);
    else
        rc = mkdir(path, 0700);
    if (rc != 0)
        fatal("cannot break %s", path);
}

void break_cache(const char *folder, const char *how, uint64_t random)
{
    char *cubin = xasprintf("%s/attnscope/cubin", folder), *last = NULL;
    if (strcmp(how, "foldermode") == 0 && chmod(cubin, 0777) != 0)
        fatal("cannot change %s", cubin);
    DIR *d = opendir(cubin);
    for (const struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || strcmp(how, "foldermode") == 0)
            continue;
        char *path = xasprintf("%s/%s", cubin, e->d_name);
        if (strcmp(how, "file") == 0)
            unlink(path);
        else if (last || strcmp(how, "swap") != 0)
            break_file(folder, path, last, how, random);
        free(last);
        last = path;
    }
    closedir(d);
    free(last);
    if (strcmp(how, "file") == 0) {
        rmdir(cubin);
        write_text(cubin, "x", 1);
    }
    free(cubin);
}
