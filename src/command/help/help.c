/* help.c - help texts and the manual page's sections, read off the command table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/help/help.h"

#include <ctype.h>
#include <string.h>

#include "command/ask/keys.h"
#include "export/tidy.h"

/* ---- for people at a terminal ---- */

static const char *const groups[] = {"Measure", "Model", "Look up", "Learn", "Session", NULL};

static bool in_group(const struct cmd_entry *e, const char *group)
{
    if (group)
        return e->group && !strcmp(e->group, group);
    for (int i = 0; groups[i]; i++)
        if (e->group && !strcmp(e->group, groups[i]))
            return false;
    return true;
}

static void list_group(struct str *out, const char *group)
{
    bool first = true;
    for (int i = 0; command_at(i); i++) {
        const struct cmd_entry *e = command_at(i);
        if (!in_group(e, group) || e->flags & CMD_HIDDEN)
            continue;
        if (first)
            str_addf(out, "%s%s\n", out->len ? "\n" : "", group ? group : "More");
        first = false;
        str_addf(out, "  %-11s %s\n", e->name, e->summary);
    }
}

void command_help_list(struct str *out)
{
    for (int i = 0; groups[i]; i++)
        list_group(out, groups[i]);
    list_group(out, NULL);
    str_add(out, "\nVerbs may be shortened while unique. \"help VERB\" says more, \"help WORD\" "
                 "searches.\n"
                 "Several commands on a line are separated by ; output goes to a file with > "
                 "FILE,\nto a shell command with | COMMAND. @FILE runs a script, Tab completes.\n");
}

static void add_values(struct str *out, const char *const *values)
{
    for (int i = 0; values && values[i]; i++)
        str_addf(out, "%s%s", i ? ", " : " (", values[i]);
    if (values && values[0])
        str_addc(out, ')');
}

static void help_keys(struct str *out, const struct cmd_entry *e)
{
    if (!e->keys || !e->keys[0].name)
        return;
    str_addc(out, '\n');
    for (const struct cmd_key *k = e->keys; k->name; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", k->name, *k->name == '-' ? "" : "=");
        str_addf(out, "  %-12s %s", name, k->doc);
        add_values(out, k->values);
        str_addc(out, '\n');
    }
}

static void help_flags(struct str *out, unsigned flags)
{
    if (flags & (CMD_SHAPE | CMD_OPTIONS))
        str_add(out, "\nAlso takes ");
    if (flags & CMD_SHAPE) {
        str_add(out, "the shape (");
        for (const struct field *k = shape_keys; k->name; k++)
            str_addf(out, "%s%s", k == shape_keys ? "" : " ", k->name);
        str_add(out, ", input, seed)");
    }
    if (flags & CMD_OPTIONS) {
        str_add(out, flags & CMD_SHAPE ? "\nand options (" : "options (");
        for (const struct field *k = option_keys; k->name; k++)
            str_addf(out, "%s%s", k == option_keys ? "" : " ", k->name);
        str_addc(out, ')');
    }
    if (flags & (CMD_SHAPE | CMD_OPTIONS))
        str_add(out, "; \"show\" explains them.\n");
    if (flags & CMD_ROWS)
        str_add(out, "\nOutput: --json, --csv, --md, else text.\n");
}

void command_help(struct str *out, const struct cmd_entry *e)
{
    str_addf(out, "%s %s\n    %s\n", e->name, e->usage ? e->usage : "", e->summary);
    if (e->alias)
        str_addf(out, "    also: %s\n", e->alias);
    if (e->help && *e->help)
        str_addf(out, "\n%s", e->help);
    help_keys(out, e);
    help_flags(out, e->flags);
}

/* Does the line that ends at byte `end` begin with a blank? */
static bool indented(const struct str *s, size_t end)
{
    while (end && s->data[end - 1] != '\n')
        end--;
    return s->data[end] == ' ';
}

/* Prose is broken for the source of this program; at a terminal it is filled to its width. */
void help_fit(struct str *out, int width)
{
    if (width < 20 || !out->len)
        return;
    for (size_t i = 1; i + 1 < out->len; i++)
        if (out->data[i] == '\n' && out->data[i - 1] != '\n' && !strchr(" \n", out->data[i + 1]) &&
            !indented(out, i))
            out->data[i] = ' ';
    lines_wrap(out, 0, width < 100 ? width : 100);
}

