/* whose.c - see whose.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/whose.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/sha256.h"

const char *const whose_words[] = {
    [WHOSE_SHIPPED] = "shipped", [WHOSE_YOURS] = "yours", [WHOSE_SOMEONES] = "someone's", NULL};

bool whose_file_is_yours(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* Links followed: a link out of the folder leads to what is not in it. */
static bool is_in_data_folder(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    char *data = path_in(PATH_DATA, ".");
    const bool known = data && realpath(data, folder) && realpath(path, real);
    const size_t len = known ? strlen(folder) : 0;
    free(data);
    return known && strncmp(real, folder, len) == 0 && real[len] == '/';
}

struct whose whose_at(const char *path)
{
    if (!path)
        return (struct whose){.is = WHOSE_SHIPPED};
    const bool yours = is_in_data_folder(path) && whose_file_is_yours(path);
    return (struct whose){.is = yours ? WHOSE_YOURS : WHOSE_SOMEONES};
}

void whose_hash(struct whose *w, const void *text, size_t len)
{
    char hex[SHA256_HEX + 1];
    sha256_text(text, len, hex);
    memcpy(w->hash, hex, WHOSE_DIGITS);
    w->hash[WHOSE_DIGITS] = '\0';
}

void whose_add(struct str *out, const struct whose *w)
{
    str_add(out, whose_words[w->is]);
    if (*w->hash)
        str_addf(out, ", sha256 %s", w->hash);
}
