/* remote.c - see remote.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/remote.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "base/str.h"

enum { NAME_MAX_LEN = 40, DEST_MAX = 255, COMMAND_MAX = 500, SOURCES_MAX = 64 };

void remote_clear(struct remote *r)
{
    free(r->name);
    free(r->dest);
    free(r->command);
    json_decref(r->sources);
    *r = (struct remote){0};
}

void remote_copy(struct remote *dst, const struct remote *src)
{
    *dst = (struct remote){.name = xstrdup_if(src->name),
                           .dest = xstrdup_if(src->dest),
                           .command = xstrdup_if(src->command),
                           .sources = json_incref(src->sources)};
}

/* ---- what may be named ---- */

static bool is_word(const char *text, size_t len, const char *more)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(more, text[i]))
            return false;
    return len > 0;
}

enum status remote_check_name(const char *name, struct err *err)
{
    const size_t len = strlen(name);
    if (isalpha((unsigned char)*name) && len <= NAME_MAX_LEN && is_word(name, len, "_.-") &&
        strcmp(name, "here") && strcmp(name, "auto"))
        return ST_OK;
    char *clean = sanitize_line(name);
    err_set(err, ST_USAGE,
            "\"%.60s\" is no name for a host: a letter, then letters, digits, _ - or ., and "
            "neither here nor auto",
            clean);
    free(clean);
    return ST_USAGE;
}

enum status remote_check_dest(const char *dest, struct err *err)
{
    const char *at = strrchr(dest, '@'), *machine = at ? at + 1 : dest;
    const bool user = !at || (is_word(dest, (size_t)(at - dest), "_.+-") && *dest != '-');
    if (user && *machine != '-' && strlen(dest) <= DEST_MAX &&
        is_word(machine, strlen(machine), "_.:%-"))
        return ST_OK;
    char *clean = sanitize_line(dest);
    err_set(
        err, ST_USAGE,
        "\"%.60s\" is no place for ssh to go: [user@]machine, without a dash in front; ports and "
        "keys belong in ~/.ssh/config",
        clean);
    free(clean);
    return ST_USAGE;
}

enum status remote_check_command(const char *command, struct err *err)
{
    bool plain = *command && *command != '-' && strlen(command) <= COMMAND_MAX;
    for (const char *p = command; plain && *p; p++)
        plain = isprint((unsigned char)*p);
    return plain ? ST_OK
                 : err_set(err, ST_USAGE,
                           "the command of a host is how its attnscope is started there, as in "
                           "/opt/attnscope/bin/attnscope: at most %d plain characters",
                           COMMAND_MAX);
}

/* ---- ssh ---- */

char *remote_key(const struct remote *r)
{
    return xasprintf("%s %s", r->dest, r->command ? r->command : "");
}

static char *find_ssh(struct err *err)
{
    const char *named = secure_getenv("ATTNSCOPE_SSH");
    const bool given = named && *named;
    char *path = path_program(given ? named : "ssh");
    if (!path)
        err_set(err, ST_FAIL,
                given ? "%s, which ATTNSCOPE_SSH names, is no program"
                      : "%s was not found: hosts are reached by it; install openssh-client",
                given ? named : "ssh");
    return path;
}

/* Nobody is asked anything, for nobody would see it; nothing else travels on the line; a line that is dead is told. */
static const char *const options[] = {"-T",
                                      "-oBatchMode=yes",
                                      "-oConnectTimeout=10",
                                      "-oServerAliveInterval=5",
                                      "-oServerAliveCountMax=3",
                                      "-oClearAllForwardings=yes",
                                      "-oForwardAgent=no",
                                      "-oForwardX11=no",
                                      "-oPermitLocalCommand=no",
                                      "-oEscapeChar=none",
                                      "--"};
enum { OPTIONS = sizeof options / sizeof *options };

enum status remote_argv(const struct remote *r, const char *words, char ***argv, struct err *err)
{
    enum status st = remote_check_dest(r->dest, err);
    char *ssh = st ? NULL : find_ssh(err);
    *argv = NULL;
    if (!ssh)
        return st ? st : ST_FAIL;
    char **v = xcalloc(OPTIONS + 4, sizeof *v);
    int n = 0;
    v[n++] = ssh;
    for (int i = 0; i < OPTIONS; i++)
        v[n++] = xstrdup(options[i]);
    v[n++] = xstrdup(r->dest);
    v[n++] = xasprintf("%s %s", r->command ? r->command : "attnscope", words);
    *argv = v;
    return ST_OK;
}

void remote_argv_free(char **argv)
{
    for (char **a = argv; a && *a; a++)
        free(*a);
    free(argv);
}

/* ---- own kernels ---- */

void remote_add_source(struct remote *r, const char *file, const char *text, size_t len)
{
    if (!r->sources)
        r->sources = json_array();
    json_array_append_new(r->sources, json_pack("{s:s, s:s%}", "file", file, "text", text, len));
}

/* A file's own name, of the kinds that kernels have. */
static bool is_source_name(const char *name)
{
    static const char *const ends[] = {".cu", ".c"};
    const char *dot = name ? strrchr(name, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(dot, ends[i]))
            return isalnum((unsigned char)*name) && strlen(name) < 128 &&
                   is_word(name, (size_t)(dot - name), "_-");
    return false;
}

static bool is_wanted(const json_t *sources, const char *file)
{
    size_t i;
    const json_t *v;
    json_array_foreach(sources, i, v)
    {
        if (!strcmp(json_string_value(json_object_get(v, "file")), file))
            return true;
    }
    return false;
}

static enum status check_sources(const json_t *sources, struct err *err)
{
    size_t i;
    const json_t *v;
    if (sources && (!json_is_array(sources) || json_array_size(sources) > SOURCES_MAX))
        return err_set(err, ST_USAGE, "the sources are no list of at most %d", SOURCES_MAX);
    json_array_foreach(sources, i, v)
    {
        if (!is_source_name(json_string_value(json_object_get(v, "file"))) ||
            !json_is_string(json_object_get(v, "text")))
            return err_set(err, ST_USAGE, "the sources are not files of CUDA or C with a text");
    }
    return ST_OK;
}

static void remove_others(const char *folder, const json_t *sources)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        char *path = xasprintf("%s/%s", folder, e->d_name);
        if (*e->d_name != '.' && !is_wanted(sources, e->d_name))
            (void)unlink(path);
        free(path);
    }
    if (dir)
        closedir(dir);
}

static enum status keep_source(const char *folder, const json_t *v, struct err *err)
{
    const json_t *text = json_object_get(v, "text");
    const char *data = json_string_value(text);
    const size_t len = json_string_length(text);
    char *path = xasprintf("%s/%s", folder, json_string_value(json_object_get(v, "file"))),
         *old = NULL;
    size_t had = 0;
    enum status st = ST_OK;
    const bool same = str_read_if(path, 4 << 20, FILE_OWN, &old, &had, NULL) == ST_OK && old &&
                      had == len && !memcmp(old, data, len);
    if (!same && !file_replace(path, FILE_OWN, 0600, &(struct bytes){data, len}, 1, NULL))
        st = err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(errno));
    free(old);
    free(path);
    return st;
}

enum status remote_keep_sources(const char *folder, const json_t *sources, struct err *err)
{
    size_t i;
    const json_t *v;
    enum status st = check_sources(sources, err);
    if (st)
        return st;
    remove_others(folder, sources);
    json_array_foreach(sources, i, v)
    {
        st = st ? st : keep_source(folder, v, err);
    }
    return st;
}
