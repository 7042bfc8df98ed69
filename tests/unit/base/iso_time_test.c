/* SPDX-License-Identifier: Apache-2.0 */
#include "base/iso_time.h"

#include "cmocka_all.h"

static void a_time_is_utc_by_the_second(void **state)
{
	char text[KWHY_ISO_TIME_BYTES];

	(void)state;
	assert_string_equal(kwhy_iso_time(text, 0), "1970-01-01T00:00:00Z");
	assert_string_equal(kwhy_iso_time(text, INT64_C(1732183381999999999)), "2024-11-21T10:03:01Z");
	assert_string_equal(kwhy_iso_time(text, -1), "1969-12-31T23:59:59Z");
	assert_string_equal(kwhy_iso_time(text, INT64_MAX), "2262-04-11T23:47:16Z");
	assert_string_equal(kwhy_iso_time(text, INT64_MIN), "1677-09-21T00:12:43Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_utc_by_the_second),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
