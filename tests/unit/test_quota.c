/* test_quota.c - what control groups grant of the processors, in both versions, nested, and in containers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/quota.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "tap.h"

static char top[] = "/tmp/attnscope-quota.XXXXXX";

/* A file below the top, with the folders that it lies in. */
static void put(const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", top, name);
    for (char *slash = path + strlen(top) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    free(path);
}

static double quota_of(const char *groups)
{
    char *file = xasprintf("%s/groups", top), *mounted = xasprintf("%s/fs", top);
    put("groups", groups);
    const double q = quota_read(file, mounted);
    free(file);
    free(mounted);
    return q;
}

static void test_version_2(void)
{
    put("fs/user/shell/cpu.max", "max 100000\n");
    CU_ASSERT_EQUAL(quota_of("0::/user/shell\n"), INFINITY);
    put("fs/user/shell/cpu.max", "150000 100000\n");
    CU_ASSERT_EQUAL(quota_of("0::/user/shell\n"), 1.5);
    put("fs/user/cpu.max", "50000 100000\n"); /* a group around it has less */
    CU_ASSERT_EQUAL(quota_of("0::/user/shell\n"), 0.5);
    CU_ASSERT_EQUAL(quota_of("0::/user/other\n"), 0.5);
    CU_ASSERT_EQUAL(quota_of("0::/nobody\n"), INFINITY);
    CU_ASSERT_EQUAL(quota_of("0::/\n"), INFINITY);
    put("fs/cpu.max", "400000 100000\n"); /* a container's own group is what is mounted */
    CU_ASSERT_EQUAL(quota_of("0::/\n"), 4);
    CU_ASSERT_EQUAL(quota_of("0::/outside/the/container\n"), 4);
    CU_ASSERT_EQUAL(quota_of("0::/../../up\n"), 4);
}

static void test_version_1(void)
{
    put("fs/cpu,cpuacct/docker/7/cpu.cfs_quota_us", "-1\n");
    put("fs/cpu,cpuacct/docker/7/cpu.cfs_period_us", "100000\n");
    CU_ASSERT_EQUAL(quota_of("5:memory:/docker/7\n3:cpu,cpuacct:/docker/7\n"), INFINITY);
    put("fs/cpu,cpuacct/docker/7/cpu.cfs_quota_us", "250000\n");
    CU_ASSERT_EQUAL(quota_of("5:memory:/docker/7\n3:cpu,cpuacct:/docker/7\n"), 2.5);
    CU_ASSERT_EQUAL(quota_of("3:cpuset:/docker/7\n"), INFINITY);
}

static void test_nonsense(void)
{
    static const char *const texts[] = {"", "\n", "0", "0:", "0::", "0::x", ":::", "a:cpu:b"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CU_ASSERT_EQUAL(quota_of(texts[i]), INFINITY);
    put("fs/odd/cpu.max", "0 0\n");
    put("fs/cpu.max", "-5 100\n");
    CU_ASSERT_EQUAL(quota_of("0::/odd\n"), INFINITY);
    put("fs/odd/cpu.max", "");
    CU_ASSERT_EQUAL(quota_of("0::/odd\n"), INFINITY);
    CU_ASSERT_EQUAL(quota_read("/nowhere", "/nowhere"), INFINITY);
}

static void test_here(void)
{
    CU_ASSERT(quota_cpus() > 0);
    CU_ASSERT(host_usable_cpus() >= 1);
    CU_ASSERT(host_usable_cpus() <= ceil(quota_cpus()));
}

static const struct tap_test tests[] = {
    {"version 2, nested and in a container", test_version_2},
    {"version 1", test_version_1},
    {"what is no quota is none", test_nonsense},
    {"no more threads than it grants", test_here},
};

int main(void)
{
    if (!mkdtemp(top))
        return tap_skip_all("no folder for files");
    const int rc = tap_run("quota", tests, sizeof tests / sizeof *tests);
    char *command = xasprintf("rm -r '%s'", top);
    const int gone = system(command);
    free(command);
    return rc ? rc : gone;
}
