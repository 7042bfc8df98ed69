/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "hip_facts.h"
#include "vendor/driver.h"
#include "vendor/rtc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef KWHY_HAVE_HIP_H

static const struct {
	const char *name;
	long value;
} ours[HIP_FACT_COUNT] = {
#define X(ours, theirs) {#ours, (long)(ours)},
	HIP_FACTS(X)
#undef X
};

static void our_numbers_agree_with_the_vendor_s_header(void **state)
{
	(void)state;
	for (int fact = 0; fact < HIP_FACT_COUNT; fact++)
		if (ours[fact].value != hip_vendor_facts[fact])
			fail_msg("%s is %ld, the header says %ld", ours[fact].name, ours[fact].value,
				hip_vendor_facts[fact]);
}

/* Without a GPU HIP does not start. If HIP reports that, the library has every call that kwhy needs. */
static void the_vendor_s_libraries_have_the_calls_that_we_make(void **state)
{
	struct kwhy_driver driver;
	struct kwhy_error error;
	struct kwhy_rtc rtc;

	(void)state;
	if (kwhy_driver_open(KWHY_DRIVER_HIP, &driver, &error) == KWHY_OK) {
		kwhy_driver_close(&driver);
	} else {
		if (strstr(error.text, "is not here"))
			kwhy_skip(error.text);
		assert_non_null(strstr(error.text, "HIP does not start: no GPU"));
	}
	assert_int_equal(kwhy_rtc_open(KWHY_DRIVER_HIP, &rtc, &error), KWHY_OK);
	kwhy_rtc_close(&rtc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_numbers_agree_with_the_vendor_s_header),
		cmocka_unit_test(the_vendor_s_libraries_have_the_calls_that_we_make),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

#else

int main(void)
{
	return kwhy_skip_all("no hip_runtime_api.h here");
}

#endif
