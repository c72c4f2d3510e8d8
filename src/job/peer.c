/* peer.c - the worker's end of the connection.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "job/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/proc.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

json_t *peer_hello(const char *role)
{
    return json_pack("{s:s, s:i, s:s, s:s}", "role", role, "version", WIRE_VERSION, "build",
                     wire_build, "program", PACKAGE_VERSION);
}

struct peer peer_open(int fd, const char *role)
{
    struct peer p = {.wire = wire_new(fd), .owner = getpid(), .words_entry = -1, .entry = -1};
    struct err err = ERR_INIT;
    json_t *hello = peer_hello(role);
    p.gone = wire_send(p.wire, WIRE_HELLO, hello, -1, -1, &err) != ST_OK;
    json_decref(hello);
    return p;
}

void peer_close(struct peer *p)
{
    wire_free(p->wire);
    p->wire = NULL;
}

/* Without what is done at exit: that is the first one's. */
void peer_end_twin(const struct peer *p)
{
    if (getpid() != p->owner)
        _exit(0);
}

/* One look at the wire. ST_NO: nothing there. A broken wire goes to the log: it is a bug. */
static enum status receive(struct peer *p, enum wire_type *type, json_t **payload, int *fd)
{
    struct err err = ERR_INIT;
    peer_end_twin(p);
    if (p->gone)
        return ST_FAIL;
    enum status st = wire_recv(p->wire, type, payload, fd, &err);
    if (st == ST_FAIL) {
        p->gone = true;
        if (!wire_closed(p->wire))
            fprintf(stderr, "attnscope-worker: %s\n", err.text);
    }
    return st;
}

bool peer_next(struct peer *p, enum wire_type *type, json_t **payload, int *fd)
{
    enum status st;
    while ((st = receive(p, type, payload, fd)) == ST_NO) {
        struct pollfd look = {.fd = wire_fd(p->wire), .events = POLLIN};
        if (poll(&look, 1, -1) < 0 && errno != EINTR)
            return false;
    }
    return st == ST_OK;
}

bool peer_stop(struct peer *p)
{
    enum wire_type type;
    json_t *payload;
    int fd;
    if (p->cancelled || receive(p, &type, &payload, &fd) != ST_OK)
        return p->cancelled || p->gone || p->hushed;
    json_decref(payload);
    if (fd >= 0)
        close(fd);
    if (type == WIRE_CANCEL)
        p->cancelled = true;
    else if (type == WIRE_ASK && p->answers)
        p->hushed = true;
    else
        p->gone = true; /* nothing else may come now */
    return true;
}

void peer_send(struct peer *p, enum wire_type type, json_t *payload, int fd)
{
    struct err err = ERR_INIT;
    peer_end_twin(p);
    json_object_set_new(payload, "job", json_integer(p->job));
    json_object_set_new(payload, "clock", json_real(seconds_now()));
    if (!p->gone && wire_send(p->wire, type, payload, fd, -1, &err) != ST_OK) {
        p->gone = true;
        fprintf(stderr, "attnscope-worker: %s\n", err.text);
    }
    json_decref(payload);
}

/* A log that is full or closed has no words to tell apart. */
static void begin_words(struct peer *p, int entry)
{
    const char mark = WORDS_BEGIN;
    if (entry == p->words_entry && p->job == p->words_job)
        return;
    p->words_entry = entry;
    p->words_job = p->job;
    fflush(stdout);
    if (write(STDOUT_FILENO, &mark, 1) < 0)
        p->words_job = 0; /* once more with the next */
}

void peer_goes_on(struct peer *p, double seconds)
{
    peer_send(p, WIRE_ESTIMATE,
              json_pack("{s:i, s:f, s:s}", "entry", p->entry, "seconds", seconds, "phase",
                        wire_phase_name(p->phase)),
              -1);
}

void peer_estimate(struct peer *p, enum wire_phase phase, int entry, double seconds)
{
    begin_words(p, entry);
    p->phase = phase;
    p->entry = entry;
    p->estimate_s = seconds;
    peer_goes_on(p, seconds);
}

json_t *peer_row(const struct run_row *row)
{
    json_t *o = record_to_json(run_fields, row);
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(o, next, name, value)
    {
        const struct field *f = field_find(run_fields, name);
        const bool told =
            ((f->flags & FIELD_FICKLE) && row->median_us > 0) || /* it is ours to tell */
            ((f->flags & FIELD_OF_SAMPLES) && row->n == 0);      /* all were taken back */
        if (json_is_null(value) && !told)
            json_object_del(o, name);
    }
    return o;
}
