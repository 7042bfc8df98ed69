/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_clock.h"
#include "host_meters.h"

#define MS INT64_C(1000000)
#define MONO (50000 * MS)
#define OFFSET INT64_C(1795245000000000000)

static struct fake_clock fake;

/*
 * Returns a row of a meter file: Unix time, after_ms after the start of the fake clock, then `rest`. Valid
 * for the next seven calls.
 */
static const char *row(int64_t after_ms, const char *rest)
{
	static char text[8][128];
	static size_t next;
	char *out = text[next++ % 8];

	snprintf(out, sizeof(text[0]), "%lld,%s\n", (long long)(MONO + OFFSET + after_ms * MS), rest);
	return out;
}

static int setup(void **state)
{
	host_setup(state);
	fake_clock_init(&fake, MONO, OFFSET);
	return 0;
}

static int teardown(void **state)
{
	fake_clock_done(&fake);
	return host_teardown(state);
}

static void append(struct host *host, const char *text)
{
	temporary_write(&host->folder, "wall.csv", "a", text);
}

static enum kwhy_status try_open(struct host *host)
{
	static const char *files[1];

	files[0] = temporary_path(&host->folder, "wall.csv");
	host->request.without_host = true;
	host->request.meter_files = files;
	host->request.meter_file_count = 1;
	host->request.clock = &fake.clock;
	return kwhy_sensors_open(&host->request, &host->sensors, &host->error);
}

static void begin(struct host *host)
{
	append(host, "time_ns,source,value\n");
	assert_int_equal(try_open(host), KWHY_OK);
}

static uint64_t written(const struct host *host)
{
	return host->sensors->sources[0].channel.written;
}

static uint64_t failures(const struct host *host)
{
	return host->sensors->sources[0].failures;
}

static void rows_come_as_the_file_grows_and_half_a_row_waits_for_the_rest(void **state)
{
	struct host *host = *state;
	struct kwhy_reading last;

	begin(host);
	host_read(host, MONO);
	assert_int_equal(written(host), 0);
	append(host, row(-10, "meter_mw,65000"));
	append(host, "17952450500000");
	host_read(host, MONO);
	assert_int_equal(written(host), 1);
	append(host, "10000,meter_mw,66000\n# a comment\n");
	host_read(host, MONO);
	assert_int_equal(written(host), 2);
	assert_int_equal(failures(host), 0);
	assert_true(kwhy_channel_last(&host->sensors->sources[0].channel, &last));
	assert_int_equal(last.value, 66000);
	assert_int_equal(last.time_mono_ns, MONO + 10000);
}

static void rows_older_than_the_channel_remembers_are_passed_over(void **state)
{
	struct host *host = *state;

	begin(host);
	append(host, row(-61000, "meter_mw,1"));
	append(host, row(-59000, "meter_mw,2"));
	host_read(host, MONO);
	assert_int_equal(written(host), 1);
	assert_int_equal(failures(host), 0);
}

static void rows_that_come_with_times_of_another_clock_are_counted(void **state)
{
	struct host *host = *state;

	begin(host);
	host_read(host, MONO);
	append(host, row(-3600000, "meter_mw,1"));
	append(host, row(3600000, "meter_mw,2"));
	append(host, row(500, "meter_mw,3"));
	host_read(host, MONO);
	assert_int_equal(written(host), 1);
	assert_int_equal(failures(host), 2);
}

static void lines_that_are_no_rows_are_counted_and_the_next_is_read(void **state)
{
	struct host *host = *state;
	char line[6000];

	begin(host);
	append(host, "nonsense\n");
	append(host, row(0, "nvml.sample_mw,5"));
	append(host, row(0, "rapl.package-0_uj,5"));
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	append(host, line);
	append(host, row(1, "meter_mw,5"));
	host_read(host, MONO);
	assert_int_equal(written(host), 1);
	assert_int_equal(failures(host), 4);
	assert_int_equal(host->sensors->sources[0].bad_line, 2);
}

static void the_first_bad_line_is_kept_with_its_number_one_too_long_counted(void **state)
{
	struct host *host = *state;
	char line[6000];

	begin(host);
	append(host, row(0, "meter_mw,5"));
	host_read(host, MONO);
	assert_int_equal(host->sensors->sources[0].bad_line, 0);
	memset(line, '#', sizeof(line));
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	append(host, line);
	append(host, "nonsense\n");
	host_read(host, MONO);
	assert_int_equal(host->sensors->sources[0].bad_line, 3);
	assert_int_equal(failures(host), 2);
}

static void a_file_that_is_cut_or_replaced_is_read_from_its_start(void **state)
{
	struct host *host = *state;

	begin(host);
	append(host, row(1, "meter_mw,5"));
	host_read(host, MONO);
	assert_int_equal(truncate(temporary_path(&host->folder, "wall.csv"), 0), 0);
	host_read(host, MONO);
	append(host, "value,time_ns,source\n");
	append(host, "7,1795245050000000000,meter_mw\n");
	host_read(host, MONO);
	assert_int_equal(written(host), 2);
	assert_int_equal(remove(temporary_path(&host->folder, "wall.csv")), 0);
	host_read(host, MONO);
	append(host, "time_ns,source,value\n");
	append(host, row(2, "meter_mw,8"));
	host_read(host, MONO);
	assert_int_equal(written(host), 3);
	assert_int_equal(failures(host), 0);
}

