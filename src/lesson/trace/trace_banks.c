/* trace_banks.c - `trace banks`: lanes read one column, each of its own row, of a tile in shared memory;
 * which of the 32 banks they want, and how many goes that takes.
 *
 * One go brings one word of 4 bytes from each bank, 128 bytes at most: 32 lanes with 4 bytes, or, as
 * ldmatrix does it, 8 lanes with 16. A word that several lanes want is brought once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "lesson/trace/trace_query.h"

enum { BANKS = 32, WORD = 4, GO_BYTES = BANKS * WORD, CHUNK = 16, D_MAX = 8192, PAD_MAX = 1024 };

struct banks_row {
    int64_t lane, offset, bank;
    char *map;
    int64_t goes;
};
static const struct field fields[] = {
    FIELD(FIELD_INT, banks_row, lane, .title = "row", .doc = "The lane, and its row."),
    FIELD(FIELD_INT, banks_row, offset, .title = "at byte", .unit = "B",
          .doc = "The byte where its load begins."),
    FIELD(FIELD_INT, banks_row, bank, .doc = "The bank of that byte."),
    FIELD(FIELD_TEXT, banks_row, map, .title = "banks 0 to 31; 2: second in the queue",
          .doc = "For each bank the place of this lane in its queue."),
    FIELD(FIELD_INT, banks_row, goes, .title = "goes so far",
          .doc = "How often the banks had to deliver up to it."),
    {.name = NULL},
};
static const struct row_type banks_type = ROW_TYPE(banks_row, {fields, 0});

// clang-format off
const struct columns trace_banks_columns = {
    .type = &banks_type,
    .list = (const struct column[]){
        {.field = "lane"},
        {.field = "offset"},
        {.field = "map"},
        {.field = "goes"},
        {0},
    },
};
// clang-format on

struct banks {
    int64_t D, pad, vec, bytes; /* vec: elements of a lane's load; bytes: of an element */
    int64_t lanes, column;      /* column: of the loads, in loads */
    bool swizzled;              /* 16-byte chunk c of row r lies in place c xor (r mod 8) */
};

/* What each bank has been asked for so far. */
struct asked {
    int64_t words[BANKS][BANKS]; /* different ones */
    int count[BANKS];
};

/* Where the load of a lane begins, in bytes from the start of the tile. */
static int64_t offset_of(const struct banks *b, int64_t lane)
{
    const int64_t at = b->swizzled ? b->column ^ (lane % 8) : b->column;
    return lane * (b->D + b->pad) * b->bytes + at * b->vec * b->bytes;
}

/* Asks for a word; its place in the bank's queue, from 1. */
static int ask(struct asked *a, int64_t word)
{
    const int bank = (int)(word % BANKS);
    for (int i = 0; i < a->count[bank]; i++)
        if (a->words[bank][i] == word)
            return i + 1;
    a->words[bank][a->count[bank]++] = word;
    return a->count[bank];
}

/* One character a bank: its place in the queue, as 1 to 9, then letters. */
static char place_char(int place)
{
    return (char)(place < 10 ? '0' + place : 'a' + place - 10);
}

static void add_lane(struct rowset *rows, const struct banks *b, struct asked *a, int64_t lane,
                     int *goes)
{
    const int64_t from = offset_of(b, lane), to = from + b->vec * b->bytes - 1;
    char map[BANKS + 1] = "................................";
    for (int64_t word = from / WORD; word <= to / WORD; word++) {
        const int place = ask(a, word);
        map[word % BANKS] = place_char(place);
        *goes = place > *goes ? place : *goes;
    }
    struct banks_row *row = rowset_add(rows);
    row->lane = lane;
    row->offset = from;
    row->bank = from / WORD % BANKS;
    row->map = xstrdup(map);
    row->goes = *goes;
}

static void add_lanes(struct rowset *rows, const struct banks *b)
{
    struct asked *a = xcalloc(1, sizeof *a);
    int goes = 0;
    for (int64_t lane = 0; lane < b->lanes; lane++)
        add_lane(rows, b, a, lane, &goes);
    free(a);
}

static enum status check_banks(const struct banks *b, struct err *err)
{
    const int64_t load = b->vec * b->bytes, pitch = (b->D + b->pad) * b->bytes;
    if (b->vec & (b->vec - 1) || load > CHUNK)
        return err_set(err, ST_USAGE, "VEC is 1, 2, 4 or 8, and a load at most 16 bytes");
    if (pitch % load)
        return err_set(err, ST_USAGE,
                       "rows are %lld bytes apart; loads of %lld bytes begin at multiples of that",
                       (long long)pitch, (long long)load);
    if ((b->column + 1) * b->vec > b->D)
        return err_set(err, ST_USAGE, "column= counts loads; a row has %lld",
                       (long long)(b->D / b->vec));
    if (b->swizzled && (load != CHUNK || b->pad || b->D * b->bytes % GO_BYTES))
        return err_set(err, ST_USAGE,
                       "swizzled rows have no PAD, loads of 16 bytes and a multiple of 128 bytes");
    return ST_OK;
}

static enum status read_banks(struct cmd_call *c, struct banks *b, struct err *err)
{
    static const char *const dtypes[] = {"f16", "bf16", "f32", NULL};
    static const char *const answers[] = {"no", "yes", NULL};
    int dtype = 0, swizzled = 0;
    enum status st = trace_key_word(c, "dtype", dtypes, &dtype, err);
    b->bytes = dtype == 2 ? 4 : 2;
    b->vec = CHUNK / b->bytes;
    if (st == ST_OK)
        st = trace_key_word(c, "swizzle", answers, &swizzled, err);
    if (st == ST_OK)
        st = trace_key_int(c, "D", 1, D_MAX, &b->D, err);
    if (st == ST_OK)
        st = trace_key_int(c, "PAD", 0, PAD_MAX, &b->pad, err);
    if (st == ST_OK)
        st = trace_key_int(c, "VEC", 1, 8, &b->vec, err);
    if (st == ST_OK)
        st = trace_key_int(c, "column", 0, D_MAX, &b->column, err);
    const int64_t most = GO_BYTES / (b->vec * b->bytes);
    b->lanes = most < BANKS ? most : BANKS;
    if (st == ST_OK)
        st = trace_key_int(c, "lanes", 1, b->lanes, &b->lanes, err);
    b->swizzled = swizzled == 1;
    return st == ST_OK ? check_banks(b, err) : st;
}

static enum status follow_banks(struct session *s, struct cmd_call *c, struct err *err)
{
    struct banks b = {.D = 64};
    enum status st = read_banks(c, &b, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st != ST_OK)
        return st;
    struct rowset rows = {.type = &banks_type};
    add_lanes(&rows, &b);
    st = call_rows(s, c, &rows, &trace_banks_columns);
    rowset_clear(&rows);
    return st;
}

const struct trace_view trace_banks = {
    .word = "banks", .columns = &trace_banks_columns, .exec = follow_banks};
