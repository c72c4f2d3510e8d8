/* desc_param.c - the tag @param: a number with a default, limits or values, or a word of several.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/desc_parser.h"

static enum status check_param_name(struct parser *p, const char *name, struct slice where)
{
    for (const char *c = name; *c; c++)
        if (islower((unsigned char)*c) || *name == '_')
            return desc_fail(p, where, "the parameter \"%s\" must be upper case", name);
    for (size_t i = 0; desc_fixed_name(i); i++)
        if (!strcmp(name, desc_fixed_name(i)) || !strcmp(name, "S"))
            return desc_fail(p, where, "%s is a letter of the shape and cannot name a parameter",
                             name);
    if (desc_param_index(p->d, name) >= 0)
        return desc_fail(p, where, "the parameter %s is there twice", name);
    return ST_OK;
}

/* "[16..128]"; the slice begins with the bracket. */
static enum status read_range(struct parser *p, struct slice where, struct desc_param *param)
{
    char *text = slice_text(p, where);
    char *dots = strstr(text, "..");
    enum status st = ST_USAGE;
    struct err err = ERR_INIT;
    if (dots && text[where.len - 1] == ']') {
        *dots = text[where.len - 1] = '\0';
        st = number_parse_int("the lower end", text + 1, 0, INT32_MAX, &param->lo, &err);
        if (st == ST_OK)
            st =
                number_parse_int("the upper end", dots + 2, param->lo, INT32_MAX, &param->hi, &err);
    } else {
        err_set(&err, ST_USAGE, "a range is written [16..128]");
    }
    free(text);
    return st == ST_OK ? ST_OK : desc_fail(p, where, "@param %s: %s", param->name, err.text);
}

static enum status read_number_param(struct parser *p, struct slice value, struct slice *rest,
                                     struct desc_param *param)
{
    char *text = slice_text(p, value);
    struct err err = ERR_INIT;
    enum status st = number_parse_int("the default", text, 0, INT32_MAX, &param->def, &err);
    free(text);
    if (st != ST_OK)
        return desc_fail(p, value, "@param %s: %s", param->name, err.text);
    param->lo = param->def > 0;
    param->hi = 1 << 20;
    if (rest->len && p->text[rest->at] == '[') {
        struct slice range;
        slice_take_word(p, rest, &range);
        st = read_range(p, range, param);
    }
    if (st == ST_OK && (param->def < param->lo || param->def > param->hi))
        return desc_fail(p, value, "@param %s: the default %lld is outside %lld..%lld", param->name,
                         (long long)param->def, (long long)param->lo, (long long)param->hi);
    return st;
}

/* "idle|duplicate" */
static enum status read_word_param(struct parser *p, struct slice value, struct desc_param *param)
{
    char *text = slice_text(p, value), *from = text;
    size_t n = 0, cap = 0;
    enum status st = ST_OK;
    for (char *word; st == ST_OK && (word = strsep(&from, "|"));) {
        if (!desc_is_identifier(word) || strlen(word) > NAME_MAX_LEN)
            st = desc_fail(p, value,
                           "@param %s: \"%s\" is neither a number nor a choice of words a|b",
                           param->name, word);
        xgrow((void **)&param->words, &cap, n + 2, sizeof *param->words);
        param->words[n++] = xstrdup(word);
        param->words[n] = NULL;
    }
    free(text);
    param->lo = 0;
    param->hi = (int64_t)n - 1;
    if (st == ST_OK && n < 2)
        st = desc_fail(p, value, "@param %s: a choice needs at least two words, a|b", param->name);
    return st;
}

enum status desc_read_param(struct parser *p, struct slice rest)
{
    if (p->d->nparams == DESC_PARAMS_MAX)
        return desc_fail(p, rest, "more than %d parameters", DESC_PARAMS_MAX);
    struct desc_param *param = &p->d->params[p->d->nparams];
    char *name;
    struct slice where, value;
    enum status st = desc_take_name(p, &rest, "a parameter", &name, &where);
    if (st != ST_OK)
        return st;
    st = check_param_name(p, name, where);
    param->name = name;
    p->d->nparams++;
    if (st == ST_OK && !slice_take_word(p, &rest, &value))
        st = desc_fail(p, where, "@param %s needs a default or a choice of words", name);
    if (st == ST_OK)
        st = isalpha((unsigned char)p->text[value.at]) ? read_word_param(p, value, param)
                                                       : read_number_param(p, value, &rest, param);
    if (st == ST_OK)
        param->doc = slice_line(p, rest);
    return st;
}
