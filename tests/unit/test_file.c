/* Files that appear whole or not at all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static char folder[] = "/tmp/attnscope-file-XXXXXX";

static char *in_folder(const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static void expect_text(const char *path, const char *want)
{
    char *text = NULL;
    size_t len;
    CU_ASSERT_EQUAL(str_read_file(path, 1000, &text, &len, NULL), ST_OK);
    CU_ASSERT_STRING_EQUAL(text ? text : "nothing", want);
    free(text);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* What else lies in the folder: temporary files that were left. */
static int files(void)
{
    char *line = xasprintf("ls -A %s | wc -l", folder), text[16] = "";
    FILE *f = popen(line, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof text, f));
    pclose(f);
    free(line);
    return atoi(text);
}

static const struct bytes two[] = {{"one ", 4}, {"two", 3}};
static const struct bytes other[] = {{"other", 5}};

static void test_create(void)
{
    char *path = in_folder("new");
    const mode_t was = umask(022);
    CU_ASSERT(file_create(path, 0666, two, 2));
    umask(was);
    expect_text(path, "one two");
    CU_ASSERT_EQUAL(mode_of(path), 0644);
    errno = 0;
    CU_ASSERT_FALSE(file_create(path, 0666, other, 1)); /* never over another's work */
    CU_ASSERT_EQUAL(errno, EEXIST);
    expect_text(path, "one two");
    unlink(path);
    CU_ASSERT(file_create(path, 0600, NULL, 0)); /* nothing is a content, too */
    expect_text(path, "");
    CU_ASSERT_EQUAL(mode_of(path), 0600);
    unlink(path);
    free(path);
    path = in_folder("none/new");
    CU_ASSERT_FALSE(file_create(path, 0666, two, 2));
    CU_ASSERT_EQUAL(errno, ENOENT);
    free(path);
}

static void test_replace(void)
{
    char *path = in_folder("old");
    bool beside = false;
    CU_ASSERT(file_replace(path, FILE_FOLLOW, 0600, two, 2, &beside) && beside);
    expect_text(path, "one two");
    CU_ASSERT_EQUAL(mode_of(path), 0600);
    CU_ASSERT_EQUAL(chmod(path, 0754), 0);
    const int reader = open(path, O_RDONLY | O_CLOEXEC);
    CU_ASSERT(file_replace(path, FILE_FOLLOW, 0666, other, 1, NULL));
    expect_text(path, "other");
    CU_ASSERT_EQUAL(mode_of(path), 0754); /* its permissions are its owner's */
    char seen[8] = "";
    CU_ASSERT(read(reader, seen, 7) == 7 && !strcmp(seen, "one two")); /* who reads, reads on */
    close(reader);
    CU_ASSERT_EQUAL(files(), 1);
    unlink(path);
    free(path);
    path = in_folder("none/old");
    CU_ASSERT_FALSE(file_replace(path, FILE_FOLLOW, 0600, two, 2, &beside) || beside);
    free(path);
}

/* A user's ~/.config/attnscope may be a link into a folder that is kept elsewhere. */
static void test_links(void)
{
    char *path = in_folder("old"), *link = in_folder("link"), *second = in_folder("second");
    struct stat is;
    CU_ASSERT(file_create(path, 0640, two, 2));
    CU_ASSERT(symlink("old", link) == 0 &&
              symlink(link, second) == 0); /* a relative one, one behind another */
    CU_ASSERT(file_replace(second, FILE_FOLLOW, 0600, other, 1, NULL));
    CU_ASSERT(!lstat(second, &is) && S_ISLNK(is.st_mode));
    CU_ASSERT(!lstat(link, &is) && S_ISLNK(is.st_mode));
    CU_ASSERT(!lstat(path, &is) && S_ISREG(is.st_mode));
    expect_text(path, "other");
    CU_ASSERT_EQUAL(mode_of(path), 0640);
    unlink(path);
    CU_ASSERT(file_replace(link, FILE_FOLLOW, 0600, two, 2,
                           NULL)); /* what it leads to may yet have to be made */
    expect_text(path, "one two");
    CU_ASSERT(!lstat(link, &is) && S_ISLNK(is.st_mode));
    CU_ASSERT_EQUAL(files(), 3);
    unlink(link);
    CU_ASSERT_EQUAL(symlink("second", link), 0); /* in a circle */
    errno = 0;
    CU_ASSERT_FALSE(file_replace(link, FILE_FOLLOW, 0600, other, 1, NULL));
    CU_ASSERT_EQUAL(errno, ELOOP);
    CU_ASSERT_EQUAL(files(), 3);
    unlink(second);
    unlink(link);
    unlink(path);
    free(second);
    free(link);
    free(path);
}

