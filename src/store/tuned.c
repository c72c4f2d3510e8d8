/* tuned.c - see tuned.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/tuned.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/record.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "kernel/blob.h"
#include "store/own.h"

enum {
    FILE_BYTES_MAX = 8 << 20,
    KEPT_MAX = 8192,     /* what is kept can be read again */
    OF_SHAPES_MAX = 2000 /* of one device, of single shapes: the oldest go */
};
static const double near_most = 3; /* powers of 2 */
static const double patience_s =
    2; /* for those who write at the same time, which takes milliseconds */
const char tuned_scope_shape[] = "shape";
static const char own_folder[] = "tuned";

// clang-format off
const struct field tuned_fields[] = {
    FIELD(FIELD_TEXT, tuned, device, .doc = "What it was measured on."),
    FIELD(FIELD_TEXT, tuned, backend, .doc = "Who ran it."),
    FIELD(FIELD_TEXT, tuned, l2, .doc = "cold or hot."),
    FIELD(FIELD_TEXT, tuned, alike, .doc = "The class of shapes that it is for."),
    FIELD(FIELD_TEXT, tuned, shape, .doc = "The shape that was measured."),
    FIELD(FIELD_TEXT, tuned, kernel, .doc = "The kernel that was fastest."),
    FIELD(FIELD_TEXT, tuned, own, .doc = "Its parameters, BR=32@BC=64; null: the defaults."),
    FIELD(FIELD_TEXT, tuned, scope, .doc = "shape: for its shape alone, timed by run auto; null: for its class."),
    FIELD(FIELD_TEXT, tuned, hash, .doc = "Hash of its source."),
    FIELD(FIELD_TEXT, tuned, time, .doc = "When, UTC."),
    FIELD(FIELD_TEXT, tuned, verdict, .doc = "Verdict against the base in a run of its own; null: it is the base."),
    FIELD(FIELD_TEXT, tuned, base, .doc = "The kernel whose defaults it was measured against."),
    FIELD(FIELD_REAL, tuned, median_us, .unit = "us", .digits = 4, .lo = 0, .hi = 1e12, .doc = "Its median."),
    FIELD(FIELD_REAL, tuned, ratio, .digits = 3, .lo = 0, .hi = 1e9, .doc = "Its time over the base's."),
    FIELD(FIELD_INT, tuned, tried, .lo = 0, .hi = 1e9, .doc = "Combinations that were timed."),
    {.name = NULL},
};
// clang-format on

struct kept {
    struct tuned is;
    struct shape shape; /* that was measured */
    bool placed;        /* is `shape` known? */
    bool shipped;
};

struct tunings {
    struct kept *v;
    size_t n, cap;
    bool read;
    unsigned serial;
    struct trouble {
        char *path, *why;
        bool shipped;
    } * troubles; /* files that are not, or not wholly, what they should be */
    size_t ntroubles, troubles_cap;
};

void tuned_clear(struct tuned *t)
{
    record_clear(tuned_fields, t);
}

/* ---- classes ---- */

/* The power of 2 that is nearest, by factors. */
static long long about(int64_t x)
{
    return x > 0 ? 1LL << (int)floor(log2((double)x) + 0.5) : 0;
}

char *tuned_class(const struct shape *s)
{
    char pages[48] = "";
    if (s->page)
        snprintf(pages, sizeof pages, ", pages of about %lld", about(s->page));
    return xasprintf("%s D=%lld %s %s, about %lld x %lld heads, Sq %lld, Sk %lld%s",
                     dtype_name(s->dtype), (long long)s->D, s->causal ? "causal" : "full",
                     s->layout == LAYOUT_BHSD ? "bhsd" : "bshd", about(s->B * s->Hkv),
                     about(s->H / s->Hkv), about(s->Sq), about(s->Sk), pages);
}

