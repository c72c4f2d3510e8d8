/* test_device.c - the device table: its own arithmetic, names, and the user's file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "plan/device.h"
#include "tap.h"

/* So that the devices of whoever runs the tests do not count. */
#define NOWHERE "/dev/null/nowhere"

static int within(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

static const struct device *get(const struct device_table *t, const char *name)
{
    const struct device *d = NULL;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(devices_get(t, name, &d, &err), ST_OK);
    return d;
}

/* Rates follow from SMs, lanes and clocks; sparse or half-precision-accumulate figures do not. */
static void test_rates(void)
{
    struct device_table *t = devices_new();
    for (int i = 0; i < devices_count(t); i++) {
        const struct device *d = devices_at(t, i);
        double f32 = d->sms * d->fp32_lanes * 2.0 * d->clock_mhz * 1e-6;
        CU_ASSERT_TRUE(within(f32, d->tflops[DTYPE_F32], 0.015));
        if (!within(f32, d->tflops[DTYPE_F32], 0.015))
            printf("# %s: f32 %g, computed %g\n", d->name, d->tflops[DTYPE_F32], f32);
        double f16 = d->sms * (double)d->tensor_flops * d->tensor_clock_mhz * 1e-6;
        if (isnan(d->tflops[DTYPE_F16]))
            continue;
        CU_ASSERT_TRUE(within(f16, d->tflops[DTYPE_F16], 0.015));
        if (!within(f16, d->tflops[DTYPE_F16], 0.015))
            printf("# %s: f16 %g, computed %g\n", d->name, d->tflops[DTYPE_F16], f16);
    }
    devices_free(t);
}

static void test_table_is_sane(void)
{
    struct device_table *t = devices_new();
    int cuda = 0;
    for (int i = 0; i < devices_count(t); i++) {
        const struct device *d = devices_at(t, i);
        cuda += d->cc != 0;
        CU_ASSERT_TRUE(d->cc == 0 || arch_find(d->cc) != NULL);
        CU_ASSERT_TRUE(d->sms > 0 && d->dram_gbs > 0 && d->l2_bytes > 0);
        CU_ASSERT_PTR_EQUAL(get(t, d->name), d);
        CU_ASSERT_PTR_NULL(strchr(d->name, ' ')); /* one word of a command line */
    }
    CU_ASSERT_TRUE(cuda >= 18);
    CU_ASSERT_EQUAL(get(t, "L4")->sms, 58);
    CU_ASSERT_EQUAL(get(t, "Titan RTX")->sms, 72);
    CU_ASSERT_EQUAL(get(t, "MI300X")->cc, 0);
    CU_ASSERT_EQUAL(get(t, "8060S")->cc, 0);
    CU_ASSERT_TRUE(isnan(get(t, "V100")->tflops[DTYPE_BF16])); /* unknown is not zero */
    devices_free(t);
}

static void test_architectures(void)
{
    static const int ccs[] = {70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121};
    for (size_t i = 0; i < sizeof ccs / sizeof *ccs; i++) {
        const struct arch_limits *a = arch_find(ccs[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(a);
        CU_ASSERT_PTR_EQUAL(arch_at((int)i), a);
        CU_ASSERT_EQUAL(a->max_threads, a->max_warps * 32);
        CU_ASSERT_TRUE(a->smem_optin + a->smem_reserved <= a->smem_per_sm);
        int last = 0;
        while (a->carveouts[last + 1] >= 0)
            last++;
        CU_ASSERT_EQUAL(a->carveouts[last], a->smem_per_sm);
    }
    CU_ASSERT_PTR_NULL(arch_at((int)(sizeof ccs / sizeof *ccs)));
    CU_ASSERT_PTR_NULL(arch_find(61));
}

static void test_names(void)
{
    static const char *const same[][2] = {
        {"h200", "H200"},
        {"rtx-4090", "RTX-4090"},
        {"RTX 4090", "RTX-4090"},
        {"NVIDIA GeForce RTX 4090", "RTX-4090"},
        {"4090", "RTX-4090"},
        {"a100", "A100-80GB"},
        {"NVIDIA A100-SXM4-40GB", "A100-40GB"},
        {"NVIDIA H100 80GB HBM3", "H100-SXM"},
        {"h100 pcie", "H100-PCIe"},
        {"Tesla T4", "T4"},
        {"titan rtx", "Titan-RTX"},
        {"AMD Radeon 8060S Graphics", "Radeon-8060S"},
    };
    struct device_table *t = devices_new();
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const struct device *d = get(t, same[i][0]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(d);
        CU_ASSERT_STRING_EQUAL(d->name, same[i][1]);
    }
    devices_free(t);
}

static void test_unknown_name(void)
{
    struct device_table *t = devices_new();
    const struct device *d;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(devices_get(t, "H20O", &d, &err), ST_USAGE);
    CU_ASSERT_PTR_NULL(d);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "H20O"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did you mean H200?"));
    CU_ASSERT_EQUAL(devices_get(t, "", &d, &err), ST_USAGE);
    CU_ASSERT_EQUAL(devices_get(t, "nvidia", &d, &err), ST_USAGE);
    devices_free(t);
}

/* A table read with `text` as the user's file. */
static struct device_table *with_file(const char *text)
{
    char folder[] = "/tmp/attnscope-device-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    char *inner = xasprintf("%s/attnscope", folder), *path = xasprintf("%s/devices", inner);
    mkdir(inner, 0700);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    setenv("XDG_CONFIG_HOME", folder, 1);
    struct device_table *t = devices_new();
    setenv("XDG_CONFIG_HOME", NOWHERE, 1);
    unlink(path);
    rmdir(inner);
    rmdir(folder);
    free(path);
    free(inner);
    return t;
}

static void test_user_devices(void)
{
    struct device_table *t =
        with_file("# my cards\n"
                  "\n"
                  "RTX 4090 Laptop  like=rtx-4090 sms=76 clock_mhz=2040 memory_bytes=16G\n"
                  "MyCard cc=8.9 sms=20 dram_gbs=200 f32_tflops=10.2 note=a guess, rather\r\n"
                  "my-L4 like=L4 dram_gbs=250\n"
                  "smallest cc=9.0 sms=1\n");
    CU_ASSERT_PTR_NULL(devices_problem(t, 0));
    const struct device *d = get(t, "rtx-4090-laptop");
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_TRUE(d->user);
    CU_ASSERT_EQUAL(d->sms, 76);
    CU_ASSERT_EQUAL(d->cc, 89);
    CU_ASSERT_EQUAL(d->dram_gbs, 1008);
    CU_ASSERT_EQUAL(d->memory_bytes, 16.0 * (1 << 30));
    d = get(t, "mycard");
    CU_ASSERT_STRING_EQUAL(d->note, "a guess, rather");
    CU_ASSERT_STRING_EQUAL(d->arch, "sm_89");
    CU_ASSERT_TRUE(isnan(d->tflops[DTYPE_F16]));
    CU_ASSERT_EQUAL(get(t, "my l4")->dram_gbs, 250);
    CU_ASSERT_EQUAL(get(t, "smallest")->sms, 1);
    devices_free(t);
}

/* A bad line costs that line, with its place; the rest is read. */
static void test_bad_lines(void)
{
    static const char *const words[] = {
        ":1: \"just a name\"",
        ":2: unknown key \"sm\"; did you mean sms?",
        ":3: cc=6.1",
        ":4: sms=-3",
        ":5: no GPU \"L44\"",
        ":6: NoSms: sms= is missing",
        ":7: the line begins",
        ":8: \"and\" is not key=value",
        ":9: sms=1.5",
        ":10: no key before \"=X\"",
        ":11: sms=0 is too small",
        ":12: unknown key \"user\"",
        ":13: unknown key \"name\"",
        ":14: unknown key \"l2_mib\"",
        ":15: unknown key \"lik\"; did you mean like?",
    };
    struct device_table *t = with_file("just a name\n"
                                       "A sm=3\n"
                                       "B cc=6.1 sms=3\n"
                                       "C sms=-3\n"
                                       "D like=L44\n"
                                       "NoSms cc=8.9\n"
                                       "sms=4\n"
                                       "E sms=4 and more\n"
                                       "F sms=1.5\n"
                                       "name =X\n"
                                       "None cc=9.0 sms=0\n"
                                       "G sms=1 user=yes\n"
                                       "G sms=1 name=H\n"
                                       "G sms=1 l2_mib=4\n"
                                       "G sms=1 lik=L4\n"
                                       "Good like=L4\n");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *problem = devices_problem(t, (int)i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(problem);
        CU_ASSERT_PTR_NOT_NULL(strstr(problem, words[i]));
        if (!strstr(problem, words[i]))
            printf("# wanted %s in: %s\n", words[i], problem);
    }
    CU_ASSERT_PTR_NULL(devices_problem(t, (int)(sizeof words / sizeof *words)));
    CU_ASSERT_EQUAL(get(t, "good")->sms, 58);
    devices_free(t);
}

/* What is called by a name that is ours, or means ours, is not taken in. */
static void test_names_of_ours(void)
{
    static const char *const names[] = {"L4", "nvidia l4", "H100", "h100-sxm"};
    struct device_table *t = with_file("L4 like=L4 dram_gbs=250\nnvidia l4 sms=1\n"
                                       "H100 sms=1\nh100-sxm like=L4\nmine like=L4 sms=3\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *problem = devices_problem(t, (int)i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(problem);
        CU_ASSERT_PTR_NOT_NULL(strstr(problem, "a device of this program"));
        CU_ASSERT_FALSE(get(t, names[i])->user);
    }
    CU_ASSERT_NOT_EQUAL(get(t, "L4")->dram_gbs, 250);
    CU_ASSERT_NOT_EQUAL(get(t, "H100")->sms, 1);
    CU_ASSERT_EQUAL(get(t, "mine")->sms, 3);
    devices_free(t);
}

static void test_peak(void)
{
    struct device_table *t = devices_new();
    const struct device *d = get(t, "L4");
    const char *unit;
    CU_ASSERT_EQUAL(device_peak(d, DTYPE_F16, true, &unit), 121);
    CU_ASSERT_STRING_EQUAL(unit, "tensor");
    CU_ASSERT_EQUAL(device_peak(d, DTYPE_F32, true, &unit), 60);
    CU_ASSERT_STRING_EQUAL(unit, "tf32");
    CU_ASSERT_EQUAL(device_peak(d, DTYPE_F16, false, &unit), 30.3);
    CU_ASSERT_STRING_EQUAL(unit, "fp32");
    devices_free(t);
}

static const struct tap_test tests[] = {
    {"rates follow from SMs, lanes and clocks within 1.5 %", test_rates},
    {"the table is complete and finds its own rows", test_table_is_sane},
    {"limits for every compute capability", test_architectures},
    {"names as people and drivers write them", test_names},
    {"a name of ours stays ours", test_names_of_ours},
    {"an unknown name gets the nearest one", test_unknown_name},
    {"the user's devices", test_user_devices},
    {"bad lines are named and skipped", test_bad_lines},
    {"the peak follows dtype and unit", test_peak},
};

int main(void)
{
    setenv("XDG_CONFIG_HOME", NOWHERE, 1);
    return tap_run("device", tests, sizeof tests / sizeof *tests);
}
