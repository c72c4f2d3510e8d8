/* consent.c - see consent.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/consent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "command/session.h"
#include "kernel/kernel_whose.h"

enum { ALLOWED_MAX = 1 << 20 };

const struct code_class_info code_classes[CODE_CLASSES] = {
    [CLASS_SHIPPED] = {"shipped", "of this program", 0},
    [CLASS_INTERPRETED] = {"interpreted", "PTX, which is interpreted in a cage", 0},
    [CLASS_GPU] = {"gpu", "code for the GPU", 0},
    [CLASS_COMPILED] = {"compiled",
                        "CUDA source that is not of this program, which a compiler would take in",
                        MAY_COMPILE},
    [CLASS_NATIVE] = {"native", "native code, which runs with your rights", MAY_NATIVE},
    [CLASS_PYTHON] = {"python", "Python, which runs with your rights", MAY_PYTHON},
};

/* ---- what it is ---- */

static bool is_ptx(const struct kernel_desc *d)
{
    const char *dot = d->file ? strrchr(d->file, '.') : NULL;
    return dot && !strcmp(dot, ".ptx");
}

enum code_class consent_class(const struct kernel *k, const struct kernel_desc *d,
                              const struct backend_info *on)
{
    if (!k->user)
        return CLASS_SHIPPED;
    if (d->code == CODE_PYTHON)
        return CLASS_PYTHON;
    if (d->code == CODE_LIBRARY || d->code == CODE_C)
        return CLASS_NATIVE;
    if (code_kinds[d->code].compiled)
        return CLASS_COMPILED;
    return on == backend_simulator() && is_ptx(d) ? CLASS_INTERPRETED : CLASS_GPU;
}

/* A shipped one's path is none. */
bool consent_compiles(const struct session *s, const struct kernel_desc *d)
{
    return *d->path != '/' || session_may(s, MAY_COMPILE);
}

const struct kernel_desc *consent_side(const struct kernel *k)
{
    const struct kernel_desc *sides[] = {k->cuda, k->cpu};
    for (int i = 0; i < 2; i++)
        if (sides[i] && consent_class(k, sides[i], NULL) >= CLASS_NATIVE)
            return sides[i];
    return NULL;
}

/* ---- what was allowed ---- */

/* One that cannot be read is said once, and allows nothing. */
static char *read_allowed(struct session *s)
{
    char *path = path_in(PATH_DATA, "allowed"), *text = NULL;
    struct err err = ERR_INIT;
    size_t len;
    if (path && str_read_if(path, ALLOWED_MAX, FILE_OWN, &text, &len, &err) &&
        !s->services.allowed_noted) {
        s->services.allowed_noted = true;
        session_note(s, "what was allowed is not known: %s", err.text);
    }
    free(path);
    return text;
}

static bool is_allowed(struct session *s, const char *hash)
{
    char *text = read_allowed(s), *rest = text;
    bool found = false;
    for (char *line; !found && rest && (line = strsep(&rest, "\n"));)
        found =
            strncmp(line, hash, SHA256_HEX) == 0 && (!line[SHA256_HEX] || line[SHA256_HEX] == ' ');
    free(text);
    return found;
}

/* Appends one line with one call: sessions side by side lose nothing. */
static enum status write_allowed(const char *hash, const char *name, struct err *err)
{
    char *path = NULL, *line = xasprintf("%s %s\n", hash, name);
    enum status st = path_for(PATH_DATA, "allowed", "what you allow", &path, err);
    if (!st)
        st = path_make_parent(path, err);
    if (!st)
        st = file_may_open(path, err);
    const int fd =
        st ? -1
           : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (!st && (fd < 0 || !file_write_all(fd, line, strlen(line))))
        st = err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(line);
    free(path);
    return st;
}

/* ---- may it? ---- */

/* A name that was typed is no file of somebody's. */
static bool was_typed(const struct kernel_desc *d)
{
    return d->code == CODE_PYTHON && *d->path != '/';
}

enum status consent_check(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                          const struct backend_info *on, struct err *err)
{
    char hash[SHA256_HEX + 1];
    const enum code_class is = consent_class(k, d, on);
    const struct code_class_info *class = &code_classes[is];
    const unsigned needs = class->needs | (was_typed(d) ? MAY_ALLOW : 0);
    if (needs & ~s->may)
        return err_set(err, ST_NO, "%s is %s; this session is restricted", k->name, class->is);
    if (is < CLASS_NATIVE || was_typed(d))
        return ST_OK;
    enum status st = desc_sha256(d, hash, err);
    if (st || is_allowed(s, hash))
        return st;
    return err_set(
        err, ST_NO,
        "%s is %s, and nobody has allowed it as it is now (sha256 %.12s); kernel allow %s does",
        k->name, class->is, hash, k->name);
}

void consent_text(const struct kernel *k, struct str *out)
{
    char hash[SHA256_HEX + 1] = "";
    const struct kernel_desc *d = consent_side(k);
    char *file = d->file ? desc_path(d, d->file) : xstrdup(d->path);
    (void)desc_sha256(d, hash, NULL);
    str_addf(
        out,
        "%s is %s, and runs in the worker with your rights, as any program does: it can read and "
        "change your files.\nfile    %s\nsha256  %s\n",
        k->name, consent_class(k, d, NULL) == CLASS_PYTHON ? "Python" : "native code", file, hash);
    free(file);
}

static bool says_yes(struct session *s, const struct kernel *k)
{
    struct str text = {0};
    consent_text(k, &text);
    char *rest = str_take(&text), *all = rest;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line)
            session_note(s, "%s", line);
    free(all);
    const bool careful = s->front.careful;
    char *question = xasprintf("Run %s?", k->name);
    s->front.careful = true;
    const bool yes = s->front.ask(s->front.ctx, question);
    s->front.careful = careful;
    free(question);
    return yes;
}

enum status consent_ask(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                        const struct backend_info *on, struct err *err)
{
    enum status st = consent_check(s, k, d, on, err);
    if (st != ST_NO || !session_may(s, MAY_ALLOW))
        return st;
    if (!s->front.ask) {
        free(s->services.consent_wanted);
        s->services.consent_wanted = xstrdup(k->name);
        return st;
    }
    return says_yes(s, k) ? consent_give(s, k, NULL, err) : st;
}

enum status consent_give(struct session *s, const struct kernel *k, char hash[SHA256_HEX + 1],
                         struct err *err)
{
    char own[SHA256_HEX + 1], *to = hash ? hash : own;
    const struct kernel_desc *d = consent_side(k);
    *to = '\0';
    if (!session_may(s, MAY_ALLOW))
        return err_set(err, ST_USAGE, "nothing can be allowed: this session is restricted");
    if (!d || was_typed(d))
        return ST_OK;
    enum status st = desc_sha256(d, to, err);
    return st || is_allowed(s, to) ? st : write_allowed(to, k->name, err);
}

const struct kernel *consent_wanted(struct session *s)
{
    const struct kernel *k = s->services.consent_wanted
                                 ? registry_find(s->services.registry, s->services.consent_wanted)
                                 : NULL;
    free(s->services.consent_wanted);
    s->services.consent_wanted = NULL;
    return k;
}
