/* clip.c - see clip.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/clip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "draw/svg.h"

/* Terminals refuse longer ones. */
enum { OSC52_MAX = 74994 };

void clip_osc52(const char *text, struct str *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = strlen(text);
    str_add(out, "\033]52;c;");
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        unsigned v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)text[i + k] : 0);
        str_addc(out, digits[v >> 18 & 63]);
        str_addc(out, digits[v >> 12 & 63]);
        str_addc(out, n > 1 ? digits[v >> 6 & 63] : '=');
        str_addc(out, n > 2 ? digits[v & 63] : '=');
    }
    str_addc(out, '\a');
}

/* The Linux console and real terminals print the sequence instead. */
static bool takes_osc52(void)
{
    const char *term = getenv("TERM");
    return term && strcmp(term, "linux") != 0 && strncmp(term, "vt", 2) != 0;
}

void clip_copy(struct tty *t, const char *text, struct str *told)
{
    struct str seq = {0};
    clip_osc52(text, &seq);
    bool sent = takes_osc52() && seq.len <= OSC52_MAX;
    if (sent)
        tty_send(t, str_text(&seq), seq.len);
    str_free(&seq);
    char *path = path_in(PATH_STATE, "copied");
    bool saved =
        path && path_make_parent(path, NULL) == ST_OK &&
        file_replace(path, FILE_OWN, 0600, &(const struct bytes){text, strlen(text)}, 1, NULL);
    if (sent)
        str_add(told, "sent to the terminal's clipboard");
    if (saved)
        str_addf(told, "%s %s", sent ? "; also saved in" : "saved in", path);
    if (!sent && !saved)
        str_add(told, "could not be copied or saved");
    free(path);
}

enum status clip_dump(const struct canvas *c, bool svg, struct str *told)
{
    struct str text = {0};
    char path[64];
    enum status st = ST_FAIL;
    if (svg)
        canvas_to_svg(c, "a screen of attnscope", true, &text);
    else
        canvas_to_text(c, &text);
    for (int i = 1; i < 1000; i++) {
        snprintf(path, sizeof path, "attnscope-screen-%d.%s", i, svg ? "svg" : "txt");
        if (file_create(path, 0600, &(const struct bytes){str_text(&text), text.len}, 1)) {
            str_addf(told, "screen written to %s", path);
            st = ST_OK;
            break;
        }
        if (errno != EEXIST) {
            str_addf(told, "%s cannot be written: %s", path, strerror(errno));
            break;
        }
    }
    str_free(&text);
    return st;
}