/*
 * As with logrotate, the writer goes on in the renamed file until it opens a new one of the old name. Both
 * must be read to their ends.
 */
static void a_file_that_is_renamed_is_read_to_its_end_and_then_the_one_that_has_its_name(void **state)
{
	struct host *host = *state;
	struct kwhy_reading last;
	char old[300];

	begin(host);
	append(host, row(1, "meter_mw,5"));
	host_read(host, MONO);
	snprintf(old, sizeof(old), "%s", temporary_path(&host->folder, "wall.csv.1"));
	assert_int_equal(rename(temporary_path(&host->folder, "wall.csv"), old), 0);
	temporary_write(&host->folder, "wall.csv.1", "a", row(2, "meter_mw,6"));
	host_read(host, MONO);
	assert_int_equal(written(host), 2);
	temporary_write(&host->folder, "wall.csv.1", "a", row(3, "meter_mw,7"));
	append(host, "time_ns,source,value\n");
	append(host, row(4, "meter_mw,8"));
	host_read(host, MONO);
	assert_int_equal(written(host), 4);
	assert_true(kwhy_channel_last(&host->sensors->sources[0].channel, &last));
	assert_int_equal(last.value, 8);
	assert_int_equal(failures(host), 0);
}

/*
 * The file is removed after a row was added. The row can only be read by the descriptor that is still open,
 * and must be.
 */
static void a_file_that_is_removed_is_read_to_its_end(void **state)
{
	struct host *host = *state;

	begin(host);
	host_read(host, MONO);
	append(host, row(1, "meter_mw,5"));
	assert_int_equal(remove(temporary_path(&host->folder, "wall.csv")), 0);
	host_read(host, MONO);
	assert_int_equal(written(host), 1);
}

static void a_file_that_is_not_there_or_names_no_columns_is_refused(void **state)
{
	struct host *host = *state;

	assert_int_equal(try_open(host), KWHY_E_INPUT);
	assert_non_null(strstr(host->error.text, "cannot read the meter's file"));
	append(host, "# a meter\n\n1795245050000000000,meter_mw,1\n");
	assert_int_equal(try_open(host), KWHY_E_INPUT);
	assert_non_null(strstr(host->error.text, "line 3"));
	assert_non_null(strstr(host->error.text, "time_ns,device,source,value"));
}

static void a_file_whose_first_row_is_of_another_source_is_refused_with_the_one_to_write(void **state)
{
	struct host *host = *state;

	append(host, "time_ns,device,source,value\n");
	append(host, row(0, ",wall.power_mw,9"));
	assert_int_equal(try_open(host), KWHY_E_INPUT);
	assert_non_null(strstr(host->error.text, "line 2: \"wall.power_mw\" is no source"));
	assert_non_null(strstr(host->error.text, "meter_mw"));
	temporary_write(&host->folder, "wall.csv", "w", "time_ns,device,source,value\n");
	append(host, row(0, ",rapl.package-0_uj,9"));
	assert_int_equal(try_open(host), KWHY_E_INPUT);
	assert_non_null(strstr(host->error.text, "not a wall meter; write the source meter_mw"));
	temporary_write(&host->folder, "wall.csv", "w", "time_ns,device,source,value\n");
	append(host, row(0, "0,meter_mw,9"));
	assert_int_equal(try_open(host), KWHY_E_INPUT);
	assert_non_null(strstr(host->error.text, "of device 0"));
}

static void an_empty_file_may_begin_later(void **state)
{
	struct host *host = *state;

	append(host, "");
	assert_int_equal(try_open(host), KWHY_OK);
	host_read(host, MONO);
	append(host, "time_ns,device,source,value\n");
	append(host, row(0, ",meter_mw,9"));
	append(host, row(0, "0,meter_mw,9")); /* refused: a device in a meter file of the machine */
	host_read(host, MONO);
	assert_int_equal(written(host), 1);
	assert_int_equal(failures(host), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(rows_come_as_the_file_grows_and_half_a_row_waits_for_the_rest),
		TEST(rows_older_than_the_channel_remembers_are_passed_over),
		TEST(rows_that_come_with_times_of_another_clock_are_counted),
		TEST(lines_that_are_no_rows_are_counted_and_the_next_is_read),
		TEST(the_first_bad_line_is_kept_with_its_number_one_too_long_counted),
		TEST(a_file_that_is_cut_or_replaced_is_read_from_its_start),
		TEST(a_file_that_is_renamed_is_read_to_its_end_and_then_the_one_that_has_its_name),
		TEST(a_file_that_is_removed_is_read_to_its_end),
		TEST(a_file_that_is_not_there_or_names_no_columns_is_refused),
		TEST(a_file_whose_first_row_is_of_another_source_is_refused_with_the_one_to_write),
		TEST(an_empty_file_may_begin_later),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
