/* XDG folders.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

static void path_is(enum path_kind kind, const char *want)
{
    char *got = path_in(kind, "file");
    CU_ASSERT_STRING_EQUAL(got ? got : "(none)", want ? want : "(none)");
    free(got);
}

static void test_folders(void)
{
    setenv("HOME", "/home/ada", 1);
    setenv("XDG_CONFIG_HOME", "/etc/ada", 1);
    setenv("XDG_DATA_HOME", "relative", 1); /* ignored, as the specification asks */
    setenv("XDG_STATE_HOME", "", 1);
    unsetenv("XDG_CACHE_HOME");
    path_is(PATH_CONFIG, "/etc/ada/attnscope/file");
    path_is(PATH_DATA, "/home/ada/.local/share/attnscope/file");
    path_is(PATH_STATE, "/home/ada/.local/state/attnscope/file");
    path_is(PATH_CACHE, "/home/ada/.cache/attnscope/file");
    unsetenv("HOME");
    path_is(PATH_CONFIG, "/etc/ada/attnscope/file");
    path_is(PATH_CACHE, NULL);
    setenv("HOME", "not/absolute", 1);
    path_is(PATH_CACHE, NULL);
}

static enum status may_write(const char *path, const char *says)
{
    struct err err = ERR_INIT;
    const enum status st = path_may_write(path, &err);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, says));
    return st;
}

/* Of rights, which root has all of, tests/cli/home.sh speaks. */
static void test_may_write(void)
{
    char base[] = "/tmp/test_path.XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(base));
    char *file = xasprintf("%s/file", base), *below = xasprintf("%s/file/x/y", base),
         *deep = xasprintf("%s/a/b/c", base);
    CU_ASSERT_EQUAL(may_write(deep, ""), ST_OK);
    CU_ASSERT_NOT_EQUAL(access(deep, F_OK), 0);
    CU_ASSERT_EQUAL(may_write(file, ""), ST_OK);
    fclose(fopen(file, "w"));
    CU_ASSERT_EQUAL(may_write(file, ""), ST_OK);
    CU_ASSERT_EQUAL(may_write(below, "a file is in the place"), ST_FAIL);
    unlink(file);
    rmdir(base);
    free(file);
    free(below);
    free(deep);
}

static void test_no_home(void)
{
    struct err err = ERR_INIT;
    char *path = NULL;
    unsetenv("HOME");
    unsetenv("XDG_DATA_HOME");
    CU_ASSERT_EQUAL(path_for(PATH_DATA, "x", "results", &path, &err), ST_FAIL);
    CU_ASSERT_PTR_NULL(path);
    CU_ASSERT_STRING_EQUAL(err.text,
                           "no folder for results: neither HOME nor XDG_DATA_HOME is a full path");
}

static void test_make_parent(void)
{
    char base[] = "/tmp/test_path.XXXXXX";
    struct stat st;
    struct err err = ERR_INIT;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(base));
    char *file = xasprintf("%s/a/b//c/file", base), *c = xasprintf("%s/a/b/c", base);
    CU_ASSERT_EQUAL(path_make_parent(file, &err), ST_OK);
    CU_ASSERT_EQUAL(stat(c, &st), 0);
    CU_ASSERT(S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700);
    CU_ASSERT_NOT_EQUAL(stat(file, &st), 0);
    CU_ASSERT_EQUAL(path_make_parent(file, &err), ST_OK); /* again is fine */

    fclose(fopen(file, "w"));
    char *below = xasprintf("%s/x/y", file);
    CU_ASSERT_EQUAL(path_make_parent(below, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a file is in its place"));
    CU_ASSERT_EQUAL(path_make_parent("/proc/nowhere/x", &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/proc/nowhere"));
    CU_ASSERT_EQUAL(path_make_parent("no_folder", &err), ST_OK);

    remove(file);
    char *folders[] = {c, xasprintf("%s/a/b", base), xasprintf("%s/a", base), xstrdup(base)};
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(rmdir(folders[i]), 0);
        free(folders[i]);
    }
    free(file);
    free(below);
}

static void test_programs(void)
{
    char *before = xstrdup(getenv("PATH"));
    setenv("PATH", "/nonexistent::/bin:/usr/bin", 1);
    char *sh = path_program("sh");
    CU_ASSERT_PTR_NOT_NULL_FATAL(sh);
    CU_ASSERT_STRING_EQUAL(sh, "/bin/sh");
    CU_ASSERT_PTR_NULL(path_program("no-such-program"));
    CU_ASSERT_PTR_NULL(path_program("/etc/passwd"));
    char *itself = path_program("/bin/sh");
    CU_ASSERT_STRING_EQUAL(itself, "/bin/sh");
    setenv("PATH", before, 1);
    free(itself);
    free(sh);
    free(before);
}

static void moved_is(const char *self, const char *own, const char *file, const char *want)
{
    char *got = path_moved(self, own, file);
    CU_ASSERT_STRING_EQUAL(got ? got : "(none)", want);
    free(got);
}

static void test_moved(void)
{
    const char *bin = "/usr/local/bin", *libexec = "/usr/local/libexec/a";
    moved_is("/usr/local/bin/a", bin, "/usr/local/libexec/a/w", "/usr/local/libexec/a/w");
    moved_is("/opt/my tree/bin/a", bin, "/usr/local/libexec/a/w", "/opt/my tree/libexec/a/w");
    moved_is("/bin/a", bin, "/usr/local/libexec/a/w", "/libexec/a/w");
    moved_is("/t/libexec/a/w", libexec, "/usr/local/share/a/cuda", "/t/share/a/cuda");
    moved_is("/t/w", "/x", "/x/built", "/t/built"); /* beside it, whatever the folder is called */
    moved_is("/t/bin/a", "/opt/a/bin", "/usr/share/a",
             "(none)"); /* nothing in common but the root: no tree */
    moved_is("/opt/a/bin/a", "/opt/a/bin", "/usr/share/a", "/usr/share/a");
    moved_is("/t/sbin/a", bin, "/usr/local/libexec/a/w", "(none)");
    moved_is("/usr/bin/a", "/usr/bin", "/usr/binary/w",
             "/usr/binary/w"); /* a common letter is no folder */
    moved_is("a", bin, "/usr/local/libexec/a/w", "(none)");
    char *installed = path_installed("/x", "/x/beside");
    CU_ASSERT_PTR_NOT_NULL_FATAL(installed);
    CU_ASSERT_STRING_EQUAL(strrchr(installed, '/'), "/beside");
    *strrchr(installed, '/') = '\0';
    CU_ASSERT_EQUAL(access(installed, X_OK), 0);
    free(installed);
}

static const struct tap_test tests[] = {
    {"a tree that was moved keeps its inner places", test_moved},
    {"programs are found in PATH", test_programs},
    {"folders follow the XDG variables", test_folders},
    {"parents are made private", test_make_parent},
    {"what is in the way of a file", test_may_write},
    {"no home is said with the variables", test_no_home},
};

TAP_MAIN("path", tests)
