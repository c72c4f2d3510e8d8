/* complete_words.c - the words that completion offers: verbs, kernels, devices, metrics, rows, files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/help/complete.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/output.h"
#include "command/show/profile.h"

static bool offered(const struct completer *c, const char *text, const char *suffix)
{
    for (size_t i = 0; i < c->count; i++) /* a key and a parameter may share a name */
        if (!strncmp(c->items[i].text, text, strlen(text)) &&
            !strcmp(c->items[i].text + strlen(text), suffix))
            return true;
    return false;
}

void complete_offer(struct completer *c, const char *text, const char *doc, const char *suffix)
{
    if (!str_starts(text, c->prefix) || offered(c, text, suffix))
        return;
    xgrow((void **)&c->items, &c->cap, c->count + 1, sizeof *c->items);
    c->items[c->count++] = (struct completion){
        .text = xasprintf("%s%s", text, suffix), .doc = doc, .more = *suffix != 0};
}

/* The same with a description that is copied. */
static void offer_own(struct completer *c, const char *text, const char *doc)
{
    const size_t before = c->count;
    complete_offer(c, text, NULL, "");
    if (c->count > before && doc)
        c->items[before].doc = c->items[before].own = xstrdup(doc);
}

void complete_offer_words(struct completer *c, const char *key, const char *const *words)
{
    for (int i = 0; words && words[i]; i++)
        complete_offer(c, words[i], value_doc(key, words[i]), "");
}

/* ---- sources of words ---- */

void complete_offer_verbs(struct completer *c)
{
    for (int i = 0; command_at(i); i++)
        if (!(command_at(i)->flags & CMD_HIDDEN))
            complete_offer(c, command_at(i)->name, command_at(i)->summary, "");
}

void complete_offer_aliases(struct completer *c)
{
    for (size_t i = 0; i < c->s->settings.aliases.count; i++)
        complete_offer(c, c->s->settings.aliases.items[i].name,
                       c->s->settings.aliases.items[i].text, "");
}

void complete_offer_kernels(struct completer *c)
{
    for (int i = 0; i < registry_count(c->s->services.registry); i++) {
        const struct kernel *k = registry_at(c->s->services.registry, i);
        complete_offer(c, k->name, kernel_main(k)->title, "");
    }
    const struct kernel *k;
    for (int i = 0; (k = registry_python(c->s->services.registry, i)); i++)
        complete_offer(c, k->name, k->cuda->title, "");
}

/* What a list of kernels may have in it besides their names. */
static void offer_kernel_words(struct completer *c)
{
    complete_offer(c, "all", "every kernel that takes the shape, but no peer", "");
    complete_offer(c, "peers", "other libraries: cuBLAS, cuDNN, PyTorch", "");
    complete_offer(c, "py", "a Python callable: py:module.function", ":");
}

void complete_offer_own_kernels(struct completer *c)
{
    for (int i = 0; i < registry_count(c->s->services.registry); i++) {
        const struct kernel *k = registry_at(c->s->services.registry, i);
        if (k->user)
            complete_offer(c, k->name, kernel_main(k)->title, "");
    }
}

void complete_offer_devices(struct completer *c)
{
    for (int i = 0; i < devices_count(c->s->services.devices); i++) {
        const struct device *d = devices_at(c->s->services.devices, i);
        char doc[128];
        snprintf(doc, sizeof doc, "%s %s, %d %s", d->vendor, d->arch, d->sms,
                 strcmp(d->vendor, "NVIDIA") ? "compute units" : "SMs");
        offer_own(c, d->name, doc);
    }
}

void complete_offer_metrics(struct completer *c)
{
    for (const struct field *f = run_fields; f->name; f++)
        complete_offer(c, f->name, f->doc, "");
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        complete_offer(c, plan_metric_name(NULL, i), "figure of the plan", "");
}

/* Fields of a profile that a run does not have. */
static void offer_counters(struct completer *c)
{
    struct field f;
    for (size_t i = 0; profile_field_at(i, &f); i++)
        if (!field_find(run_fields, f.name))
            complete_offer(c, f.name, f.doc, "");
}

static void offer_topics(struct completer *c, topic_fn *at)
{
    struct topic t;
    for (size_t i = 0; at && at(i, &t); i++)
        if (!strchr(t.name, ' '))
            offer_own(c, t.name, t.summary);
}

