/* Frames and what is in them: no bytes from a peer may do more than get a sentence. Raw bytes go
 * through the frame parser, and as the payload of a good frame through a socket and, where they are
 * JSON, through the reader of job requests, whose accepted requests must come back unchanged.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "job/request.h"
#include "job/wire.h"

enum { HEADER = 24 };

#define REQUEST_HEAD                                                                             \
    "{\"kind\":\"run\",\"problem\":{\"B\":1,\"H\":8,\"Hkv\":8,\"Sq\":1024,\"Sk\":1024,\"D\":64," \
    "\"dtype\":\"f16\",\"causal\":false,\"layout\":\"bhsd\","                                    \
    "\"input\":\"normal\",\"seed\":42},"
#define REQUEST_TAIL                                                                              \
    "\"backend\":\"cpu\",\"device\":0,\"threads\":0,\"streams\":1,\"interleave\":false,\"n\":0,"  \
    "\"cv\":0.005,\"launch\":\"auto\",\"time\":5,\"sm\":0,\"min_s\":0.5,\"min_n\":10,\"warm_s\":" \
    "0.2,\"clock_floor\":0.75,"                                                                   \
    "\"l2\":\"cold\",\"output\":null,\"timeout\":0}"

const char *const fuzz_seeds[] = {
    REQUEST_HEAD "\"entries\":[{\"kernel\":\"fa2\",\"params\":\"BR=32\"}]," REQUEST_TAIL,
    REQUEST_HEAD "\"entries\":[{\"kernel\":\"a\",\"params\":null},"
                 "{\"kernel\":\"b\",\"params\":\"\"}]," REQUEST_TAIL,
    "{\"job\":1,\"entry\":0,\"seconds\":0.5,\"run\":true}",
    "ATSC\\x01\\x00\\x02\\x00\\x02\\x00\\x00\\x00\\x05\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
    "\\xfe\\x77\\x31\\x32{}",
    "ATSC\\x01\\x00\\x06\\x00\\xff\\xff\\xff\\xff",
    NULL,
};
const char *const fuzz_tokens[] = {
    "ATSC",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "false",
    "-1",
    "1e999",
    "1e308",
    "0.5",
    "4294967296",
    "9223372036854775807",
    "\"kind\"",
    "\"check\"",
    "\"peak\"",
    "\"problem\"",
    "\"entries\"",
    "\"kernel\"",
    "\"params\"",
    "\"l2\"",
    "\"hot\"",
    "\"output\"",
    "\\\\u0000",
    "\\x00",
    "\\xff",
    "\\x01\\x00",
    "{}",
    "[[[[[[[[",
    NULL,
};

/* The frame at the front, if any, is what encoding it again gives; no prefix of it is one. */
static int check_parse(const uint8_t *data, size_t size)
{
    enum wire_type type;
    uint32_t seq;
    const uint8_t *payload;
    size_t len;
    struct err err = ERR_INIT;
    long n = wire_parse(data, size, &type, &seq, &payload, &len, &err);
    if (n < 0)
        return err.text[0] ? 0 : fuzz_broken("a broken frame without a sentence");
    if (n == 0)
        return 0;
    if ((size_t)n > size || (size_t)n != HEADER + len || payload != data + HEADER)
        return fuzz_broken("a frame of %ld bytes in %zu", n, size);
    uint8_t *again = xmalloc((size_t)n);
    wire_encode(again, type, seq, payload, len);
    int broken = memcmp(again, data, (size_t)n) ? fuzz_broken("it encodes differently") : 0;
    free(again);
    return broken;
}

/* The bytes as payload of a good frame: accepted exactly when they are a JSON object. */
static int check_receive(const uint8_t *data, size_t size)
{
    int fd[2], got;
    enum wire_type type;
    json_t *payload, *want = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    struct err err = ERR_INIT;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
        return fuzz_broken("no socket");
    uint8_t *frame = xmalloc(HEADER + size);
    wire_encode(frame, WIRE_ROWS, 0, data, size);
    struct wire *w = wire_new(fd[1]);
    int broken = 0;
    if (send(fd[0], frame, HEADER + size, 0) != (ssize_t)(HEADER + size))
        broken = fuzz_broken("send");
    enum status st = wire_recv(w, &type, &payload, &got, &err);
    bool object = json_is_object(want) || size == 0;
    if ((st == ST_OK) != object || (st != ST_OK && !err.text[0]))
        broken = fuzz_broken("status %d for %s", st, object ? "an object" : "no object");
    if (st == ST_OK && size && !json_equal(payload, want))
        broken = fuzz_broken("the payload changed");
    json_decref(payload);
    json_decref(want);
    wire_free(w);
    close(fd[0]);
    free(frame);
    return broken;
}

static int check_request(const json_t *o)
{
    struct job_request r = {.nentries = 0}, back = {.nentries = 0};
    struct err err = ERR_INIT;
    enum status st = job_request_from_json(&r, o, &err);
    if (st != ST_OK)
        return st == ST_USAGE && err.text[0] ? 0 : fuzz_broken("status %d, no sentence", st);
    json_t *first = job_request_to_json(&r), *second = NULL;
    int broken = 0;
    if (job_request_from_json(&back, first, &err) != ST_OK)
        broken = fuzz_broken("an accepted request is refused: %s", err.text);
    else if (!json_equal(first, second = job_request_to_json(&back)))
        broken = fuzz_broken("a request changed on its way");
    json_decref(first);
    json_decref(second);
    job_request_clear(&r);
    job_request_clear(&back);
    return broken;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    enum { SOCKET_EVERY = 8 }; /* system calls cost more than everything else here */
    int broken = check_parse(data, size);
    json_t *o = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!broken && o)
        broken = check_request(o);
    json_decref(o);
    if (!broken && (size == 0 || data[size - 1] % SOCKET_EVERY == 0))
        broken = check_receive(data, size);
    return broken;
}
