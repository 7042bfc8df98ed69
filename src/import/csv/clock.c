/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv/clock.h"

#include "base/decimal.h"

#include <stdio.h>
#include <string.h>

enum { CLOCK_NAME_BYTES = 64 };

static const int64_t second_ns = 1000000000;
/* Converted times are clamped to +-farthest_ns, so that the difference of any two fits an int64_t. */
static const int64_t farthest_ns = INT64_MAX / 4;

void kwhy_csv_clock_init(struct kwhy_csv_clock *clock, struct kwhy_recording *recording)
{
	*clock = (struct kwhy_csv_clock){
		.recording = recording, .chooses = !kwhy_recording_has_times(recording)};
}

static enum kwhy_status line_wrong(const struct kwhy_csv *csv, const char *words, struct kwhy_error *error)
{
	return kwhy_csv_fail(csv, KWHY_CSV_COLUMNS_MAX, error, words);
}

enum kwhy_status kwhy_csv_clock_state(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	struct kwhy_span words, struct kwhy_error *error)
{
	static const char other[] = "other ";
	size_t length = sizeof(other) - 1;
	bool is_unix = words.length == 4 && !memcmp(words.bytes, "unix", 4);

	if (clock->started)
		return line_wrong(csv, "the clock is stated after the first time; move it to the top", error);
	clock->name = NULL;
	if (is_unix)
		return KWHY_OK;
	if (words.length <= length || words.length - length > CLOCK_NAME_BYTES ||
		memcmp(words.bytes, other, length) != 0)
		return line_wrong(csv, "write \"# clock unix\" or \"# clock other NAME\"", error);
	clock->name = kwhy_recording_copy(clock->recording, words.bytes + length, words.length - length);
	return clock->name ? KWHY_OK : kwhy_fail_memory(error, "the name of a clock");
}

static bool same_clock(const struct kwhy_csv_clock *clock)
{
	const char *name = clock->recording->clock_name;

	if (!clock->name)
		return clock->recording->unix_clock;
	return !clock->recording->unix_clock && name && !strcmp(name, clock->name);
}

static enum kwhy_status refuse_clock(
	const struct kwhy_csv_clock *clock, const struct kwhy_csv *csv, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = clock->recording;
	char words[512];

	if (recording->unix_clock)
		snprintf(words, sizeof(words),
			"its times are on another clock than the trace's, which are Unix times; write Unix "
			"nanoseconds and no \"# clock other\"");
	else if (recording->clock_name)
		snprintf(words, sizeof(words),
			"its times are on another clock than the trace's; if they count from the same time, "
			"state \"# clock other %s\"",
			recording->clock_name);
	else
		snprintf(words, sizeof(words),
			"its times cannot be aligned with %.200s, which has no Unix times; give that trace "
			"%s",
			recording->sources[0].path,
			recording->sources[0].format == KWHY_FORMAT_KINETO
				? "as export_chrome_trace() wrote it (\"baseTimeNanoseconds\" since PyTorch "
				  "2.4)"
				: "exported again with its TARGET_INFO_SESSION_START_TIME");
	return line_wrong(csv, words, error);
}

/*
 * Refuses a time that is evidently in microseconds: it would lie in 1970 if it were in nanoseconds, and lies
 * in this century if it is in microseconds.
 */
static enum kwhy_status check_unit(const struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	size_t column, int64_t time, struct kwhy_error *error)
{
	const char *unit = clock->name ? NULL : kwhy_decimal_unix_unit(time);

	if (!unit || strcmp(unit, "microseconds") != 0)
		return KWHY_OK;
	return kwhy_csv_fail(csv, column, error,
		"looks like Unix time in microseconds; write nanoseconds, or state \"# clock other NAME\"");
}

/*
 * Handles the first time of a file. If the recording has no times yet, the time sets the recording's origin
 * and clock; else a file with another clock than the recording's is refused.
 */
static enum kwhy_status start(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv, size_t column,
	int64_t time, struct kwhy_error *error)
{
	struct kwhy_recording *recording = clock->recording;
	enum kwhy_status status = check_unit(clock, csv, column, time, error);

	if (status)
		return status;
	if (!clock->chooses && !same_clock(clock))
		return refuse_clock(clock, csv, error);
	if (clock->chooses) {
		recording->origin_unix_ns = time - (time % second_ns + second_ns) % second_ns;
		recording->unix_clock = clock->name == NULL;
		recording->clock_name = clock->name;
		clock->chooses = false;
	}
	clock->started = true;
	return KWHY_OK;
}

/*
 * Text of an error for a time far from the origin: it says that this time, or that the recording's origin,
 * looks like a Unix time in another unit than nanoseconds. NULL: neither looks like that, or the clock is not
 * Unix time.
 */
static const char *other_unit(const struct kwhy_csv_clock *clock, int64_t time, char *words, size_t size)
{
	const char *unit = clock->name ? NULL : kwhy_decimal_unix_unit(time);
	const char *before = clock->name ? NULL : kwhy_decimal_unix_unit(clock->recording->origin_unix_ns);

	if (unit)
		snprintf(words, size, "looks like Unix time in %s; write nanoseconds", unit);
	else if (before)
		snprintf(words, size,
			"is Unix time in nanoseconds, but times before it look like %s; write nanoseconds "
			"there",
			before);
	return unit || before ? words : NULL;
}

static enum kwhy_status place_far(const struct kwhy_csv_clock *clock, const struct kwhy_csv *csv,
	size_t column, int64_t time, struct kwhy_error *error)
{
	char buffer[160];
	const char *words = other_unit(clock, time, buffer, sizeof(buffer));

	if (words)
		return kwhy_csv_fail(csv, column, error, words);
	if (clock->keeps_far)
		return KWHY_OK;
	return kwhy_csv_fail(
		csv, column, error, "is more than a year from the start of the recording; correct it");
}

enum kwhy_status kwhy_csv_clock_apply(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv, size_t column,
	int64_t time, int64_t *out_ns, struct kwhy_error *error)
{
	enum kwhy_status status = clock->started ? KWHY_OK : start(clock, csv, column, time, error);
	int64_t relative_ns;

	if (status)
		return status;
	if (__builtin_sub_overflow(time, clock->recording->origin_unix_ns, &relative_ns))
		relative_ns = time < 0 ? INT64_MIN : INT64_MAX;
	if (relative_ns > KWHY_CSV_YEAR_NS || relative_ns < -KWHY_CSV_YEAR_NS)
		status = place_far(clock, csv, column, time, error);
	if (relative_ns > farthest_ns || relative_ns < -farthest_ns)
		relative_ns = relative_ns < 0 ? -farthest_ns : farthest_ns;
	if (!status)
		*out_ns = relative_ns;
	return status;
}

enum kwhy_status kwhy_csv_clock_read(struct kwhy_csv_clock *clock, const struct kwhy_csv *csv, size_t column,
	int64_t *out_ns, struct kwhy_error *error)
{
	static const struct kwhy_csv_range any = {INT64_MIN + 2000000000, INT64_MAX};
	enum kwhy_status status;
	bool known;
	int64_t time;

	status = kwhy_csv_integer(csv, column, any, &known, &time, error);
	if (status)
		return status;
	if (!known)
		return kwhy_csv_fail(
			csv, column, error, "is not a time; a row without its times is of no use");
	return kwhy_csv_clock_apply(clock, csv, column, time, out_ns, error);
}
