/* compile_confine.c - what a compiler may read: itself, the system's libraries and headers, and the
 * folders that it was told to include from. A source that includes anything else, a key or a
 * password, does not compile; without this, the compiler would print the file's lines as errors.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/compile/compile_wire.h"
#include "base/confine.h"
#include "base/mem.h"
#include "base/sanitized.h"
#include "base/str.h"

const bool compile_sanitized = SANITIZED;

static void allow_system(int rules)
{
    static const char *const leak_check[] = {"/proc/self/maps", "/proc/self/task",
                                             "/proc/self/cmdline", "/proc/self/status"};
    static const char *const readable[] = {
        "/usr",
        "/lib",
        "/lib64",
        "/bin",
        "/opt/cuda",
        "/nix/store",
        "/etc/ld.so.cache",
        "/etc/alternatives",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/sys/devices/system/cpu",
        "/dev/urandom",
        NULL,
    };
    for (const char *const *path = readable; *path; path++)
        confine_allow(rules, *path, CONFINE_READ);
    confine_allow(rules, "/dev/null", CONFINE_WRITE);
    if (compile_sanitized)
        for (size_t i = 0; i < sizeof leak_check / sizeof *leak_check; i++)
            confine_allow(rules, leak_check[i], CONFINE_READ);
}

/* The folders in "-Ifolder", "-isystem=folder", "--include-path=folder". */
static void allow_included(int rules, const char *const *options)
{
    static const char *const words[] = {"-I", "--include-path=", "-include-path=", "-isystem="};
    for (; options && *options; options++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (str_starts(*options, words[i]))
                confine_allow_sources(rules, *options + strlen(words[i]));
}

/* The toolkit that a program or library belongs to: itself, and the folder above its own. */
static void allow_toolkit(int rules, const char *file)
{
    static const char *const parts[] = {"bin",  "lib",     "lib64",  "libexec",
                                        "nvvm", "targets", "include"};
    char path[PATH_MAX];
    if (!file || !realpath(file, path))
        return;
    confine_allow(rules, path, CONFINE_READ);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash && slash != path)
            *slash = '\0';
    }
    confine_allow_sources(rules, path);
    for (size_t i = 0; i < sizeof parts / sizeof *parts;
         i++) { /* it may be installed in a hidden folder */
        char *part = xasprintf("%s/%s", path, parts[i]);
        confine_allow(rules, part, CONFINE_READ);
        free(part);
    }
}

bool compile_confine(const char *compiler, const char *const *options, const char *folder)
{
    const int rules = confine_new();
    allow_system(rules);
    allow_toolkit(rules, compiler);
    allow_included(rules, options);
    if (folder)
        confine_allow(rules, folder, CONFINE_WRITE);
    const bool done = confine_enter(rules);
    if (rules >= 0)
        close(rules);
    return done;
}
