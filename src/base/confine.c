/* confine.c - see confine.h.
 *
 * The numbers are those of the kernel's interface; headers of today's distributions know only its
 * first versions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/confine.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

enum { SYS_CREATE = 444, SYS_ADD = 445, SYS_RESTRICT = 446 }; /* the same on every architecture */
enum { GET_VERSION = 1, PATH_BENEATH = 1 };

/* Rights on files and folders, bits of `fs`. */
enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_AND_MAKE = 0x1ff << 4, /* remove and make folders, files, links, devices, sockets */
    FS_REFER = 1 << 13,              /* since version 2 */
    FS_TRUNCATE = 1 << 14,           /* 3 */
    FS_IOCTL_DEVICE = 1 << 15,       /* 5 */
};
enum { NET_TCP = 3 /* bind and connect; 4 */, SCOPE_ALL = 3 /* abstract sockets, signals; 6 */ };

struct ruleset {
    uint64_t fs, net, scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

int confine_abi(void)
{
    const long abi = syscall(SYS_CREATE, NULL, 0, GET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

static uint64_t known_rights(int abi)
{
    uint64_t fs = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_READ_DIR | FS_REMOVE_AND_MAKE;
    fs |= abi >= 2 ? FS_REFER : 0;
    fs |= abi >= 3 ? FS_TRUNCATE : 0;
    fs |= abi >= 5 ? FS_IOCTL_DEVICE : 0;
    return fs;
}

int confine_new(void)
{
    const int abi = confine_abi();
    const struct ruleset r = {
        .fs = known_rights(abi), .net = NET_TCP, .scoped = abi >= 6 ? SCOPE_ALL : 0};
    const size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    return abi ? (int)syscall(SYS_CREATE, &r, size, 0) : -1;
}

void confine_allow(int rules, const char *path, enum confine_access access)
{
    const uint64_t files = FS_EXECUTE | FS_READ_FILE, read = files | FS_READ_DIR;
    const int fd = rules < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return;
    struct path_rule rule = {
        .allowed = access == CONFINE_WRITE ? known_rights(confine_abi()) : read, .fd = fd};
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) /* other rights are refused for a file */
        rule.allowed &= files | FS_WRITE_FILE | (confine_abi() >= 3 ? FS_TRUNCATE : 0);
    syscall(SYS_ADD, rules, PATH_BENEATH, &rule, 0);
    close(fd);
}

/* Does `path` lie below `folder`, or is it that? Both real. */
static bool is_below(const char *path, const char *folder)
{
    const size_t len = strlen(folder);
    return strncmp(path, folder, len) == 0 && (!path[len] || path[len] == '/' || len == 1);
}

/* Where nobody keeps headers, and others keep secrets. */
static bool is_of_system(const char *folder)
{
    static const char *const folders[] = {"/etc", "/proc", "/sys", "/run", "/dev", "/boot"};
    bool found = strcmp(folder, "/") == 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        found = found || is_below(folder, folders[i]);
    return found;
}

/* A hidden folder of the home: keys, tokens, profiles. What Python's packages and this program lay there are
 * headers and kernels. */
static bool is_hidden(const char *folder, const char *home)
{
    if (!home || !is_below(folder, home) || !strstr(folder + strlen(home), "/."))
        return false;
    return !strstr(folder, "/site-packages/") && !strstr(folder, "/attnscope/") &&
           strcmp(strrchr(folder, '/'), "/include") != 0;
}

static bool is_source(const char *name)
{
    static const char *const endings[] = {".h",   ".hpp", ".hh",  ".cuh", ".cu", ".c",
                                          ".cpp", ".cc",  ".inc", ".inl", ".ipp"};
    const char *dot = *name == '.' ? NULL : strrchr(name, '.');
    bool found = false;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        found = found || strcmp(dot, endings[i]) == 0;
    return found;
}

/* The plain files among what lies there that a source could want. */
static void allow_source_files(int rules, const char *folder)
{
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        char *path = is_source(e->d_name) ? xasprintf("%s/%s", folder, e->d_name) : NULL;
        if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
            confine_allow(rules, path, CONFINE_READ);
        free(path);
    }
    if (d)
        closedir(d);
}

void confine_allow_sources(int rules, const char *folder)
{
    char real[PATH_MAX], home[PATH_MAX];
    const char *named = getenv("HOME");
    if (rules < 0 || !realpath(folder, real))
        return;
    const bool known = named && *named == '/' && realpath(named, home) && strcmp(home, "/") != 0;
    if (is_of_system(real) || is_hidden(real, known ? home : NULL))
        return;
    if (known && is_below(home, real))
        allow_source_files(rules, real);
    else
        confine_allow(rules, real, CONFINE_READ);
}

bool confine_enter(int rules)
{
    if (!confine_abi())
        return true;
    return rules >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_RESTRICT, rules, 0) == 0;
}
