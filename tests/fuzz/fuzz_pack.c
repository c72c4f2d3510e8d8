/* Packs come from learners: what is refused is refused with a clean sentence; what is read keeps the
 * limits that the rest of the program relies on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <string.h>

#include "lesson/classroom/pack.h"

#define HEAD                                                                                      \
    "{\"format\":\"attnscope-pack\",\"format_version\":1,\"learner\":\"Ada\",\"program_version\"" \
    ":\"0\",\"time\":\"t\",\"system\":null,\"cpu\":null,\"gpu\":\"L4\",\"hash\":\"0\","

const char *const fuzz_seeds[] = {
    HEAD "\"predictions\":[],\"progress\":[],\"edits\":[]}",
    HEAD "\"predictions\":[{\"time\":\"t\",\"lesson\":\"banks\",\"step\":\"s\",\"name\":\"n\","
         "\"guess\":1.5,\"outcome\":null,\"right\":true,\"device\":null,\"version\":\"0\"}],"
         "\"progress\":[{\"time\":\"t\",\"lesson\":\"banks\",\"step\":\"s\",\"state\":\"done\"}],"
         "\"edits\":[{\"kernel\":\"fa2_edit\",\"text\":\"/* x */\"}]}",
    "[]",
    NULL,
};
const char *const fuzz_tokens[] = {
    "\"guess\":",
    "1e308",
    "1e999",
    "null",
    "true",
    "\"\\u0000\"",
    "\"\\u001b[31m\"",
    "\"\\u202e\"",
    "\"=1+1\"",
    "../",
    "\"kernel\":",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"edits\":",
    "\"a\"",
    "-1",
    "\xff",
    "\"learner\":",
    "\"hash\":",
    NULL,
};

static bool is_clean(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20)
            return false;
    return true;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct pack p;
    struct err err = ERR_INIT;
    if (pack_parse("x\x1b[1m", (const char *)data, size, &p, &err) != ST_OK)
        return p.root || !*err.text || !is_clean(err.text)
                   ? fuzz_broken("refused without a clean sentence: %s", err.text)
                   : 0;
    const char *learner = pack_text(&p, "learner");
    int broken = !learner || !pack_is_learner(learner) || !is_clean(learner)
                     ? fuzz_broken("a learner called %s", learner ? learner : "-")
                     : 0;
    const json_t *edits = json_object_get(p.root, "edits");
    for (size_t i = 0; !broken && i < json_array_size(edits); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(edits, i), "kernel"));
        if (!name || strpbrk(name, "./;| $`\"'\\"))
            broken = fuzz_broken("an edit called %s", name ? name : "-");
    }
    pack_clear(&p);
    return broken;
}
