/* The ceilings of a device: kept, merged, read back, held against the data sheet, and looked up by device.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "home.h"
#include "store/ceilings.h"

static struct device_table *devices;

static const struct device *device(const char *name)
{
    const struct device *d = NULL;
    CU_ASSERT_EQUAL_FATAL(devices_get(devices, name, &d, NULL), ST_OK);
    return d;
}

static struct peak of_h200(double f16, double clock)
{
    struct peak p;
    peak_init(&p);
    p.device = xstrdup("NVIDIA H200");
    p.backend = xstrdup("cuda");
    p.time = xstrdup("2026-01-01T00:00:00Z");
    struct ceiling *c = peak_put(&p, PEAK_MMA_F16, f16);
    c->clock_mhz = clock;
    c->held = xstrdup("power");
    peak_put(&p, PEAK_DRAM, 4300);
    peak_put(&p, PEAK_FMA_ALL, 60000)->clock_mhz = 1980;
    return p;
}

static void test_json(void)
{
    struct peak p = of_h200(700, 1400), q;
    struct err err = ERR_INIT;
    json_t *o = peak_to_json(&p);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(o, "ceilings")), 3);
    CU_ASSERT_EQUAL(peak_from_json(&q, o, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(q.device, "NVIDIA H200");
    CU_ASSERT_EQUAL(q.at[PEAK_MMA_F16].value, 700);
    CU_ASSERT_STRING_EQUAL(q.at[PEAK_MMA_F16].held, "power");
    CU_ASSERT(isnan(q.at[PEAK_L2].value));
    peak_clear(&q);
    json_array_append_new(json_object_get(o, "ceilings"), json_pack("{s:s}", "name", "from_later"));
    CU_ASSERT_EQUAL(peak_from_json(&q, o, &err), ST_OK); /* a later version's figure */
    peak_clear(&q);
    json_object_set_new(json_array_get(json_object_get(o, "ceilings"), 0), "value",
                        json_string("much"));
    CU_ASSERT_EQUAL(peak_from_json(&q, o, &err), ST_USAGE);
    json_object_del(o, "ceilings");
    CU_ASSERT_EQUAL(peak_from_json(&q, o, &err), ST_USAGE);
    json_decref(o);
    peak_clear(&p);
}

/* The better of two tries: the higher rate, the shorter time. */
static void test_merge(void)
{
    struct peak p = of_h200(700, 1400), q = of_h200(800, 1500);
    peak_put(&p, PEAK_LAUNCH_GRAPH, 0.6);
    peak_put(&q, PEAK_LAUNCH_GRAPH, 0.5);
    peak_put(&q, PEAK_L2, 5000);
    q.at[PEAK_DRAM].value = 4000;
    peak_merge(&p, &q);
    CU_ASSERT_EQUAL(p.at[PEAK_MMA_F16].value, 800);
    CU_ASSERT_EQUAL(p.at[PEAK_MMA_F16].clock_mhz, 1500);
    CU_ASSERT_DOUBLE_EQUAL(p.at[PEAK_MMA_F16].spread_pct, 14.2857, 1e-3);
    CU_ASSERT_EQUAL(p.at[PEAK_DRAM].value, 4300);
    CU_ASSERT_EQUAL(p.at[PEAK_LAUNCH_GRAPH].value, 0.5);
    CU_ASSERT_EQUAL(p.at[PEAK_L2].value, 5000);
    peak_clear(&p);
}

