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

static const struct tap_test tests[] = {
    {"programs are found in PATH", test_programs},
    {"folders follow the XDG variables", test_folders},
    {"parents are made private", test_make_parent},
};

TAP_MAIN("path", tests)