/* What can be made again takes the place of whatever has its name: a link there is somebody's who wants another file overwritten. */
static void test_own(void)
{
    char *path = in_folder("victim"), *link = in_folder("cached");
    struct stat is;
    bool beside = false;
    CU_ASSERT(file_create(path, 0600, two, 2));
    CU_ASSERT_EQUAL(symlink("victim", link), 0);
    CU_ASSERT(file_replace(link, FILE_OWN, 0600, other, 1, &beside) && beside);
    CU_ASSERT(!lstat(link, &is) && S_ISREG(is.st_mode));
    expect_text(link, "other");
    expect_text(path, "one two");
    CU_ASSERT_EQUAL(chmod(link, 0666), 0);
    CU_ASSERT(file_replace(link, FILE_OWN, 0600, two, 2, NULL));
    CU_ASSERT_EQUAL(mode_of(link), 0600); /* nobody else's to write any more */
    CU_ASSERT_EQUAL(files(), 2);
    unlink(link);
    unlink(path);
    free(link);
    free(path);
}

/* In a folder of everybody's a link that somebody else has put there leads nowhere. */
static void test_foreign_link(void)
{
    enum { NOBODY = 65534 };
    char *path = in_folder("old"), *shared = in_folder("shared"), *link = in_folder("shared/link");
    CU_ASSERT(file_create(path, 0600, two, 2));
    CU_ASSERT(mkdir(shared, 0700) == 0 && symlink("../old", link) == 0);
    if (lchown(link, NOBODY, NOBODY) == 0) { /* else we are not allowed to try */
        CU_ASSERT_EQUAL(chmod(shared, 01777), 0);
        errno = 0;
        CU_ASSERT_FALSE(file_replace(link, FILE_FOLLOW, 0600, other, 1, NULL));
        CU_ASSERT_EQUAL(errno, EACCES);
        expect_text(path, "one two");
        CU_ASSERT_EQUAL(chmod(shared, 0777), 0);
        CU_ASSERT(file_replace(link, FILE_FOLLOW, 0600, other, 1, NULL)); /* as the system has it */
        expect_text(path, "other");
    }
    unlink(link);
    rmdir(shared);
    unlink(path);
    free(link);
    free(shared);
    free(path);
}

/* In place of the C library's: what the file called `watched` holds when another is brought to the disk. */
static char *watched;
static int synced, before, folders;

int fsync(int fd)
{
    struct stat is, old;
    synced++;
    if (!fstat(fd, &is) && S_ISDIR(is.st_mode))
        folders++;
    else if (watched && !stat(watched, &old) && is.st_ino != old.st_ino && is.st_size == 7)
        before++;
    return (int)syscall(SYS_fsync, fd);
}

/* Else a power cut leaves a new name with nothing behind it. */
static void test_power(void)
{
    watched = in_folder("old");
    CU_ASSERT(file_create(watched, 0600, other, 1));
    synced = before = folders = 0;
    CU_ASSERT(file_replace(watched, FILE_FOLLOW, 0600, two, 2, NULL));
    CU_ASSERT(synced == 2 && before == 1 &&
              folders == 1); /* the text before it has the name, then the name */
    expect_text(watched, "one two");
    unlink(watched);
    free(watched);
    watched = NULL;
}

/* In a process that can write three bytes to a file. */
static bool fails_when_full(const char *path)
{
    const struct rlimit three = {3, 3};
    signal(SIGXFSZ, SIG_IGN);
    bool beside = false;
    char *fresh = in_folder("fresh");
    if (setrlimit(RLIMIT_FSIZE, &three) != 0)
        return false;
    const bool kept =
        !file_replace(path, FILE_FOLLOW, 0600, two, 2, &beside) && beside && errno == EFBIG;
    const bool gone = !file_create(fresh, 0600, two, 2) && errno == EFBIG && access(fresh, F_OK);
    free(fresh);
    return kept && gone;
}