static void test_sheet(void)
{
    const struct device *d = device("H200");
    double clock;
    CU_ASSERT_DOUBLE_EQUAL(peak_sheet(d, PEAK_MMA_F16, &clock), 989.4, 0.1);
    CU_ASSERT_EQUAL(clock, 1830);
    CU_ASSERT_EQUAL(peak_sheet(d, PEAK_COPY, &clock), 4800);
    CU_ASSERT(isnan(clock));
    CU_ASSERT_DOUBLE_EQUAL(peak_sheet(d, PEAK_SMEM, &clock), 132 * 128 * 1.98, 1);
    CU_ASSERT_DOUBLE_EQUAL(peak_sheet(d, PEAK_EXP2, &clock), 132 * 16 * 1.98, 1);
    CU_ASSERT(isnan(peak_sheet(d, PEAK_LAUNCH_HOST, &clock)));
    d = device("MI300X"); /* no CUDA device: its SMs are not known */
    CU_ASSERT(isnan(peak_sheet(d, PEAK_SMEM, &clock)));
}

static void test_tflops(void)
{
    struct peak p = of_h200(700, 1400);
    const struct ceiling *c;
    CU_ASSERT_EQUAL(peak_tflops(&p, DTYPE_F16, "tensor", NAN, &c), 700);
    CU_ASSERT_PTR_EQUAL(c, &p.at[PEAK_MMA_F16]);
    CU_ASSERT_EQUAL(peak_tflops(&p, DTYPE_F16, "tensor", 700, &c), 350);
    peak_put(&p, PEAK_GEMM_F16, 750);
    CU_ASSERT_EQUAL(peak_tflops(&p, DTYPE_F16, "tensor", 700, &c),
                    750); /* its clock is not known */
    CU_ASSERT_DOUBLE_EQUAL(peak_tflops(&p, DTYPE_F32, "fp32", NAN, &c), 60, 1e-9);
    CU_ASSERT(isnan(peak_tflops(&p, DTYPE_BF16, "tensor", NAN, &c)));
    CU_ASSERT_PTR_NULL(c);
    CU_ASSERT(isnan(peak_tflops(&p, DTYPE_F32, "tf32", NAN, &c)));
    CU_ASSERT(isnan(peak_tflops(&p, DTYPE_F16, NULL, NAN, &c)));
    peak_clear(&p);
}

