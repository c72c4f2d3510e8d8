/* pack_write.c - lesson pack: a learner's work into one file for the teacher.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "kernel/descriptor.h"
#include "lesson/action.h"
#include "lesson/classroom/pack.h"
#include "lesson/classroom/scores.h"
#include "lesson/take/progress.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

/* ---- edited kernels ---- */

static int wants_edit(const struct dirent *e)
{
    return str_ends(e->d_name, "_edit.cu");
}

/* Only what lies there itself and is a kernel: what a link leads to is nothing to hand in. */
static enum status read_edit(const char *path, char **text, size_t *len, struct err *err)
{
    struct kernel_desc *d = NULL;
    enum status st = str_read(path, PACK_EDIT_MAX, FILE_OWN, text, len, err);
    if (st)
        return st;
    st = desc_parse(path, *text, *len, &d, err);
    desc_free(d);
    if (st)
        free(*text);
    return st;
}

static void add_edit(json_t *edits, const char *folder, const char *file, struct session *s)
{
    char *path = xasprintf("%s/%s", folder, file), *text, *name;
    struct err err = ERR_INIT;
    size_t len;
    if (read_edit(path, &text, &len, &err) != ST_OK) {
        session_note(s, "left out: %s", err.text);
    } else {
        name = xstrndup(file, strlen(file) - 3);
        json_t *edit = json_pack("{s:s, s:s#}", "kernel", name, "text", text, (int)len);
        if (!edit || json_array_append_new(edits, edit) != 0)
            session_note(s, "left out: %s is not UTF-8", file);
        free(name);
        free(text);
    }
    free(path);
}

static json_t *read_edits(struct session *s)
{
    char *folder = path_in(PATH_DATA, "kernels");
    struct dirent **files = NULL;
    json_t *edits = json_array();
    const int n = folder ? scandir(folder, &files, wants_edit, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        if (json_array_size(edits) < PACK_EDITS_MAX)
            add_edit(edits, folder, files[i]->d_name, s);
        free(files[i]);
    }
    free(files);
    free(folder);
    return edits;
}

/* ---- the pack ---- */

static json_t *text_or_null(const char *text)
{
    json_t *v = text ? json_string(text) : NULL;
    return v ? v : json_null();
}

static json_t *system_name(void)
{
    struct utsname u;
    return uname(&u) == 0 ? json_sprintf("%s %s", u.sysname, u.machine) : json_null();
}

static json_t *now_text(void)
{
    char text[32];
    const time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return json_string(text);
}

/* NULL with a sentence when what was predicted cannot be read. */
static json_t *make_pack(struct session *s, const char *learner, struct err *err)
{
    struct sqlite3 *db = progress_db(s);
    struct rowset predictions = {.type = &prediction_type}, steps = {.type = &progress_type};
    if (scores_predictions(db, NULL, &predictions, err) || scores_steps(db, &steps, err)) {
        rowset_clear(&predictions);
        rowset_clear(&steps);
        return NULL;
    }
    const struct device *gpu = session_gpu(s, NULL, NULL);
    char *cpu = host_cpu_name();
    json_t *root = json_pack(
        "{s:s, s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format", "attnscope-pack",
        "format_version", PACK_VERSION, "learner", learner, "program_version", PACKAGE_VERSION,
        "time", now_text(), "system", system_name(), "cpu", text_or_null(cpu), "gpu",
        text_or_null(gpu ? gpu->name : NULL), "predictions", rowset_json(&predictions), "progress",
        rowset_json(&steps), "edits", read_edits(s));
    rowset_clear(&predictions);
    rowset_clear(&steps);
    free(cpu);
    char *hash = pack_hash(root);
    json_object_set_new(root, "hash", json_string(hash));
    free(hash);
    return root;
}

/* ---- the verb ---- */

static enum status find_learner(struct cmd_call *c, const char **out, struct err *err)
{
    const char *name = call_key(c, "name");
    if (!name && !(name = getenv("LOGNAME")))
        name = getenv("USER");
    *out = name;
    if (name && pack_is_learner(name))
        return ST_OK;
    return err_set(err, ST_USAGE,
                   "say whose work it is with name=: letters, digits, blanks and . _ - '");
}

static enum status write_pack(struct session *s, const char *path, const char *learner, bool force,
                              struct err *err)
{
    if (!force && access(path, F_OK) == 0)
        return err_set(err, ST_USAGE, "\"%s\" exists; --force writes over it", path);
    json_t *root = make_pack(s, learner, err);
    if (!root)
        return ST_FAIL;
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    char *line = xasprintf("%s\n", text ? text : "");
    enum status st = session_write(s, path, line, strlen(line), false, err);
    if (!st)
        session_note(s, "%s: %zu predictions, %zu steps, %zu edits of %s", path,
                     json_array_size(json_object_get(root, "predictions")),
                     json_array_size(json_object_get(root, "progress")),
                     json_array_size(json_object_get(root, "edits")), learner);
    json_decref(root);
    free(text);
    free(line);
    return st;
}

static enum status exec_pack(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *learner;
    const bool force = call_option(c, "force") != NULL;
    enum status st = find_learner(c, &learner, err);
    if (!st && c->nwords != 2)
        st = err_set(err, ST_USAGE, "lesson pack needs a file, for example: lesson pack ada.pack");
    if (!st)
        st = call_finish(s, c, err);
    return st ? st : write_pack(s, c->words[1].text, learner, force, err);
}

const struct lesson_action action_pack = {
    .name = "pack",
    .usage = "FILE [name=WHO] [--force]",
    .summary = "predictions, progress and edits in one file",
    .exec = exec_pack,
};
