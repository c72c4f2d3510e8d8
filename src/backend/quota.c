/* quota.c - see quota.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/quota.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The first line of a file with two numbers, or with one; "max" and -1 are no limit. */
static int read_numbers(const char *folder, const char *name, double out[2])
{
    char *path = xasprintf("%s/%s", folder, name), line[128];
    FILE *f = fopen(path, "re");
    const bool got = f && fgets(line, sizeof line, f);
    if (f)
        fclose(f);
    free(path);
    return got ? sscanf(line, "%lf %lf", &out[0], &out[1]) : 0;
}

static double of_group(const char *folder)
{
    double two[2], quota[2], period[2];
    if (read_numbers(folder, "cpu.max", two) == 2 && two[0] > 0 && two[1] > 0)
        return two[0] / two[1];
    if (read_numbers(folder, "cpu.cfs_quota_us", quota) == 1 && quota[0] > 0 &&
        read_numbers(folder, "cpu.cfs_period_us", period) == 1 && period[0] > 0)
        return quota[0] / period[0];
    return INFINITY;
}

/* The least from a group up to the one that is mounted. In a container the names may be those outside, where nothing lies, but
 * the container's own group is what is mounted. */
static double least_upwards(const char *mounted, const char *group)
{
    char *folder = xasprintf("%s%s", mounted, group);
    const size_t top = strlen(mounted);
    double least = INFINITY;
    for (;;) {
        least = fmin(least, of_group(folder));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= top || !slash)
            break;
        folder[slash - folder < (long)top ? (long)top : slash - folder] = '\0';
    }
    free(folder);
    return least;
}

/* Is "cpu" one of "cpu,cpuacct"? */
static bool names_cpu(char *controllers)
{
    for (char *word; (word = strsep(&controllers, ","));)
        if (strcmp(word, "cpu") == 0)
            return true;
    return false;
}

/* A line is "ID:CONTROLLERS:GROUP"; version 2 has no controllers. */
static double of_line(char *line, const char *mounted)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/')
        return INFINITY;
    *group++ = '\0';
    controllers++;
    char *folder = *controllers ? xasprintf("%s/%s", mounted, controllers) : xstrdup(mounted);
    double q = INFINITY;
    if (!*controllers || names_cpu(controllers))
        q = least_upwards(folder, group);
    free(folder);
    return q;
}

double quota_read(const char *group_file, const char *mounted)
{
    FILE *f = fopen(group_file, "re");
    char line[4096];
    double least = INFINITY;
    while (f && fgets(line, sizeof line, f))
        least = fmin(least, of_line(line, mounted));
    if (f)
        fclose(f);
    return least;
}

double quota_cpus(void)
{
    return quota_read("/proc/self/cgroup", "/sys/fs/cgroup");
}