/* "$last", "$3", "$fa2", and behind the dot the fields of that row. */
/* $fa2 is the newest row of fa2: each kernel once. */
static void offer_row_kernels(struct completer *c)
{
    json_t *seen = json_object();
    for (size_t i = json_array_size(c->s->rows.results); i > 0; i--) {
        const char *kernel = row_text(json_array_get(c->s->rows.results, i - 1), "kernel");
        if (!kernel || json_object_get(seen, kernel))
            continue;
        char *name = xasprintf("$%s", kernel);
        offer_own(c, name, "the newest row of this kernel");
        free(name);
        json_object_set_new(seen, kernel, json_true());
    }
    json_decref(seen);
}

void complete_offer_rows(struct completer *c)
{
    const char *dot = strchr(c->prefix, '.');
    char *name = xstrndup(c->prefix, dot ? (size_t)(dot - c->prefix) : 0);
    const json_t *row = dot ? session_row(c->s, name) : NULL;
    const char *field;
    json_t *v;
    if (row)
        json_object_foreach((json_t *)row, field, v)
        {
            const struct field *known = field_find(run_fields, field);
            char *text = xasprintf("%s.%s", name, field);
            complete_offer(c, text, known ? known->doc : NULL, "");
            free(text);
        }
    else if (json_array_size(c->s->rows.results)) {
        const char *kernel = row_text(session_row(c->s, "$last"), "kernel");
        char *number = xasprintf("$%zu", c->s->rows.ever);
        offer_own(c, "$last", kernel ? kernel : "the newest row");
        offer_own(c, number, kernel ? kernel : "the newest row");
        free(number);
        offer_row_kernels(c);
    }
    free(name);
}

static void offer_file(struct completer *c, const char *folder, size_t folder_len,
                       const struct dirent *e, const char *ending)
{
    struct str clean = {0};
    struct stat st;
    char *path = xasprintf("%.*s%s", (int)folder_len, folder, e->d_name);
    sanitize(&clean, path, strlen(path), false);
    const bool harmless = !strcmp(str_text(&clean), path) && !strpbrk(path, " \t\"'\\;>|#");
    const bool is_folder = harmless && !stat(path, &st) && S_ISDIR(st.st_mode);
    const size_t len = strlen(path), tail = ending ? strlen(ending) : 0;
    if (harmless && (is_folder || !ending || (len >= tail && !strcmp(path + len - tail, ending))))
        complete_offer(c, path, is_folder ? "folder" : "file", is_folder ? "/" : "");
    str_free(&clean);
    free(path);
}

/* Files in the folder that the prefix names; only those with `ending` if there is one. */
void complete_offer_files(struct completer *c, const char *ending)
{
    const char *slash = strrchr(c->prefix, '/');
    const size_t folder_len = slash ? (size_t)(slash - c->prefix) + 1 : 0;
    char *folder = folder_len ? xstrndup(c->prefix, folder_len) : xstrdup("./");
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' || c->prefix[folder_len] == '.')
            if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
                offer_file(c, c->prefix, folder_len, e, ending);
    if (d)
        closedir(d);
    free(folder);
}

void complete_offer_argument(struct completer *c, enum cmd_arg_kind kind)
{
    switch (kind) {
    case ARG_KERNELS:
        offer_kernel_words(c);
        complete_offer_kernels(c);
        break;
    case ARG_KERNEL:
        complete_offer_kernels(c);
        break;
    case ARG_DEVICE:
        complete_offer_devices(c);
        break;
    case ARG_METRIC:
        complete_offer_metrics(c);
        offer_counters(c);
        break;
    case ARG_COMMAND:
        complete_offer_verbs(c);
        break;
    case ARG_TOPIC:
        complete_offer_verbs(c);
        offer_topics(c, glossary_at);
        break;
    case ARG_ALIAS:
        complete_offer_aliases(c);
        break;
    case ARG_FILE:
        complete_offer_files(c, NULL);
        break;
    case ARG_LESSON:
    case ARG_REPORT:
    case ARG_OPTION:
    case ARG_WORD:
        offer_topics(c, command_words_at(kind));
        break;
    case ARG_KEY:
    case ARG_NONE:
        break;
    }
}
