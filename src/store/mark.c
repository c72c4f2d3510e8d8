/* mark.c - see mark.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"

enum { SECRET_BYTES = SHA256_HEX / 2, MARK_DIGITS = 32 };

static bool read_secret(const char *path, char out[SHA256_HEX + 1])
{
    int fd = -1;
    if (file_open_if(path, FILE_OWN, &fd, NULL) != ST_OK || fd < 0)
        return false;
    const bool whole = file_read(fd, out, SHA256_HEX) == SHA256_HEX;
    close(fd);
    out[whole ? SHA256_HEX : 0] = '\0';
    return strspn(out, "0123456789abcdef") == SHA256_HEX;
}

/* Two programs may draw one at once: the first one's stays. */
static void draw_secret(const char *path)
{
    unsigned char drawn[SECRET_BYTES];
    char text[SHA256_HEX + 2] = "";
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn)
        return;
    for (size_t i = 0; i < sizeof drawn; i++)
        snprintf(text + 2 * i, 3, "%02x", drawn[i]);
    text[SHA256_HEX] = '\n';
    if (path_make_parent(path, NULL) == ST_OK)
        (void)file_create(path, 0600, &(const struct bytes){text, SHA256_HEX + 1}, 1);
}

static bool find_secret(char out[SHA256_HEX + 1], bool make)
{
    char *path = path_in(PATH_DATA, "mark");
    bool found = path && read_secret(path, out);
    if (path && !found && make) {
        draw_secret(path);
        found = read_secret(path, out);
    }
    free(path);
    return found;
}

char *mark_of(const char *time, bool make)
{
    char secret[SHA256_HEX + 1], hex[SHA256_HEX + 1];
    struct sha256 h;
    if (!time || !find_secret(secret, make))
        return NULL;
    sha256_begin(&h);
    sha256_add(&h, secret, SHA256_HEX);
    sha256_add(&h, time, strlen(time));
    sha256_end(&h, hex);
    return xstrndup(hex, MARK_DIGITS);
}
