/* SHA-256 as FIPS 180-2 has it, and as the system's sha256sum.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include <string.h>

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

static const struct tap_test tests[] = {
    {"texts whose hash is known", test_known},
    {"a million letters, one by one", test_parts},
};

int main(void)
{
    return tap_run("sha256", tests, sizeof tests / sizeof *tests);
}
