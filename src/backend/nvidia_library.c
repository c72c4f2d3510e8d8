/* nvidia_library.c - where libraries of NVIDIA's may lie.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/nvidia_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "backend/peer/python.h"
#include "base/mem.h"
#include "base/path.h"

static const char *const folders[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_PATH/lib64",
    "/usr/local/cuda/lib64",
    "/opt/cuda/lib64",
    "$CUDA_HOME/extras/CUPTI/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64",
    "/opt/cuda/extras/CUPTI/lib64",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
    "/usr/lib/python3*/*-packages/nvidia/*/lib",
    NULL,
};

char *nvidia_expand(const char *path)
{
    if (*path != '$')
        return xstrdup(path);
    const size_t len = strcspn(path + 1, "/");
    char *name = xstrndup(path + 1, len);
    const char *value = secure_getenv(name);
    free(name);
    return value && *value ? xasprintf("%s%s", value, path + 1 + len) : NULL;
}

/* The last in the alphabet, which is the newest, that opens. Takes `folder`. */
static void *open_in(char *folder, const char *pattern)
{
    void *library = NULL;
    glob_t found = {0};
    if (!folder)
        return NULL;
    char *path = xasprintf("%s/%s", folder, pattern);
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0 && !library;)
            library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    free(path);
    free(folder);
    return library;
}

/* The folder above that of the Python program, which for a virtual environment is its root. */
static char *python_root(void)
{
    char *found = path_program(python_program());
    for (int up = 0; found && up < 2; up++) {
        char *slash = strrchr(found, '/');
        *(slash ? slash : found) = '\0';
    }
    return found;
}

static void *open_in_python(const char *pattern)
{
    char *root = python_root();
    char *folder =
        root && *root ? xasprintf("%s/lib/python3*/site-packages/nvidia/*/lib", root) : NULL;
    free(root);
    return open_in(folder, pattern);
}

void *nvidia_library(const char *test_env, const char *const *sonames, const char *pattern)
{
    const char *test = secure_getenv(test_env);
    void *library = NULL;
    if (test && *test)
        return dlopen(test, RTLD_NOW | RTLD_LOCAL);
    for (const char *const *name = sonames; *name && !library; name++)
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
    for (const char *const *folder = folders; *folder && !library; folder++)
        library = open_in(nvidia_expand(*folder), pattern);
    return library ? library : open_in_python(pattern);
}