double tuned_distance(const struct shape *a, const struct shape *b)
{
    if (dtype_size(a->dtype) != dtype_size(b->dtype) || a->causal != b->causal ||
        a->layout != b->layout || a->D != b->D || !a->page != !b->page)
        return INFINITY;
    const double factors[] = {(double)(a->B * a->Hkv) / (double)(b->B * b->Hkv),
                              (double)(a->H * b->Hkv) / (double)(a->Hkv * b->H),
                              (double)a->Sq / (double)b->Sq, (double)a->Sk / (double)b->Sk,
                              a->page ? (double)a->page / (double)b->page : 1};
    double sum = 0;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        sum += fabs(log2(factors[i]));
    return sum;
}

/* ---- reading ---- */

static bool is_whole(const struct tuned *t)
{
    return t->device && t->backend && t->l2 && (t->alike || t->shape) && t->kernel && t->hash &&
           t->median_us > 0;
}

/* Where it was measured. Of one shape there are many in a row, and to read it again takes as long as all the rest. */
static bool place(const struct tunings *t, const char *shape, struct shape *to)
{
    const struct kept *last = t->n ? &t->v[t->n - 1] : NULL;
    if (!shape)
        return false;
    if (last && last->placed && !strcmp(last->is.shape, shape)) {
        *to = last->shape;
        return true;
    }
    return shape_parse(shape, to, NULL) == ST_OK && shape_check(to, NULL) == ST_OK;
}

static void append(struct tunings *t, const struct tuned *x, bool shipped)
{
    struct kept k = {.is = *x, .shape = SHAPE_DEFAULT, .shipped = shipped};
    k.placed = place(t, x->shape, &k.shape);
    if (k.placed && !k.is.alike)
        k.is.alike = tuned_class(&k.shape);
    xgrow((void **)&t->v, &t->cap, t->n + 1, sizeof *t->v);
    t->v[t->n++] = k;
}

/* False: it is none. */
static bool take(struct tunings *t, const json_t *object, bool shipped)
{
    struct tuned x;
    record_init(tuned_fields, &x);
    if (t->n == KEPT_MAX || record_from_json(tuned_fields, &x, object, NULL) != ST_OK ||
        !is_whole(&x)) {
        tuned_clear(&x);
        return false;
    }
    record_sanitize(tuned_fields, &x);
    append(t, &x, shipped);
    return true;
}

/* Takes `why`. */
static void note_trouble(struct tunings *t, const char *path, bool shipped, char *why)
{
    xgrow((void **)&t->troubles, &t->troubles_cap, t->ntroubles + 1, sizeof *t->troubles);
    t->troubles[t->ntroubles++] = (struct trouble){xstrdup(path), why, shipped};
}

static void read_list(struct tunings *t, const char *path, const json_t *list, bool shipped)
{
    size_t i, bad = 0;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        bad += !take(t, item, shipped);
    }
    if (bad)
        note_trouble(t, path, shipped, xasprintf("%s: %zu of %zu entries are none", path, bad, i));
}

static void read_text(struct tunings *t, const char *path, const char *text, size_t len,
                      bool shipped)
{
    json_t *o = json_loadb(text, len, 0, NULL);
    const json_t *list = json_object_get(o, "tuned");
    if (json_is_array(list))
        read_list(t, path, list, shipped);
    else
        note_trouble(t, path, shipped, xasprintf("%s has no list of tuned parameters", path));
    json_decref(o);
}

char *tunings_trouble(const struct tunings *t, const char *path)
{
    for (size_t i = 0; i < t->ntroubles; i++)
        if (!path || !strcmp(t->troubles[i].path, path))
            return sanitize_line(t->troubles[i].why);
    return NULL;
}

/* ---- the lists ---- */

/* A list's text; NULL: it could not be read, and `why` says so. False: no further one is wanted. */
struct list_text {
    const char *path, *text;
    size_t len;
    bool shipped;
    const char *why;
};
typedef bool list_see(void *ctx, const struct list_text *x);

static bool see_file(const char *path, bool shipped, list_see *see, void *ctx)
{
    char *text = NULL;
    size_t len = 0;
    struct err err = ERR_INIT;
    const bool read = str_read_file(path, FILE_BYTES_MAX, &text, &len, &err) == ST_OK;
    const struct list_text x = {path, read ? text : NULL, len, shipped, read ? NULL : err.text};
    const bool more = see(ctx, &x);
    if (read)
        free(text);
    return more;
}

