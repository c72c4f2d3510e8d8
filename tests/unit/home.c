/* home.c - see home.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "home.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"
#include "command/command.h"
#include "lesson/lesson.h"

int home_run(const char *suite, bool (*prepare)(const char *folder), const struct tap_test *tests,
             size_t n)
{
    char folder[] = "/tmp/attnscope-test-XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("XDG_STATE_HOME", folder, 1);
    command_register_core();
    lesson_register();
    const int rc = prepare && !prepare(folder) ? 1 : tap_run(suite, tests, n);
    char *clean = xasprintf("rm -rf '%s'", folder);
    if (system(clean) != 0)
        printf("# %s was left behind\n", folder);
    free(clean);
    return rc;
}

void home_write(const char *name, const char *text)
{
    char *path = path_in(PATH_DATA, name);
    FILE *f = path ? fopen(path, "w") : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    const bool whole = fputs(text, f) >= 0;
    CU_ASSERT_TRUE_FATAL(fclose(f) == 0 && whole);
    free(path);
}
