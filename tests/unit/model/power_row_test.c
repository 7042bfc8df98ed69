/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/power_row.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_power_row row;
static struct kwhy_power_wrong wrong;

static bool read(const char *time, const char *device, const char *source, const char *value)
{
	const char *const texts[] = {time, device, source, value};
	struct kwhy_span fields[KWHY_POWER_COLUMN_COUNT];

	for (size_t i = 0; i < KWHY_POWER_COLUMN_COUNT; i++)
		fields[i] = (struct kwhy_span){texts[i], strlen(texts[i])};
	return kwhy_power_row_read(fields, &row, &wrong);
}

static void refused(enum kwhy_power_column column, const char *time, const char *device, const char *source,
	const char *value)
{
	assert_false(read(time, device, source, value));
	assert_int_equal(wrong.column, column);
	assert_true(wrong.words[0]);
}

static void numbers_are_read_up_to_their_bounds(void **state)
{
	static const char source[] = "nvml.sample_mw", counter[] = "nvml.energy_mj";

	(void)state;
	assert_true(read("7", "0", source, "0"));
	assert_int_equal(row.device, 0);
	assert_int_equal(row.value, 0);
	assert_true(read("7", "1023", source, "1000000000"));
	assert_int_equal(row.device, 1023);
	assert_int_equal(row.value, 1000000000);
	refused(KWHY_POWER_COLUMN_DEVICE, "7", "1024", source, "1");
	refused(KWHY_POWER_COLUMN_DEVICE, "7", "-1", source, "1");
	refused(KWHY_POWER_COLUMN_VALUE, "7", "0", source, "1000000001");
	refused(KWHY_POWER_COLUMN_VALUE, "7", "0", source, "-1");
	assert_true(read("7", "0", counter, "1000000000000000000"));
	assert_int_equal(row.value, 1000000000000000000);
	refused(KWHY_POWER_COLUMN_VALUE, "7", "0", counter, "1000000000000000001");
	assert_true(read("-9223372034854775808", "0", source, "1"));
	assert_true(row.time_ns == INT64_MIN + 2000000000);
	refused(KWHY_POWER_COLUMN_TIME, "-9223372034854775809", "0", source, "1");
}

static void who_needs_a_device_must_name_it(void **state)
{
	(void)state;
	refused(KWHY_POWER_COLUMN_DEVICE, "7", "", "nvml.sample_mw", "1");
	assert_true(read("7", "", "meter_mw", "1"));
	assert_int_equal(row.device, -1);
	assert_true(read("7", "3", "meter_mw", "1"));
	assert_int_equal(row.device, 3);
	/* RAPL belongs to no device, so a device number in its row is ignored */
	assert_true(read("7", "", "rapl.package-0_uj", "1"));
	assert_true(read("7", "3", "rapl.package-0_uj", "1"));
	assert_int_equal(row.device, -1);
	refused(KWHY_POWER_COLUMN_DEVICE, "7", "x", "rapl.package-0_uj", "1");
}

static void a_row_without_a_value_has_no_reading(void **state)
{
	(void)state;
	assert_true(read("7", "0", "nvml.sample_mw", ""));
	assert_false(row.has_value);
	refused(KWHY_POWER_COLUMN_TIME, "", "0", "nvml.sample_mw", "1");
}

static void an_unknown_source_is_refused_with_the_choices(void **state)
{
	(void)state;
	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		refused(KWHY_POWER_COLUMN_SOURCE, "7", "0", "watts", "1");
		assert_non_null(strstr(wrong.words, kwhy_meter_name(meter)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_up_to_their_bounds),
		cmocka_unit_test(who_needs_a_device_must_name_it),
		cmocka_unit_test(a_row_without_a_value_has_no_reading),
		cmocka_unit_test(an_unknown_source_is_refused_with_the_choices),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