static bool each_shipped(list_see *see, void *ctx)
{
    const char *instead = getenv("ATTNSCOPE_TUNED");
    bool more = !instead || see_file(instead, true, see, ctx);
    for (const struct blob *b = blob_table; b->path && !instead && more; b++) {
        const struct list_text x = {b->path, b->data, blob_size(b), true, NULL};
        if (str_ends(b->path, ".tuned"))
            more = see(ctx, &x);
    }
    return more;
}

static void each_own(list_see *see, void *ctx)
{
    bool more = true;
    char *folder = path_in(PATH_DATA, own_folder);
    DIR *d = folder ? opendir(folder) : NULL;
    for (const struct dirent *e; d && more && (e = readdir(d));) {
        char *path = xasprintf("%s/%s", folder, e->d_name);
        if (str_ends(e->d_name, ".json"))
            more = see_file(path, false, see, ctx);
        free(path);
    }
    if (d)
        closedir(d);
    free(folder);
}

static void each_list(list_see *see, void *ctx)
{
    if (each_shipped(see, ctx))
        each_own(see, ctx);
}

static bool read_one(void *ctx, const struct list_text *x)
{
    struct tunings *t = ctx;
    if (x->text)
        read_text(t, x->path, x->text, x->len, x->shipped);
    else
        note_trouble(t, x->path, x->shipped, xstrdup(x->why));
    return true;
}

static void read_all(struct tunings *t)
{
    t->read = true;
    each_list(read_one, t);
}

/* ---- devices, without reading entries ---- */

struct device_search {
    bool (*wanted)(void *ctx, const char *device);
    void *ctx;
    bool found;
};

/* The lists are JSON; what stands behind a key "device" is looked at in their text. A name with an escape counts as found: who
 * reads the entries will know. */
static void search_text(struct device_search *x, const char *text, size_t len)
{
    static const char key[] = "\"device\"";
    const char *const end = text + len;
    char name[128] = "";
    for (const char *at = text;
         !x->found && (at = memmem(at, (size_t)(end - at), key, sizeof key - 1));) {
        at += sizeof key - 1;
        while (at < end && strchr(" \t\r\n:", *at) && *at)
            at++;
        const char *first = at < end && *at == '"' ? at + 1 : NULL;
        const char *last = first ? memchr(first, '"', (size_t)(end - first)) : NULL;
        const size_t n = last ? (size_t)(last - first) : 0;
        if (!last || (strlen(name) == n && !memcmp(name, first, n)))
            continue;
        if (n >= sizeof name || memchr(first, '\\', n)) {
            x->found = true;
            return;
        }
        memcpy(name, first, n);
        name[n] = '\0';
        x->found = x->wanted(x->ctx, name);
    }
}

static bool search_one(void *ctx, const struct list_text *x)
{
    struct device_search *search = ctx;
    if (x->text)
        search_text(search, x->text, x->len);
    return !search->found;
}

bool tunings_have_device(const struct tunings *t, bool (*wanted)(void *ctx, const char *device),
                         void *ctx)
{
    struct device_search x = {.wanted = wanted, .ctx = ctx};
    for (size_t i = 0; t->read && i < t->n && !x.found; i++)
        x.found = (!i || strcmp(t->v[i].is.device, t->v[i - 1].is.device) != 0) &&
                  wanted(ctx, t->v[i].is.device);
    if (!t->read)
        each_list(search_one, &x);
    return x.found;
}

/* What is the user's, and what is shipped, too, if `all`. */
static void forget(struct tunings *t, bool all)
{
    size_t n = 0, troubles = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].shipped && !all)
            t->v[n++] = t->v[i];
        else
            tuned_clear(&t->v[i].is);
    for (size_t i = 0; i < t->ntroubles; i++)
        if (t->troubles[i].shipped && !all)
            t->troubles[troubles++] = t->troubles[i];
        else {
            free(t->troubles[i].path);
            free(t->troubles[i].why);
        }
    t->n = n;
    t->ntroubles = troubles;
}

