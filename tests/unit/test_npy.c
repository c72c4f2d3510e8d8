/* .npy files: what NumPy writes is read, what strangers write is refused with one sentence.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "spec/npy.h"

/* A whole file: preamble of `version`, header text, `data` bytes of zeros. */
static enum status parse(int version, const char *header, size_t data, struct npy_header *h,
                         struct err *err)
{
    const size_t len = strlen(header), preamble = version == 1 ? 10 : 12;
    uint8_t *file = xcalloc(1, preamble + len + data);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    for (size_t i = 8; i < preamble; i++)
        file[i] = (uint8_t)(len >> 8 * (i - 8));
    memcpy(file + preamble, header, len);
    const enum status st = npy_parse(file, preamble + len, preamble + len + data, h, err);
    free(file);
    return st;
}

static void accept(int version, const char *header, size_t data, enum npy_type type, int ndim,
                   int64_t last)
{
    struct npy_header h = {0};
    struct err err = ERR_INIT;
    const enum status st = parse(version, header, data, &h, &err);
    if (st)
        printf("# %s: %s\n", header, err.text);
    CU_ASSERT_EQUAL(st, ST_OK);
    CU_ASSERT(h.type == type && h.ndim == ndim && h.data_bytes == data);
    CU_ASSERT(ndim < 1 || h.dim[ndim - 1] == last);
    CU_ASSERT_EQUAL(h.data_offset, (version == 1 ? 10 : 12) + strlen(header));
}

static void test_accepted(void)
{
    accept(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 3, 4), }   \n", 48, NPY_F2,
           4, 4);
    accept(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", 48, NPY_F4, 2, 4);
    accept(3, "{'shape': (5,), 'fortran_order': False, 'descr': '<u2'}", 10, NPY_U2, 1, 5);
    accept(1, " { \"descr\":\"<f4\" ,\n\"fortran_order\":False,\"shape\":( 2 ,3 , ) } ", 24, NPY_F4,
           2, 3);
}

static void refuse(int version, const char *header, size_t data, const char *sentence)
{
    struct npy_header h = {.ndim = -1};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(parse(version, header, data, &h, &err), ST_USAGE);
    if (!strstr(err.text, sentence))
        printf("# %s: %s\n", header, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, sentence));
    CU_ASSERT_EQUAL(h.ndim, -1);
}

#define F2(shape) "{'descr': '<f2', 'fortran_order': False, 'shape': " shape ", }"