/* ---- mdoc ---- */

/* A line of running text: roff must not take it for a request or an escape. */
static void md_text(struct str *out, const char *text, size_t len)
{
    if (len && (*text == '.' || *text == '\''))
        str_add(out, "\\&");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\')
            str_add(out, "\\e");
        else if (text[i] == '-')
            str_add(out, "\\-");
        else
            str_addc(out, text[i]);
    }
}

static void md_line(struct str *out, const char *text)
{
    md_text(out, text, strlen(text));
    str_addc(out, '\n');
}

/* Is this blank between two sentences? */
static bool ends_sentence(const char *text, size_t at)
{
    return at > 1 && strchr(".?!", text[at - 1]) && text[at - 2] != '.' && text[at + 1] &&
           (isupper((unsigned char)text[at + 1]) || text[at + 1] == '"');
}

/* Prose as roff wants it: a new line for each sentence, and none longer than a screen. */
static void md_prose(struct str *out, const char *text, size_t len)
{
    enum { LINE = 76 };
    for (size_t from = 0; from < len;) {
        size_t end = from, cut = len;
        for (; end < len; end++) {
            if (text[end] != ' ' && text[end] != '\n')
                continue;
            if (end - from > LINE && cut < len)
                break;
            cut = end;
            if (ends_sentence(text, end))
                break;
        }
        if (end == len && len - from <= LINE)
            cut = len;
        md_text(out, text + from, cut - from);
        str_addc(out, '\n');
        from = cut + 1;
    }
}

/* The bytes of a paragraph: up to an empty line or an example. */
static size_t paragraph(const char *help)
{
    size_t len = strcspn(help, "\n");
    while (len && help[len] && help[len + 1] && help[len + 1] != '\n' &&
           !str_starts(help + len + 1, "  "))
        len += 1 + strcspn(help + len + 1, "\n");
    return len;
}

/* Help paragraphs; lines that begin with two spaces are examples. */
static void md_help(struct str *out, const char *help)
{
    bool example = false;
    while (help && *help) {
        const bool indented = str_starts(help, "  ");
        const size_t len = indented ? strcspn(help, "\n") : paragraph(help);
        if (indented != example)
            str_add(out, indented ? ".Bd -literal -offset indent -compact\n" : ".Ed\n");
        example = indented;
        if (!len)
            str_add(out, example ? "\n" : ".Pp\n");
        else if (!indented)
            md_prose(out, help, len);
        else {
            md_text(out, help + 2, len - 2);
            str_addc(out, '\n');
        }
        help += len + (help[len] == '\n');
    }
    if (example)
        str_add(out, ".Ed\n");
}

static void md_item(struct str *out, const char *name, const char *doc, const char *const *values)
{
    str_add(out, ".It Cm \\&"); /* Sq is a macro too */
    md_line(out, name);
    struct str text = {0};
    str_add(&text, doc ? doc : "");
    add_values(&text, values);
    md_prose(out, str_text(&text), text.len);
    str_free(&text);
}

static void md_command(struct str *out, const struct cmd_entry *e)
{
    str_add(out, ".It Xo\n.Cm ");
    md_line(out, e->name);
    if (e->usage && *e->usage)
        md_line(out, e->usage);
    str_add(out, ".Xc\n");
    md_prose(out, e->summary, strlen(e->summary));
    if (e->help && *e->help)
        str_add(out, ".Pp\n");
    md_help(out, e->help);
    if (!e->keys || !e->keys[0].name)
        return;
    str_add(out, ".Pp\n.Bl -tag -width Ds -compact\n");
    for (const struct cmd_key *k = e->keys; k->name; k++)
        md_item(out, k->name, k->doc, k->values);
    str_add(out, ".El\n");
}

static void md_field(struct str *out, const char *names, const char *doc)
{
    str_addf(out, ".It Va %s", isupper((unsigned char)*names) ? "\\&" : ""); /* Sq is a macro too */
    md_text(out, names, strlen(names));
    str_addc(out, '\n');
    md_prose(out, doc, strlen(doc));
}