static void test_full(void)
{
    char *path = in_folder("old");
    int status = 1;
    CU_ASSERT(file_create(path, 0600, other, 1));
    const pid_t pid = fork();
    if (pid == 0)
        _exit(!fails_when_full(path));
    waitpid(pid, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    expect_text(path, "other"); /* the old one is as it was */
    CU_ASSERT_EQUAL(files(), 1);
    unlink(path);
    free(path);
}

/* Through a pipe that is read slowly a write takes several calls. */
static void test_write_all(void)
{
    enum { LEN = 300000 };
    int pipes[2], status = 1;
    char *data = xcalloc(LEN, 1);
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(pipes[0]);
        _exit(!file_write_all(pipes[1], data, LEN));
    }
    close(pipes[1]);
    CU_ASSERT_EQUAL(file_read(pipes[0], data, LEN - 10), LEN - 10); /* a pipe gives less at once */
    CU_ASSERT_EQUAL(file_read(pipes[0], data, LEN), 10);            /* and then ends */
    CU_ASSERT_EQUAL(file_read(pipes[0], data, LEN), 0);
    CU_ASSERT_EQUAL(file_read(-1, data, 1), -1);
    waitpid(pid, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    close(pipes[0]);
    free(data);
    errno = 0;
    CU_ASSERT_FALSE(file_write_all(-1, "x", 1));
    CU_ASSERT_EQUAL(errno, EBADF);
}

static void test_left_over(void)
{
    char *mine = xasprintf("a.json.%ld.tmp", (long)getpid());
    CU_ASSERT(file_is_left_over("a.json.999999999.tmp"));
    CU_ASSERT_FALSE(file_is_left_over(mine)); /* it is being written */
    CU_ASSERT_FALSE(file_is_left_over("a.999999999"));
    CU_ASSERT_FALSE(file_is_left_over("999999999.tmp"));
    CU_ASSERT_FALSE(file_is_left_over("a.json.tmp"));
    CU_ASSERT_FALSE(file_is_left_over(".tmp"));
    free(mine);
}

/* ---- the gate ---- */

static enum status opens(const char *path, enum file_links links, struct err *err)
{
    int fd = 7;
    const enum status st = file_open(path, links, &fd, err);
    CU_ASSERT(st == ST_OK ? fd >= 0 : fd == -1);
    if (fd >= 0)
        close(fd);
    return st;
}

static void expect_refused(const char *path, enum file_links links, const char *what)
{
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(opens(path, links, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, what));
}

static void test_gate(void)
{
    char *path = in_folder("x"), *link = in_folder("link");
    int fd;
    expect_refused(path, FILE_FOLLOW, "No such file");
    struct err none = ERR_INIT;
    CU_ASSERT(file_open_if(path, FILE_FOLLOW, &fd, &none) == ST_OK && fd == -1);
    CU_ASSERT_STRING_EQUAL(none.text, "");             /* no sentence about what is no mistake */
    CU_ASSERT_EQUAL(file_may_open(path, NULL), ST_OK); /* nothing is in the way */
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    expect_refused(path, FILE_FOLLOW, "a pipe");
    CU_ASSERT(file_open_if(path, FILE_FOLLOW, &fd, NULL) == ST_USAGE && fd == -1);
    CU_ASSERT_EQUAL(file_may_open(path, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(symlink(path, link), 0);
    expect_refused(link, FILE_FOLLOW, "a pipe");
    unlink(path);
    CU_ASSERT(mkdir(path, 0700) == 0);
    expect_refused(path, FILE_FOLLOW, "a folder");
    rmdir(path);
    expect_refused("/dev/null", FILE_FOLLOW, "a device");
    CU_ASSERT(file_create(path, 0600, two, 2));
    CU_ASSERT_EQUAL(opens(path, FILE_OWN, NULL), ST_OK);
    CU_ASSERT_EQUAL(opens(link, FILE_FOLLOW, NULL), ST_OK); /* the user may name a link */
    expect_refused(link, FILE_OWN, "a link");               /* but nobody lays one for us */
    unlink(link);
    unlink(path);
    free(link);
    free(path);
}

static const struct tap_test tests[] = {
    {"a new file is whole, and never over another", test_create},
    {"a link stays, and what it leads to is replaced", test_links},
    {"a link in the place of what is ours gives way", test_own},
    {"but not by a link that a stranger put", test_foreign_link},
    {"what is replaced is on the disk before it has the name", test_power},
    {"an old one is replaced in one moment", test_replace},
    {"on a full disk nothing changes", test_full},
    {"all bytes are written, and read", test_write_all},
    {"what a killed one leaves is known", test_left_over},
    {"only regular files are opened, and no links laid for us", test_gate},
};

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    const int st = tap_run("file", tests, sizeof tests / sizeof *tests);
    rmdir(folder);
    return st;
}