static void test_refused(void)
{
    refuse(1, F2("(2, 3)"), 11, "cut short: 11 bytes of elements where 12 belong");
    refuse(1, F2("(2, 3)"), 14, "2 bytes follow its elements");
    refuse(1, F2("(0, 3)"), 0, "has the size 0");
    refuse(1, F2("(-2, 3)"), 12, "not a whole number");
    refuse(1, F2("(2.0, 3)"), 12, "not a tuple");
    refuse(1, F2("(6)"), 12, "not a tuple");
    refuse(1, F2("6"), 12, "not a tuple");
    refuse(1, F2("()"), 2, "single number");
    refuse(1, F2("(1, 1, 1, 1, 6)"), 12, "more than 4 dimensions");
    refuse(1, F2("(4294967296, 4294967296)"), 12, "more elements than memory");
    refuse(1, F2("(99999999999999999999,)"), 12, "not a whole number");
    refuse(1, F2("(2, 3"), 12, "not a whole number");
    refuse(1, F2("(2 3)"), 12, "not a tuple");
    refuse(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 16, "'<f8'");
    refuse(1, "{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", 4, "'>f2'");
    refuse(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", 2, "'|u1'");
    refuse(1, "{'descr': [('a', '<f2')], 'fortran_order': False, 'shape': (2,), }", 4, "'descr'");
    refuse(1, "{'descr': '<f2', 'fortran_order': True, 'shape': (2,), }", 4, "ascontiguousarray");
    refuse(1, "{'descr': '<f2', 'fortran_order': 0, 'shape': (2,), }", 4, "neither True nor False");
    refuse(1, "{'descr': '<f2', 'shape': (2,), }", 4, "lacks");
    refuse(1, "{'descr': '<f2', 'descr': '<f2', 'shape': (2,), }", 4, "'descr' twice");
    refuse(1, "{'evil': '<f2'}", 4, "'evil'");
    refuse(1, "{'des\\'cr': '<f2'}", 4, "not a dictionary");
    refuse(1, F2("(2,)") " x", 4, "follows the dictionary");
    refuse(1, "{", 4, "not a dictionary");
    refuse(1, "", 4, "not a dictionary");
    refuse(4, F2("(2,)"), 4, "version is 4.0");
}

static void test_broken_preambles(void)
{
    struct npy_header h;
    struct err err = ERR_INIT;
    const uint8_t huge[] = "\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{'descr'";
    CU_ASSERT_EQUAL(npy_parse(huge, 20, 1 << 30, &h, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "longer than 64 KiB"));
    const uint8_t beyond[] = "\x93NUMPY\x01\x00\xFF\x0F{'descr'";
    CU_ASSERT_EQUAL(npy_parse(beyond, 18, 1 << 30, &h, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cut short"));
    for (size_t len = 0; len < 12; len++)
        CU_ASSERT_EQUAL(npy_parse(huge, len, len, &h, &err), ST_USAGE);
    CU_ASSERT_EQUAL(npy_parse((const uint8_t *)"PK\x03\x04 a zip", 12, 12, &h, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not a .npy file"));
}

static void test_write_and_read(void)
{
    char folder[] = "/tmp/test_npy.XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    char *path = xasprintf("%s/a.npy", folder);
    struct err err = ERR_INIT;
    for (int ndim = 1; ndim <= 4; ndim++) {
        float data[24], back[24] = {0};
        struct npy_header h = {.type = NPY_F4, .ndim = ndim, .data_bytes = sizeof data}, got;
        const int64_t dims[4][4] = {{24}, {4, 6}, {2, 3, 4}, {1, 2, 3, 4}};
        memcpy(h.dim, dims[ndim - 1], sizeof h.dim);
        for (int i = 0; i < 24; i++)
            data[i] = (float)i * 0.5f;
        CU_ASSERT_EQUAL(npy_write(path, &h, data, &err), ST_OK);
        CU_ASSERT_EQUAL(npy_open(path, &got, &err), ST_OK);
        CU_ASSERT_EQUAL(got.data_offset % 64, 0);
        CU_ASSERT(got.type == NPY_F4 && got.ndim == ndim &&
                  memcmp(got.dim, h.dim, sizeof h.dim) == 0);
        CU_ASSERT_EQUAL(npy_read(path, &got, back, &err), ST_OK);
        CU_ASSERT_EQUAL(memcmp(data, back, sizeof data), 0);
        CU_ASSERT_EQUAL(truncate(path, (off_t)(got.data_offset + 95)), 0);
        CU_ASSERT_EQUAL(npy_read(path, &got, back, &err), ST_USAGE);
        CU_ASSERT_EQUAL(npy_open(path, &got, &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cut short"));
    }
    unlink(path);
    CU_ASSERT_EQUAL(rmdir(folder), 0); /* no temporary file stays behind */
    free(path);
}

static void test_bad_files(void)
{
    struct npy_header h = {.type = NPY_F2, .ndim = 1, .dim = {1}, .data_bytes = 2};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(npy_open("/nowhere/q.npy", &h, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nowhere/q.npy"));
    CU_ASSERT_EQUAL(npy_open("/tmp", &h, &err), ST_USAGE);
    CU_ASSERT_EQUAL(npy_open("/dev/zero", &h, &err), ST_USAGE);
    CU_ASSERT_EQUAL(npy_write("/nowhere/o.npy", &h, "ab", &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nowhere/o.npy"));
    char fifo[] = "/tmp/test_npy.XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(fifo));
    char *path = xasprintf("%s/p", fifo);
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(npy_open(path, &h, &err), ST_USAGE); /* and does not wait for a writer */
    unlink(path);
    rmdir(fifo);
    free(path);
}

static bool holds_bytes(const char *path, const char *bytes)
{
    struct npy_header h;
    char got[8] = "";
    return npy_open(path, &h, NULL) == ST_OK && h.data_bytes == strlen(bytes) &&
           npy_read(path, &h, got, NULL) == ST_OK && memcmp(got, bytes, h.data_bytes) == 0;
}

static enum status try_write(const char *path, const char *two_bytes)
{
    const struct npy_header h = {.type = NPY_F2, .ndim = 1, .dim = {1}, .data_bytes = 2};
    return npy_write(path, &h, two_bytes, NULL);
}

/* A file that cannot be read, though it is one; and folders by relative names. */
static void test_unreadable(void)
{
    struct npy_header h = {.type = NPY_F2, .ndim = 1, .dim = {1}, .data_bytes = 2};
    struct err err = ERR_INIT;
    char data[2], folder[] = "/tmp/test_npy.XXXXXX", was[4096];
    CU_ASSERT_EQUAL(npy_open("/proc/self/mem", &h, &err), ST_FAIL); /* nothing is mapped at 0 */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot read /proc/self/mem: "));
    CU_ASSERT_EQUAL(npy_read("/proc/self/mem", &h, data, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot read /proc/self/mem: "));
    CU_ASSERT_EQUAL(npy_read("/nowhere/q.npy", &h, data, &err), ST_USAGE);
    CU_ASSERT_STRING_EQUAL(npy_type_name(NPY_F2), "float16");
    CU_ASSERT_EQUAL(npy_type_size(NPY_F4), 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CU_ASSERT_FATAL(getcwd(was, sizeof was) && chdir(folder) == 0);
    CU_ASSERT_EQUAL(npy_check_target("o.npy", &err), ST_OK);
    CU_ASSERT_EQUAL(npy_write("o.npy", &h, "ab", &err), ST_OK);
    CU_ASSERT_EQUAL(npy_open("o.npy", &h, &err), ST_OK);
    CU_ASSERT_EQUAL(unlink("o.npy"), 0);
    CU_ASSERT_EQUAL_FATAL(chdir(was), 0);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* A link stays a link and its target is replaced; what is no file is left alone. */
static void test_targets(void)
{
    struct err err = ERR_INIT;
    struct stat st;
    char folder[] = "/tmp/test_npy.XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    char *file = xasprintf("%s/o.npy", folder), *link = xasprintf("%s/l.npy", folder),
         *pipe = xasprintf("%s/p", folder), *inside = xasprintf("%s/o.npy/x", folder);
    CU_ASSERT(symlink(file, link) == 0 && mkfifo(pipe, 0600) == 0);
    CU_ASSERT_EQUAL(npy_check_target(link, &err), ST_USAGE); /* it leads nowhere */
    CU_ASSERT_EQUAL(try_write(link, "ab"), ST_USAGE);
    CU_ASSERT_EQUAL(npy_check_target(file, &err), ST_OK);
    CU_ASSERT(access(file, F_OK) != 0); /* asking makes nothing */
    CU_ASSERT_EQUAL(try_write(file, "ab"), ST_OK);
    CU_ASSERT_EQUAL(npy_check_target(link, &err), ST_OK);
    CU_ASSERT_EQUAL(try_write(link, "cd"), ST_OK);
    CU_ASSERT(lstat(link, &st) == 0 && S_ISLNK(st.st_mode) && holds_bytes(file, "cd"));
    const char *const bad[] = {pipe, folder, "/dev/null", "/nowhere/o.npy", inside, "", "nowhere/"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(npy_check_target(bad[i], &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, bad[i]));
        CU_ASSERT_NOT_EQUAL(try_write(bad[i], "ab"), ST_OK);
    }
    CU_ASSERT(lstat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
    CU_ASSERT(lstat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    char *const all[] = {link, file, pipe, inside};
    for (int i = 0; i < 4; i++) {
        unlink(all[i]);
        free(all[i]);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* In a folder of everybody's a link that somebody else has put there is not followed: asked and written alike. */
static void test_foreign_link(void)
{
    enum { NOBODY = 65534 };
    struct err err = ERR_INIT;
    char folder[] = "/tmp/test_npy.XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    char *mine = xasprintf("%s/o.npy", folder), *shared = xasprintf("%s/shared", folder),
         *link = xasprintf("%s/shared/l.npy", folder);
    CU_ASSERT_EQUAL(try_write(mine, "ab"), ST_OK);
    CU_ASSERT(mkdir(shared, 0700) == 0 && symlink("../o.npy", link) == 0);
    if (lchown(link, NOBODY, NOBODY) == 0 && chmod(shared, 01777) == 0) { /* else we may not try */
        CU_ASSERT_EQUAL(npy_check_target(link, &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "l.npy: Permission denied"));
        CU_ASSERT_EQUAL(try_write(link, "cd"), ST_USAGE);
        CU_ASSERT(holds_bytes(mine, "ab"));
    }
    unlink(link);
    rmdir(shared);
    unlink(mine);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
    free(link);
    free(shared);
    free(mine);
}

static const struct tap_test tests[] = {
    {"headers as NumPy writes them", test_accepted},
    {"headers that are refused", test_refused},
    {"broken preambles", test_broken_preambles},
    {"what is written reads back", test_write_and_read},
    {"missing files, folders, devices, pipes", test_bad_files},
    {"what cannot be read, relative names", test_unreadable},
    {"where output may be put", test_targets},
    {"a link of somebody else's", test_foreign_link},
};

TAP_MAIN("npy", tests)
