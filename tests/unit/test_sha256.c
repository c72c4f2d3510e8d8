/* SHA-256 as FIPS 180-2 has it, and as the system's sha256sum.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include <string.h>

#include "base/hash.h"
#include "tap.h"

static void expect(const char *text, const char *want)
{
    char got[SHA256_HEX + 1];
    sha256_text(text, strlen(text), got);
    CU_ASSERT_STRING_EQUAL(got, want);
}

static void test_known(void)
{
    expect("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_parts(void)
{
    struct sha256 h;
    char got[SHA256_HEX + 1];
    sha256_begin(&h);
    for (int i = 0; i < 1000000; i++)
        sha256_add(&h, "a", 1);
    sha256_end(&h, got);
    CU_ASSERT_STRING_EQUAL(got, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Of memory of any length and wherever it lies: each byte counts, and so does where it stands. */
static void test_memory(void)
{
    enum { N = 200 };
    unsigned char bytes[N + 1], moved[N + 1];
    int same = 0, differ = 0, swapped = 0;
    for (int i = 0; i <= N; i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t n = 0; n <= N; n++) {
        const uint64_t h = hash_memory(bytes, n);
        memcpy(moved + 1, bytes, n);
        same += hash_memory(moved + 1, n) == h;
        differ += n == 0 || hash_memory(bytes, n - 1) != h;
        for (size_t i = 0; i < n; i++) {
            moved[1 + i] ^= 128;
            differ += hash_memory(moved + 1, n) != h;
            moved[1 + i] ^= 128;
        }
        for (size_t i = 0; i + 16 <= n; i += 8) {
            memcpy(moved + 1, bytes, n);
            memcpy(moved + 1 + i, bytes + i + 8, 8);
            memcpy(moved + 1 + i + 8, bytes + i, 8);
            swapped += hash_memory(moved + 1, n) == h;
        }
    }
    CU_ASSERT_EQUAL(same, N + 1);
    CU_ASSERT_EQUAL(differ, N + 1 + N * (N + 1) / 2);
    CU_ASSERT_EQUAL(swapped, 0);
}

static const struct tap_test tests[] = {
    {"texts whose hash is known", test_known},
    {"a million letters, one by one", test_parts},
    {"a hash of memory", test_memory},
};

int main(void)
{
    return tap_run("sha256", tests, sizeof tests / sizeof *tests);
}
