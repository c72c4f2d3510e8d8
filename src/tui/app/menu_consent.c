/* menu_consent.c - the question whether somebody's native code or Python may run.
 *
 * The cursor begins at no. What is said yes to is the code whose hash stands there: if it has changed by then,
 * it is asked about again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/consent.h"
#include "kernel/kernel_whose.h"
#include "tui/app/menus.h"

enum { NOT_NOW, ALLOW, ABOUT, ROWS };

static int count(void *ctx)
{
    (void)ctx;
    return ROWS;
}

static void get_row(void *ctx, int i, struct menu_row *row)
{
    static const char *const names[ROWS] = {"do not run it", "allow it", "what it is"};
    static const char *const docs[ROWS] = {
        "it would run with your rights, as any program does: it could read and change your files",
        "it runs with your rights, as any program does: it can read and change your files",
        "file and hash in full",
    };
    const struct app *a = ctx;
    snprintf(row->name, sizeof row->name, "%s", names[i]);
    if (i != NOT_NOW)
        snprintf(row->value, sizeof row->value, "sha256 %.12s", a->consent_hash);
    row->doc = docs[i];
}

static void give(struct app *a, const struct kernel *k)
{
    char now[SHA256_HEX + 1] = "";
    struct err err = ERR_INIT;
    enum status st = desc_sha256(consent_side(k), now, &err);
    if (!st && strcmp(now, a->consent_hash) != 0)
        st = err_set(&err, ST_NO, "%s has changed meanwhile; run it again to be asked again",
                     k->name);
    if (!st)
        st = consent_give(a->session, k, NULL, &err);
    if (st)
        app_message(a, ROLE_WARN, "%s", err.text);
    else
        app_message(a, ROLE_NORMAL, "%s may run as it is now; measure it again", k->name);
}

static void open_row(void *ctx, int i)
{
    struct app *a = ctx;
    const struct kernel *k = registry_find(a->session->services.registry, a->consent_name);
    popup_close(&a->popup);
    if (!k || !consent_side(k))
        return;
    if (i == ALLOW)
        give(a, k);
    if (i == ABOUT) {
        struct str text = {0};
        consent_text(k, &text);
        popup_open(&a->popup, "Code of somebody's", str_text(&text));
        str_free(&text);
    }
}

void menu_consent(struct app *a)
{
    static const struct menu_ops ops = {.count = count, .row = get_row, .open = open_row};
    const struct kernel *k = consent_wanted(a->session);
    struct err err = ERR_INIT;
    if (!k || desc_sha256(consent_side(k), a->consent_hash, &err) != ST_OK)
        return;
    snprintf(a->consent_name, sizeof a->consent_name, "%s", k->name);
    char *title = xasprintf(
        "Run %s, which is %s?", k->name,
        consent_class(k, consent_side(k), NULL) == CLASS_PYTHON ? "Python" : "native code");
    (void)ahead_clear(&a->ahead); /* nobody says yes to what was not shown yet */
    popup_open_menu(&a->popup, title, &ops, a);
    free(title);
    a->urgent = true;
}