struct tunings *tunings_new(void)
{
    return xcalloc(1, sizeof(struct tunings));
}

void tunings_free(struct tunings *t)
{
    if (t) {
        forget(t, true);
        free(t->troubles);
        free(t->v);
    }
    free(t);
}

/* ---- asking and keeping ---- */

static bool is_of_shape(const struct tuned *t)
{
    return t->scope && !strcmp(t->scope, tuned_scope_shape);
}

void tunings_each(struct tunings *t, void (*see)(void *ctx, const struct tuned_seen *x), void *ctx)
{
    if (!t->read)
        read_all(t);
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].placed)
            see(ctx, &(struct tuned_seen){&t->v[i].is, &t->v[i].shape, t->v[i].shipped});
}

/* How far it is from what is asked; INFINITY: it is not meant. Of a device that is not known the class alone counts. */
static double apart(const struct kept *x, const struct tuned_query *q, const char *alike)
{
    const bool here = !q->device ? !x->shipped : !strcmp(x->is.device, q->device);
    if (!here || (q->own && x->shipped) || strcmp(x->is.backend, q->backend) != 0 ||
        strcmp(x->is.l2, q->l2) != 0)
        return INFINITY;
    if (!is_of_shape(&x->is) && x->is.alike && !strcmp(x->is.alike, alike))
        return 0;
    const double d = q->device && x->placed ? tuned_distance(&x->shape, q->shape) : INFINITY;
    return d <= near_most ? d : INFINITY;
}

struct rank {
    const struct kept *is;
    double apart, us;
};

/* The nearer; then the user's own; then what is expected to be faster. */
static bool is_better(const struct rank *a, const struct rank *b)
{
    if (!b->is || a->apart != b->apart)
        return !b->is || a->apart < b->apart;
    return a->is->shipped != b->is->shipped ? b->is->shipped : a->us < b->us;
}

static double expected(const struct kept *x, const struct tuned_query *q)
{
    return q->expect ? q->expect(q->ctx, &x->is, x->placed ? &x->shape : NULL) : x->is.median_us;
}

struct tuned_found tunings_find(struct tunings *t, const struct tuned_query *q)
{
    struct rank best = {.is = NULL};
    bool several = false; /* devices, where none is asked for */
    char *alike = tuned_class(q->shape);
    if (!t->read)
        read_all(t);
    for (size_t i = 0; i < t->n; i++) {
        struct rank x = {.is = &t->v[i], .apart = apart(&t->v[i], q, alike)};
        if (!(x.apart < INFINITY) || (best.is && x.apart > best.apart))
            continue;
        x.us = expected(x.is, q);
        if (!(x.us < INFINITY))
            continue;
        several |= best.is && strcmp(best.is->is.device, x.is->is.device) != 0;
        if (is_better(&x, &best))
            best = x;
    }
    free(alike);
    if (!best.is || several)
        return (struct tuned_found){.t = NULL};
    return (struct tuned_found){
        .t = &best.is->is, .shipped = best.is->shipped, .apart = best.apart};
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_in_place_of(const struct tuned *a, const struct tuned *b)
{
    const bool same = same_text(a->device, b->device) && same_text(a->backend, b->backend) &&
                      same_text(a->l2, b->l2) && same_text(a->kernel, b->kernel) &&
                      is_of_shape(a) == is_of_shape(b);
    if (!same)
        return false;
    return is_of_shape(a) ? same_text(a->shape, b->shape) && same_text(a->own, b->own)
                          : a->alike && same_text(a->alike, b->alike);
}

static void drop(struct tunings *t, size_t i)
{
    tuned_clear(&t->v[i].is);
    t->n--;
    memmove(t->v + i, t->v + i + 1, (t->n - i) * sizeof *t->v);
}

/* Of single shapes, whose number nobody bounds, those that came first go. */
static void make_room(struct tunings *t, const char *device)
{
    size_t count = 0, first = t->n;
    for (size_t i = t->n; i-- > 0;)
        if (!t->v[i].shipped && is_of_shape(&t->v[i].is) && !strcmp(t->v[i].is.device, device)) {
            first = i;
            count++;
        }
    if (count >= OF_SHAPES_MAX)
        drop(t, first);
}

static void put(struct tunings *t, const struct tuned *x)
{
    struct tuned copy;
    size_t i = 0;
    while (i < t->n && (t->v[i].shipped || !is_in_place_of(&t->v[i].is, x)))
        i++;
    if (i < t->n)
        drop(t, i);
    if (is_of_shape(x))
        make_room(t, x->device);
    record_init(tuned_fields, &copy);
    record_copy(tuned_fields, &copy, x);
    append(t, &copy, false);
}

/* What is there and cannot be read would be lost. */
static enum status check_place(const struct tunings *t, const char *path, struct err *err)
{
    char *why = tunings_trouble(t, path);
    const enum status st =
        why ? err_set(err, ST_FAIL, "%s; move it away, and what is kept goes there", why) : ST_OK;
    free(why);
    return st;
}

static bool share_file(const char *a, const char *b)
{
    char *of_a = own_name(own_folder, a), *of_b = own_name(own_folder, b);
    const bool same = !strcmp(of_a, of_b);
    free(of_a);
    free(of_b);
    return same;
}

static enum status write_device(const struct tunings *t, const char *device, const char *path,
                                struct err *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->n; i++)
        if (!t->v[i].shipped && share_file(t->v[i].is.device, device))
            json_array_append_new(list, record_to_json(tuned_fields, &t->v[i].is));
    json_t *o = json_pack("{s:o}", "tuned", list);
    const enum status st = own_write(path, o, 0, err);
    json_decref(o);
    return st;
}