/* The i-th table of fields that verb `e` has rows of; those of several tables one after another. */
static const struct field *table_at(const struct cmd_entry *e, size_t i)
{
    for (const struct columns *const *c = e->columns; c && *c; c++) {
        size_t n = 0;
        for (; columns_table(*c, n); n++)
            if (i-- == 0)
                return columns_table(*c, n);
    }
    return NULL;
}

/* Is this table, or a field of this name, in one of the first n tables of the verb? */
static bool stands_before(const struct cmd_entry *e, size_t n, const struct field *table,
                          const char *name)
{
    for (size_t i = 0; i < n && table_at(e, i); i++)
        if (table_at(e, i) == table || (name && field_find(table_at(e, i), name)))
            return true;
    return false;
}

/* Tables that several verbs have stand with the first of them. */
static bool stands_elsewhere(int verb, const struct field *table)
{
    bool found = table == run_fields;
    for (int i = 0; i < verb && !found; i++)
        found = stands_before(command_at(i), SIZE_MAX, table, NULL);
    return found;
}

static void md_table(struct str *out, const struct cmd_entry *e, size_t i)
{
    for (const struct field *f = table_at(e, i); f->name; f++)
        if (f->doc && !(f->flags & (FIELD_LOCAL | FIELD_SECOND)) &&
            !stands_before(e, i, NULL, f->name))
            md_field(out, f->name, f->doc);
}

static void md_verb_fields(struct str *out, int verb)
{
    const struct cmd_entry *e = command_at(verb);
    struct str own = {0};
    for (size_t i = 0; table_at(e, i); i++)
        if (!stands_elsewhere(verb, table_at(e, i)))
            md_table(&own, e, i);
    if (own.len)
        str_addf(out, ".Pp\nRows of\n.Cm %s :\n.Bl -tag -width Ds -compact\n%s.El\n", e->name,
                 str_text(&own));
    str_free(&own);
}

/* What JSON and CSV add to rows. */
static void md_tidy(struct str *out)
{
    const char *name, *doc;
    str_add(out, ".Pp\nIn JSON and CSV, every row that has a shape also has it as columns:\n"
                 ".Bl -tag -width Ds -compact\n");
    for (size_t i = 0; tidy_doc(i, &name, &doc); i++)
        md_field(out, name, doc);
    str_add(out, ".El\n");
}

static void md_fields(struct str *out)
{
    str_add(out, ".Sh FIELDS\nWhat is unknown is\n.Dv null .\nRows of\n.Cm run ,\n.Cm check\nand\n"
                 ".Cm compare :\n.Bl -tag -width Ds -compact\n");
    for (const struct field *f = run_fields; f->name; f++)
        md_field(out, f->name, f->doc);
    str_add(out, ".El\n");
    md_tidy(out);
    for (int i = 0; command_at(i); i++)
        md_verb_fields(out, i);
    str_add(out, ".Pp\nFigures of\n.Cm plan\nthat\n.Cm explain\nshows with their formulas:\n");
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        str_addf(out, ".Va %s%s\n", plan_metric_name(NULL, i),
                 plan_metric_name(NULL, i + 1) ? " ," : " .");
}

void command_manual(struct str *out)
{
    str_add(out, ".Sh COMMANDS\n.Bl -tag -width Ds\n");
    for (int i = 0; command_at(i); i++)
        if (!(command_at(i)->flags & CMD_HIDDEN))
            md_command(out, command_at(i));
    str_add(out, ".El\n.Sh KEYS\nThe shape and the inputs:\n.Bl -tag -width Ds -compact\n");
    for (const struct field *k = shape_keys; k->name; k++)
        md_item(out, k->name, k->doc, k->words);
    for (const struct field *k = problem_keys; k->name; k++)
        md_item(out, k->name, k->doc, k->words);
    str_add(out, ".El\n.Pp\nOptions:\n.Bl -tag -width Ds -compact\n");
    for (const struct field *k = option_keys; k->name; k++)
        md_item(out, k->name, k->doc, k->words);
    str_add(out, ".El\n");
    md_fields(out);
}
