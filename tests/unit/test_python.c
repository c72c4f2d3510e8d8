/* test_python.c - the child that runs Python: what it is asked and answers, how it may fail, and that
 * nothing of it is left.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/peer/python.h"
#include "base/mem.h"
#include "base/path.h"

static char folder[] = "/tmp/attnscope-python-XXXXXX";

static const char module[] = "def copies(q, k, v, scale, causal, out=None):\n"
                             "    out.data[:] = q.data\n"
                             "    return out\n"
                             "def raises(q, k, v, scale, causal, out=None):\n"
                             "    raise KeyError('x')\n"
                             "def leaves(q, k, v, scale, causal, out=None):\n"
                             "    import os\n"
                             "    os._exit(4)\n";

static char *write_file(const char *name, const char *text, mode_t mode)
{
    char *path = xasprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f)
        exit(99);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
    return path;
}

static enum status copy_ramp(void *ctx, void *q, void *k, void *v, struct err *err)
{
    const int n = *(const int *)ctx;
    (void)err;
    for (int i = 0; i < n; i++)
        ((float *)q)[i] = ((float *)k)[i] = ((float *)v)[i] = (float)i;
    return ST_OK;
}

enum { ELEMENTS = 2 * 3 * 4 };
static int elements = ELEMENTS;

static struct python_problem problem(void)
{
    struct shape s = SHAPE_DEFAULT;
    s.H = s.Hkv = 2;
    s.Sq = s.Sk = 3;
    s.D = 4;
    s.dtype = DTYPE_F32;
    return (struct python_problem){
        .shape = s, .device = -1, .threads = 1, .copy = copy_ramp, .ctx = &elements};
}

static bool is_output_right(const struct python_slot *s)
{
    const unsigned char *o = python_output(s), *tensor = o + OUTPUT_GUARD_BYTES;
    bool right = true;
    for (int i = 0; i < OUTPUT_GUARD_BYTES; i++)
        right = right && o[i] == output_guard_byte &&
                tensor[ELEMENTS * sizeof(float) + (size_t)i] == output_guard_byte;
    for (int i = 0; i < ELEMENTS; i++) {
        float x;
        memcpy(&x, tensor + (size_t)i * sizeof x, sizeof x);
        right = right && x == (float)i;
    }
    return right;
}

static bool no_child_left(void)
{
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
}

static void test_runs(void)
{
    struct pythons *p = pythons_new();
    const struct python_problem q = problem();
    struct python_slot *s = NULL;
    struct err err = ERR_INIT;
    double seconds = 0;
    CU_ASSERT_EQUAL_FATAL(python_load(p, &q, "py:callables.copies", &s, &err), ST_OK);
    CU_ASSERT_EQUAL(python_run(s, &err), ST_OK);
    CU_ASSERT_TRUE(is_output_right(s));
    CU_ASSERT_EQUAL(python_sample(s, 3, true, true, &seconds, &err), ST_OK);
    CU_ASSERT_TRUE(seconds > 0 && seconds < 10);
    json_t *row = python_describe(s);
    CU_ASSERT_PTR_NOT_NULL(strstr(json_string_value(json_object_get(row, "peer_version")), "pyth"));
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "launch")), "direct");
    json_decref(row);
    pythons_drop(p); /* another problem: the child stays, the slots go */
    CU_ASSERT_EQUAL_FATAL(python_load(p, &q, "py:callables.copies", &s, &err), ST_OK);
    CU_ASSERT_EQUAL(python_run(s, &err), ST_OK);
    python_unload(s);
    pythons_free(p);
    CU_ASSERT_TRUE(no_child_left());
}

/* One callable's end is its own, and it may come back. */
static void test_faults(void)
{
    struct pythons *p = pythons_new();
    const struct python_problem q = problem();
    struct python_slot *good = NULL, *bad = NULL;
    struct err err = ERR_INIT;
    double seconds;
    CU_ASSERT_EQUAL_FATAL(python_load(p, &q, "py:callables.copies", &good, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(python_load(p, &q, "py:callables.leaves", &bad, &err), ST_OK);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(python_run(bad, &err), ST_FAIL);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "ended with status 4"));
        CU_ASSERT_EQUAL(python_sample(bad, 1, false, false, &seconds, &err), ST_FAIL);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did not run"));
        python_unload(bad);
        CU_ASSERT_EQUAL_FATAL(python_load(p, &q, "py:callables.leaves", &bad, &err), ST_OK);
    }
    struct python_slot *raising = NULL;
    CU_ASSERT_EQUAL_FATAL(python_load(p, &q, "py:callables.raises", &raising, &err), ST_OK);
    CU_ASSERT_EQUAL(python_run(raising, &err), ST_NO);
    CU_ASSERT_STRING_EQUAL(err.text, "py:callables.raises: KeyError: 'x'");
    CU_ASSERT_EQUAL(python_run(good, &err), ST_OK);
    CU_ASSERT_TRUE(is_output_right(good));
    pythons_free(p);
    CU_ASSERT_TRUE(no_child_left());
}

/* A program in Python's place that does as `script` says; the sentence that comes of it. Where it
 * sleeps it must be the sleeper itself: a child of its own would outlive it, with our output open. */
static void say_of(const char *script, const char *expected)
{
    char *path = write_file("impostor", script, 0755);
    struct pythons *p = pythons_new();
    const struct python_problem q = problem();
    struct python_slot *s = NULL;
    struct err err = ERR_INIT;
    setenv("ATTNSCOPE_PYTHON", path, 1);
    CU_ASSERT_NOT_EQUAL(python_load(p, &q, "torch:math", &s, &err), ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, expected));
    if (!strstr(err.text, expected))
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL(strncmp(err.text, "torch:math", 10), 0);
    unsetenv("ATTNSCOPE_PYTHON");
    pythons_free(p);
    CU_ASSERT_TRUE(no_child_left());
    remove(path);
    free(path);
}

static void test_impostors(void)
{
    say_of("#!/bin/sh\nexit 5\n", "ended with status 5");
    say_of("#!/bin/sh\nprintf nonsense >&3\nexec sleep 60\n", "talks nonsense");
    say_of("#!/bin/sh\nprintf '[1,2]' >&3\nexec sleep 60\n", "talks nonsense");
    say_of("#!/bin/sh\nprintf '{\"error\":\"a \\\\u001b[31mword\"}' >&3\nexec sleep 60\n",
           "a ^[[31mword");
    say_of("#!/bin/sh\nkill -9 $$\n", "died (signal 9");
    setenv("ATTNSCOPE_PYTHON", "/nonexistent/python", 1);
    struct pythons *p = pythons_new();
    const struct python_problem q = problem();
    struct python_slot *s = NULL;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(python_load(p, &q, "torch:math", &s, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no /nonexistent/python here"));
    unsetenv("ATTNSCOPE_PYTHON");
    pythons_free(p);
}

static const struct tap_test tests[] = {
    {"a callable runs, is timed and described", test_runs},
    {"a callable's end is its own", test_faults},
    {"whatever answers in Python's place is one sentence", test_impostors},
};

int main(void)
{
    char *python = path_program("python3");
    if (!python)
        return tap_skip_all("no python3");
    free(python);
    if (!mkdtemp(folder))
        return 99;
    char *path = write_file("callables.py", module, 0644);
    setenv("PYTHONPATH", folder, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    const int status = tap_run("python", tests, sizeof tests / sizeof *tests);
    remove(path);
    free(path);
    rmdir(folder);
    return status;
}
