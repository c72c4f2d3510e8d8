/* The time model's factors: kept by GPU, before what is shipped; lessons see what is shipped; a file that is none is told.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/calibrations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/record.h"
#include "home.h"

static struct device_table *devices;

static const struct device *device(const char *name)
{
    const struct device *d = NULL;
    CU_ASSERT_EQUAL_FATAL(devices_get(devices, name, &d, NULL), ST_OK);
    return d;
}

static void keep(struct calibrations *c, const char *gpu, double kernels_pct)
{
    struct calibration x;
    struct err err = ERR_INIT;
    char *path = NULL;
    record_init(calibration_fields, &x);
    x.factors = predict_unfitted;
    x.gpu = xstrdup(gpu);
    x.recording = xstrdup("mine.rec");
    x.kernels_pct = kernels_pct;
    x.kernels_most_pct = 3 * kernels_pct;
    CU_ASSERT_EQUAL(calibrations_keep(c, &x, &path, &err), ST_OK);
    CU_ASSERT(path && strstr(path, "/calibrations/") && access(path, R_OK) == 0);
    calibration_clear(&x);
    free(path);
}

static double error_of(struct calibrations *c, const char *gpu, enum whose_is *is)
{
    struct whose whose;
    const struct calibration *x = calibrations_find(c, gpu ? device(gpu) : NULL, &whose);
    *is = whose.is;
    return x->kernels_pct;
}

static void test_kept(void)
{
    struct library *l = library_new();
    struct calibrations *c = calibrations_new(l, devices);
    enum whose_is is;
    const double shipped = error_of(c, "H200", &is), none = error_of(c, "T4", &is);
    CU_ASSERT(calibration_is_fitted(calibrations_find(c, device("H200"), NULL)));
    CU_ASSERT_FALSE(calibration_is_fitted(calibrations_find(c, device("T4"), NULL)));
    CU_ASSERT(is == WHOSE_SHIPPED && none != shipped);
    CU_ASSERT_EQUAL(error_of(c, NULL, &is), none);
    keep(c, "L4", 7);
    keep(c, "H200", 5);
    keep(c, "A100", 6);
    CU_ASSERT(error_of(c, "L4", &is) == 7 && is == WHOSE_YOURS);
    CU_ASSERT(error_of(c, "H200", &is) == 5 && is == WHOSE_YOURS);
    CU_ASSERT(error_of(c, "A100", &is) == 6 && is == WHOSE_YOURS);
    CU_ASSERT(error_of(c, "T4", &is) == none && error_of(c, NULL, &is) == none);
    (void)library_look(l, LIBRARY_LESSONS); /* what everybody has */
    CU_ASSERT(error_of(c, "L4", &is) == none);
    CU_ASSERT(error_of(c, "H200", &is) == shipped && is == WHOSE_SHIPPED);
    (void)library_look(l, LIBRARY_ALL);
    keep(c, "L4", 8); /* anew, in place of the old ones */
    CU_ASSERT(error_of(c, "L4", &is) == 8);
    calibrations_free(c);
    c = calibrations_new(l, devices); /* another start */
    CU_ASSERT(error_of(c, "L4", &is) == 8 && error_of(c, "A100", &is) == 6);
    CU_ASSERT_PTR_NULL(calibrations_refused(c));
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(calibrations_drop(c, device("H200"), &err), ST_OK);
    CU_ASSERT(error_of(c, "H200", &is) == shipped && is == WHOSE_SHIPPED);
    CU_ASSERT(error_of(c, "L4", &is) == 8);
    CU_ASSERT_EQUAL(calibrations_drop(c, device("H200"), &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no factors of H200"));
    calibrations_free(c);
    library_free(l);
}

/* Not used, and told once, each with its file. */
static void test_refused(void)
{
    struct library *l = library_new();
    struct calibrations *c = calibrations_new(l, devices);
    enum whose_is is;
    keep(c, "A100", 6);
    keep(c, "L4", 8);
    struct err err = ERR_INIT;
    char *path = NULL;
    struct calibration without;
    record_init(calibration_fields, &without); /* no factor, no error */
    without.gpu = xstrdup("L4");
    without.recording = xstrdup("mine.rec");
    CU_ASSERT_EQUAL(calibrations_keep(c, &without, &path, &err), ST_OK);
    calibration_clear(&without);
    CU_ASSERT(error_of(c, "A100", &is) == 6);
    CU_ASSERT(error_of(c, "L4", &is) != 8 && is == WHOSE_SHIPPED);
    char *told = calibrations_refused(c);
    CU_ASSERT(told && strstr(told, "factors of L4 are not used") && strstr(told, path));
    CU_ASSERT(told && !strstr(told, "A100") && told[strlen(told) - 1] != '\n');
    free(told);
    CU_ASSERT_PTR_NULL(calibrations_refused(c)); /* asked before */
    calibrations_free(c);
    char *name = xasprintf("calibrations%s", strrchr(path, '/'));
    home_write(name, "{ no json");
    free(name);
    c = calibrations_new(l, devices);
    (void)error_of(c, "L4", &is);
    (void)library_look(l, LIBRARY_LESSONS);
    CU_ASSERT_PTR_NULL(calibrations_refused(c)); /* of no use there */
    (void)library_look(l, LIBRARY_ALL);
    told = calibrations_refused(c);
    CU_ASSERT(told && strstr(told, "it is no JSON"));
    free(told);
    calibrations_free(c);
    free(path);
    library_free(l);
}

static const struct tap_test tests[] = {
    {"kept by GPU", test_kept},
    {"files that are not used", test_refused},
};

int main(void)
{
    devices = devices_new();
    const int rc = home_run("calibrations", NULL, tests, sizeof tests / sizeof *tests);
    devices_free(devices);
    return rc;
}