/* Sessions that keep something at the same time do it one after the other. *fd -1: this file system knows no locks. */
static enum status take_turn(const char *path, int *fd, struct err *err)
{
    const double until = seconds_now() + patience_s;
    char *name = xasprintf("%s.lock", path);
    int rc = -1;
    *fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    free(name);
    while (*fd >= 0 && (rc = flock(*fd, LOCK_EX | LOCK_NB)) && errno == EWOULDBLOCK &&
           seconds_now() < until)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (*fd < 0 || !rc || errno != EWOULDBLOCK)
        return ST_OK;
    close(*fd);
    *fd = -1;
    return err_set(err, ST_FAIL, "another session has been writing %s for %.0f s", path,
                   patience_s);
}

/* What others have kept since this session read it is read, too. */
static enum status read_again(struct tunings *t, const char *path, int *fd, struct err *err)
{
    const enum status st = take_turn(path, fd, err);
    if (st)
        return st;
    forget(t, !t->read);
    if (t->read)
        each_own(read_one, t);
    return ST_OK;
}

/* This session knows it whatever comes of the file. */
static enum status keep_in_turn(struct tunings *t, const struct tuned *x, size_t n,
                                const char *path, struct err *err)
{
    int fd = -1;
    enum status st = path ? read_again(t, path, &fd, err) : ST_FAIL;
    if (!t->read)
        read_all(t);
    for (size_t i = 0; i < n; i++)
        put(t, &x[i]);
    if (st)
        return st;
    st = check_place(t, path, err);
    if (st == ST_OK)
        st = write_device(t, x->device, path, err);
    if (fd >= 0)
        close(fd);
    return st;
}

enum status tunings_keep(struct tunings *t, const struct tuned *x, size_t n, char **path,
                         struct err *err)
{
    char *name = own_name(own_folder, x->device);
    *path = NULL;
    enum status st = path_for(PATH_DATA, name, "tuned parameters", path, err);
    if (st == ST_OK)
        st = path_make_parent(*path, err);
    const enum status kept = keep_in_turn(t, x, n, st ? NULL : *path, err);
    t->serial++;
    free(name);
    return st ? st : kept;
}

unsigned tunings_serial(const struct tunings *t)
{
    return t->serial;
}