/* Kept by device, the user's own before what is shipped; lessons see what is shipped alone. */
static void test_kept(void)
{
    struct library *l = library_new();
    struct ceilings *c = ceilings_new(l, devices);
    struct peak p = of_h200(711, 1400);
    struct err err = ERR_INIT;
    bool own = false;
    CU_ASSERT_PTR_NULL(ceilings_of(c, "Radeon", &own));
    CU_ASSERT_EQUAL(ceilings_keep(c, &p, &err), ST_OK);
    const struct peak *found = ceilings_of(c, "NVIDIA H200", &own);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CU_ASSERT(own && found->at[PEAK_MMA_F16].value == 711);
    CU_ASSERT_PTR_EQUAL(found, ceilings_find(c, device("H200"), NULL));
    CU_ASSERT_PTR_NULL(ceilings_find(c, device("T4"), NULL));
    (void)library_look(l, LIBRARY_LESSONS);
    found = ceilings_find(c, device("H200"), &own);
    CU_ASSERT(!found || !own);
    (void)library_look(l, LIBRARY_ALL);
    peak_put(&p, PEAK_MMA_F16, 722); /* anew, in place of the old one */
    CU_ASSERT_EQUAL(ceilings_keep(c, &p, &err), ST_OK);
    found = ceilings_find(c, device("H200"), &own);
    CU_ASSERT(found && found->at[PEAK_MMA_F16].value == 722);
    peak_clear(&p);
    /* several devices: each has its own, wherever in the list it is */
    for (int i = 0; i < 2; i++) {
        struct peak other = of_h200(i ? 333 : 222, 1400);
        free(other.device);
        other.device = xstrdup(i ? "NVIDIA A100-SXM4-80GB" : "NVIDIA L4");
        CU_ASSERT_EQUAL(ceilings_keep(c, &other, &err), ST_OK);
        peak_clear(&other);
    }
    found = ceilings_find(c, device("L4"), &own);
    CU_ASSERT(own && found && found->at[PEAK_MMA_F16].value == 222);
    found = ceilings_find(c, device("A100"), &own);
    CU_ASSERT(own && found && found->at[PEAK_MMA_F16].value == 333);
    found = ceilings_find(c, device("H200"), &own);
    CU_ASSERT(own && found && found->at[PEAK_MMA_F16].value == 722);
    CU_ASSERT_PTR_NULL(ceilings_find(c, device("T4"), NULL));
    CU_ASSERT_PTR_NULL(ceilings_find(c, NULL, NULL));
    found = ceilings_shipped(c, device("H200")); /* never the user's */
    CU_ASSERT(found && found->at[PEAK_MMA_F16].value != 722);
    CU_ASSERT_PTR_NULL(ceilings_shipped(c, device("T4")));
    CU_ASSERT_PTR_NULL(ceilings_shipped(c, NULL));
    /* two names of one GPU: the newer measurement, whichever file is read first */
    static const char *const devices_of_one[] = {"H200", "NVIDIA H200", "H200"};
    for (int i = 0; i < 3; i++) {
        struct peak other = of_h200(801 + i, 1400);
        free(other.device);
        other.device = xstrdup(devices_of_one[i]);
        other.time[3] = (char)('7' + i); /* 2027, 2028, 2029 */
        CU_ASSERT_EQUAL(ceilings_keep(c, &other, &err), ST_OK);
        peak_clear(&other);
        found = ceilings_find(c, device("H200"), &own);
        CU_ASSERT(own && found && found->at[PEAK_MMA_F16].value == 801 + i);
    }
    /* A CPU is in no table: its name says threads and instructions, and all must be the same. */
    peak_init(&p);
    p.device = xstrdup("Some CPU, 2 threads, AVX-512");
    p.backend = xstrdup("cpu");
    peak_put(&p, PEAK_FMA_ALL, 200);
    CU_ASSERT_EQUAL(ceilings_keep(c, &p, &err), ST_OK);
    found = ceilings_of(c, "Some CPU, 2 threads, AVX-512", &own);
    CU_ASSERT(own && found && found->at[PEAK_FMA_ALL].value == 200);
    CU_ASSERT_PTR_NULL(ceilings_of(c, "Some CPU, 1 thread, AVX-512", &own));
    (void)library_look(l, LIBRARY_LESSONS);
    CU_ASSERT_PTR_NULL(ceilings_of(c, "Some CPU, 2 threads, AVX-512", &own));
    peak_clear(&p);
    ceilings_free(c);
    library_free(l);
}

/* Files that are none, or that want to write to the terminal. */
static void test_hostile(void)
{
    struct library *l = library_new();
    home_write("ceilings/a.json", "{");
    home_write("ceilings/b.json", "[]");
    home_write("ceilings/c.json", "{\"ceilings\": [3, null, {\"name\": 5}], \"device\": 7}");
    home_write("ceilings/d.json",
               "{\"ceilings\": [{\"name\": \"dram_gbytes_per_s\", \"value\": 1.0, \"held\": "
               "\"\\u001b[2J\"}], \"device\": \"NVIDIA T4\", \"time\": \"2026\"}");
    struct ceilings *c = ceilings_new(l, devices);
    const struct peak *p = ceilings_find(c, device("T4"), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    CU_ASSERT_EQUAL(p->at[PEAK_DRAM].value, 1);
    CU_ASSERT_PTR_NULL(strchr(p->at[PEAK_DRAM].held, 27));
    ceilings_free(c);
    library_free(l);
}

static const struct tap_test tests[] = {
    {"as JSON and back", test_json},
    {"of two tries the better counts", test_merge},
    {"beside the data sheet", test_sheet},
    {"the rate of a kernel's units, at a clock", test_tflops},
    {"kept and found by device", test_kept},
    {"files that are none", test_hostile},
};

int main(void)
{
    devices = devices_new();
    const int rc = home_run("peak", NULL, tests, sizeof tests / sizeof *tests);
    devices_free(devices);
    return rc;
}
