/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "sensor/power_line.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_error error;
static enum kwhy_power_item item;
static struct kwhy_power_row row;

static enum kwhy_status take(struct kwhy_power_lines *lines, const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "%s", text);
	return kwhy_power_line_take(lines, line, strlen(line), &item, &row, &error);
}

static struct kwhy_power_lines begun(const char *names)
{
	struct kwhy_power_lines lines = {.path = "wall.csv"};

	assert_int_equal(take(&lines, names), KWHY_OK);
	assert_int_equal(item, KWHY_POWER_NOTHING);
	return lines;
}

static void rows_are_read_by_the_names_of_their_columns(void **state)
{
	struct kwhy_power_lines lines = begun("\xEF\xBB\xBFvalue, source,note,time_ns,device\r");

	(void)state;
	assert_int_equal(take(&lines, " 121500 ,nvml.sample_mw,x,1795245133500000000,3\r"), KWHY_OK);
	assert_int_equal(item, KWHY_POWER_ROW);
	assert_int_equal(row.meter, KWHY_METER_NVML_SAMPLE);
	assert_int_equal(row.device, 3);
	assert_int_equal(row.time_ns, INT64_C(1795245133500000000));
	assert_int_equal(row.value, 121500);
	assert_int_equal(take(&lines, "7,rapl.package-12_uj,,1795245133500000001,3"), KWHY_OK);
	assert_int_equal(row.meter, KWHY_METER_RAPL_PACKAGE);
	assert_int_equal(row.domain, 12);
	assert_int_equal(row.device, -1);
}

static void fields_may_be_quoted_and_decimals_may_be_zeros(void **state)
{
	struct kwhy_power_lines lines = begun("\"time_ns\",\"source\",\"note, if any\",value");

	(void)state;
	assert_int_equal(
		take(&lines, "1795245133500000000,\"meter_mw\",\"a \"\"b\"\", c\",65000.0"), KWHY_OK);
	assert_int_equal(item, KWHY_POWER_ROW);
	assert_int_equal(row.meter, KWHY_METER_WALL);
	assert_int_equal(row.value, 65000);
}

static void comments_empty_lines_and_rows_without_a_value_say_nothing(void **state)
{
	struct kwhy_power_lines lines = begun("time_ns,source,value");

	(void)state;
	assert_int_equal(take(&lines, "# clock of the meter: NTP"), KWHY_OK);
	assert_int_equal(item, KWHY_POWER_NOTHING);
	assert_int_equal(take(&lines, "  \r"), KWHY_OK);
	assert_int_equal(item, KWHY_POWER_NOTHING);
	assert_int_equal(take(&lines, "1795245133500000000,meter_mw,"), KWHY_OK);
	assert_int_equal(item, KWHY_POWER_NOTHING);
	assert_int_equal(take(&lines, "1795245133500000000,meter_mw,65000"), KWHY_OK);
	assert_int_equal(item, KWHY_POWER_ROW);
	assert_int_equal(row.device, -1);
}

static void what_is_wrong_is_refused_with_its_line_and_the_next_is_taken(void **state)
{
	static const struct {
		const char *line, *words;
	} cases[] = {
		{"1795245133500000000,0,nvml.watts,1", "wall.csv, line 2: \"nvml.watts\" is no source"},
		{"1795245133500000000,0,rapl.package-_uj,1", "is no source"},
		{"1795245133500000000,0,rapl.package-99999999999_uj,1", "is no source"},
		{"1795245133500000000,,nvml.sample_mw,1", "is no device; only the host's"},
		{"1795245133500000000,-1,nvml.sample_mw,1", "\"-1\" is not between 0 and 1023"},
		{"1795245133500000000,1024,nvml.sample_mw,1", "is not between 0 and 1023"},
		{"1795245133,0,nvml.sample_mw,1", "\"1795245133\" is no Unix time in whole nanoseconds"},
		{"99999999999999999999,0,nvml.sample_mw,1", "is not between"},
		{",0,nvml.sample_mw,1", "is not a time"},
		{"1795245133500000000,0,nvml.sample_mw,-5", "\"-5\" is not between 0 and 1000000000"},
		{"1795245133500000000,0,nvml.sample_mw,5.5", "\"5.5\" is not whole"},
		{"1795245133500000000,0,nvml.sample_mw,nan", "\"nan\" is not a whole number"},
		{"1795245133500000000,0,nvml.sample_mw,1000000001", "is not between"},
		{"1795245133500000000,0,nvml.sample_mw", "has not as many fields"},
		{"1795245133500000000,0,nvml.sample_mw,1,1", "has not as many fields"},
		{"1795245133500000000,0,\"nvml.sample_mw,1", "a quoted field does not end"},
		{"\x01\xff,0,nvml.sample_mw,1", "is not a whole number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_power_lines lines = begun("time_ns,device,source,value");

		assert_int_equal(take(&lines, cases[i].line), KWHY_E_INPUT);
		assert_int_equal(item, KWHY_POWER_NOTHING);
		if (!strstr(error.text, cases[i].words))
			fail_msg("%s", error.text);
		assert_int_equal(take(&lines, "1795245133500000000,0,nvml.sample_mw,1"), KWHY_OK);
		assert_int_equal(item, KWHY_POWER_ROW);
	}
}

static void a_file_that_does_not_name_its_columns_is_refused(void **state)
{
	static const char *const firsts[] = {"1795245133500000000,0,meter_mw,1", "time_ns,device,value",
		"time_ns,source", "a", "time_ns value source", "time_ns,source,value,value"};

	(void)state;
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		struct kwhy_power_lines lines = {.path = "wall.csv"};

		assert_int_equal(take(&lines, firsts[i]), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "begin the file with time_ns,device,source,value"));
		assert_int_equal(lines.columns, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read_by_the_names_of_their_columns),
		cmocka_unit_test(fields_may_be_quoted_and_decimals_may_be_zeros),
		cmocka_unit_test(comments_empty_lines_and_rows_without_a_value_say_nothing),
		cmocka_unit_test(what_is_wrong_is_refused_with_its_line_and_the_next_is_taken),
		cmocka_unit_test(a_file_that_does_not_name_its_columns_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
