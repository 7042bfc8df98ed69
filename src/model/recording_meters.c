/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording_meters.h"

#include "base/plural.h"
#include "base/quantile.h"
#include "base/quantity.h"
#include "model/counter.h"
#include "model/response.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Power, in W, that a working GPU or CPU package always exceeds: the most frugal GPU draws 3 W when idle.
 * There is no such limit for the memory of a GPU or package, or for a board, which may draw next to nothing.
 */
#define GPU_MIN_W 2.0
#define PACKAGE_MIN_W 0.5

/*
 * A counter stands still if its rise is less than its owner's least power for longer than STILL_NS and for
 * longer than STILL_STEPS times the median time between its updates.
 */
#define STILL_NS INT64_C(300000000)
#define STILL_STEPS 5

/*
 * A power meter is called dead if it has at least DEAD_READINGS readings and all are below GPU_MIN_W; a
 * counter, if it rises too slowly for at least DEAD_NS between all of its readings.
 */
#define DEAD_READINGS 10
#define DEAD_NS INT64_C(1000000000)

/*
 * Highest plausible reading, in W, of a GPU whose power limit is unknown, and as a ratio to the power limit
 * if that is known. In recordings of an H200 no sample is above 1.1 times the limit.
 */
#define GPU_MAX_W 3000.0
#define LIMIT_RATIO 2.0
/* Largest plausible change of power, in W, of a GPU whose power limit is unknown. */
#define GPU_SWING_W 1500.0
/* Uncertainty, in seconds, of the time to which a reading of a trailing mean refers. */
#define STAMP_S 0.06

enum { WRONG_MEANS_MAX = 3 };

/*
 * A note is added if a meter repeats one value exactly in at least this many readings and for at least this
 * long. In recordings of an H200 the 20 ms samples of the ring buffer repeated a value at most 6 times, and
 * instantaneous powers read every 50 ms at most 8 times. ring_repeats is for those 20 ms samples,
 * coarse_repeats for meters all of whose readings are whole watts, which repeat values for longer, and
 * other_repeats for all other meters.
 */
static const struct repeats {
	size_t readings;
	int64_t length_ns;
} ring_repeats = {10, 150000000}, other_repeats = {12, 500000000}, coarse_repeats = {30, 3000000000};

/* A series of readings that is checked, with a mark for each reading that is left out. */
struct checked {
	struct kwhy_recording *recording;
	struct kwhy_power_series *series;
	bool *is_out;
	double least_w; /* least power of what the meter measures, W; 0: it may draw nothing */
};

static bool is_of_gpu(const struct kwhy_power_series *series)
{
	return series->device != KWHY_NONE &&
		kwhy_meter_row((enum kwhy_meter)series->meter)->owner != KWHY_METER_OWNER_GPU_MEMORY;
}

static double least_w_of(const struct kwhy_power_series *series)
{
	if (is_of_gpu(series))
		return GPU_MIN_W;
	return kwhy_meter_row((enum kwhy_meter)series->meter)->owner == KWHY_METER_OWNER_PACKAGE
		? PACKAGE_MIN_W
		: 0;
}

static double limit_w_of(const struct checked *checked)
{
	return (double)checked->recording->devices[checked->series->device].limit_mw * 1e-3;
}

/* Writes a name such as "nvml.sample_mw of device 0" or "rapl.package-0_uj" to `out` and returns it. */
enum { WHOSE_BYTES = KWHY_METER_NAME_BYTES + 24 };
static const char *whose(char out[WHOSE_BYTES], const struct checked *checked)
{
	const struct kwhy_power_series *series = checked->series;
	char source[KWHY_METER_NAME_BYTES];

	kwhy_meter_source(source, (enum kwhy_meter)series->meter, series->domain);
	if (series->device == KWHY_NONE)
		snprintf(out, WHOSE_BYTES, "%s", source);
	else
		snprintf(out, WHOSE_BYTES, "%s of device %" PRId32, source,
			checked->recording->devices[series->device].index);
	return out;
}

/* Removes the marked readings and returns their number. */
static size_t leave_out(struct checked *checked)
{
	struct kwhy_power_series *series = checked->series;
	size_t kept = 0, count = series->count;

	for (size_t i = 0; i < count; i++) {
		if (checked->is_out[i])
			continue;
		series->time_ns[kept] = series->time_ns[i];
		series->value[kept++] = series->value[i];
	}
	series->count = kept;
	memset(checked->is_out, 0, count * sizeof(*checked->is_out));
	return count - kept;
}

static enum kwhy_status check_course(struct checked *checked, struct kwhy_error *error)
{
	const struct kwhy_power_series *series = checked->series;
	const struct kwhy_counter_readings readings = {series->time_ns, series->value, series->count,
		series->wrap, kwhy_meter_unit_nj((enum kwhy_meter)series->meter)};
	uint8_t *verdict = calloc(series->count + 1, sizeof(*verdict));
	char source[KWHY_METER_NAME_BYTES];
	size_t dropped;

	if (!verdict)
		return kwhy_fail_memory(error, "the readings of a counter");
	kwhy_counter_judge(&readings, verdict);
	for (size_t i = 0; i < series->count; i++)
		checked->is_out[i] = verdict[i] == KWHY_COUNTER_WRONG;
	free(verdict);
	dropped = leave_out(checked);
	if (!dropped)
		return KWHY_OK;
	return kwhy_recording_add_note(checked->recording, KWHY_NOTE_WARNING, "counter-misread", error,
		"%zu %s of %s left the course of the counter, which then went on: %s left out", dropped,
		dropped == 1 ? "reading" : "readings",
		kwhy_meter_source(source, (enum kwhy_meter)series->meter, series->domain),
		dropped == 1 ? "it is" : "they are");
}

/*
 * Whether the mean power from reading i - 1 to i of a counter is known and below the least power of what it
 * measures (least_w).
 */
static bool is_slow(const struct checked *checked, size_t i)
{
	double power_w;

	return kwhy_counter_power_w(checked->series, i, &power_w) && power_w < checked->least_w;
}

/*
 * Computes the longest time for which a working counter may rise too slowly: STILL_STEPS times the median
 * time between two updates, but at least STILL_NS. False: out of memory.
 */
static bool find_longest_silence(const struct checked *checked, int64_t *out_ns)
{
	const struct kwhy_power_series *series = checked->series;
	int64_t *silences_ns = calloc(series->count + 1, sizeof(*silences_ns)), last_ns = 0, usual_ns;
	size_t count = 0;
	bool is_first = true;

	if (!silences_ns)
		return false;
	for (size_t i = 1; i < series->count; i++) {
		if (is_slow(checked, i))
			continue;
		if (!is_first)
			silences_ns[count++] = series->time_ns[i] - last_ns;
		last_ns = series->time_ns[i];
		is_first = false;
	}
	usual_ns = count ? kwhy_middle_integer(silences_ns, count) : INT64_MAX;
	*out_ns = usual_ns < INT64_MAX / STILL_STEPS ? usual_ns * STILL_STEPS : INT64_MAX;
	if (*out_ns < STILL_NS)
		*out_ns = STILL_NS;
	free(silences_ns);
	return true;
}

static enum kwhy_status check_still(struct checked *checked, struct kwhy_error *error)
{
	const struct kwhy_power_series *series = checked->series;
	int64_t longest_ns, still_ns = 0;
	char time[KWHY_QUANTITY_BYTES], name[WHOSE_BYTES];
	size_t start = 0;

	if (!find_longest_silence(checked, &longest_ns))
		return kwhy_fail_memory(error, "the readings of a counter");
	for (size_t i = 1; i <= series->count; i++) {
		if (i < series->count && is_slow(checked, i))
			continue;
		if (series->time_ns[i - 1] - series->time_ns[start] > longest_ns) {
			still_ns += series->time_ns[i - 1] - series->time_ns[start];
			memset(checked->is_out + start + 1, true, i - 1 - start);
		}
		start = i;
	}
	if (!leave_out(checked))
		return KWHY_OK;
	return kwhy_recording_add_note(checked->recording, KWHY_NOTE_WARNING, "counter-still", error,
		"%s stood still for %s, or rose by less than %g W, which is less than its owner draws: the "
		"readings of that time are left out",
		whose(name, checked), kwhy_quantity_time(time, still_ns), checked->least_w);
}

/* Whether another meter of the GPU's energy or power has at least two readings. */
static bool has_other_meter(const struct checked *checked)
{
	for (size_t i = 0; i < checked->recording->power_count; i++) {
		const struct kwhy_power_series *other = &checked->recording->power[i];

		if (other != checked->series && other->device == checked->series->device &&
			other->count > 1 && is_of_gpu(other))
			return true;
	}
	return false;
}

/*
 * Whether a counter rises too slowly (is_slow()) between all of its readings, which span at least DEAD_NS,
 * and the device has no other meter.
 */
static bool is_dead_counter(const struct checked *checked)
{
	const struct kwhy_power_series *series = checked->series;
	size_t slow = 0;

	if (series->count < 2 || series->time_ns[series->count - 1] - series->time_ns[0] < DEAD_NS ||
		has_other_meter(checked))
		return false;
	for (size_t i = 1; i < series->count; i++)
		slow += is_slow(checked, i);
	return slow == series->count - 1;
}

/* Removes all readings of the meter and notes why. */
static enum kwhy_status bury(struct checked *checked, struct kwhy_error *error)
{
	char name[WHOSE_BYTES];

	checked->series->count = 0;
	return kwhy_recording_add_note(checked->recording, KWHY_NOTE_WARNING, "dead-meter", error,
		"%s never shows as much as %g W, and its owner always draws more: it stands still, or is in "
		"another unit. It is left out",
		whose(name, checked), checked->least_w);
}

static enum kwhy_status check_counter(struct checked *checked, struct kwhy_error *error)
{
	enum kwhy_status status = check_course(checked, error);

	if (status || !(checked->least_w > 0))
		return status;
	return is_dead_counter(checked) ? bury(checked, error) : check_still(checked, error);
}

static bool is_possible(const struct checked *checked, size_t i)
{
	const double power_w = (double)checked->series->value[i] * 1e-3, limit_w = limit_w_of(checked);

	return power_w >= GPU_MIN_W && power_w <= (limit_w > 0 ? LIMIT_RATIO * limit_w : GPU_MAX_W);
}

/* Whether a trailing mean can change by as much as the value changes from reading `from` to reading `to`. */
static bool can_change(const struct checked *checked, size_t from, size_t to)
{
	const struct kwhy_power_series *series = checked->series;
	const double limit_w = limit_w_of(checked), swing_w = limit_w > 0 ? limit_w : GPU_SWING_W;
	const double window_s = kwhy_response_of((enum kwhy_meter)series->meter).average_window_s;
	const double length_s = (double)(series->time_ns[to] - series->time_ns[from]) * 1e-9;
	const double change_w = fabs((double)series->value[to] - (double)series->value[from]) * 1e-3;

	return change_w <= swing_w * fmin(1, (length_s + STAMP_S) / window_s);
}

/*
 * Marks readings of a trailing mean that must be wrong: if a reading differs from the one before it by more
 * than the mean can change in that time, that reading and those after it are marked up to the next reading
 * that can follow the one before the change. They are marked only if they are at most WRONG_MEANS_MAX.
 * Returns the number of impossible changes for which nothing was marked.
 */
static size_t mark_wrong_means(struct checked *checked)
{
	const size_t count = checked->series->count;
	size_t unexplained = 0;

	for (size_t i = 1; i < count; i++) {
		size_t back = i + 1;

		if (can_change(checked, i - 1, i))
			continue;
		while (back < count && back <= i + WRONG_MEANS_MAX && !can_change(checked, i - 1, back))
			back++;
		if (back < count && back <= i + WRONG_MEANS_MAX) {
			memset(checked->is_out + i, true, back - i);
			i = back;
		} else {
			unexplained++;
		}
	}
	return unexplained;
}

static enum kwhy_status note_impossible(
	struct checked *checked, size_t dropped, size_t unexplained, struct kwhy_error *error)
{
	char name[WHOSE_BYTES];
	enum kwhy_status status = KWHY_OK;

	if (dropped)
		status = kwhy_recording_add_note(checked->recording, KWHY_NOTE_WARNING, "readings-impossible",
			error, "%zu %s of %s cannot be the power of a GPU and %s left out", dropped,
			kwhy_plural(dropped, "reading", "readings"), whose(name, checked),
			kwhy_plural(dropped, "is", "are"));
	if (!status && unexplained)
		status = kwhy_recording_add_note(checked->recording, KWHY_NOTE_WARNING, "readings-impossible",
			error,
			"%s changed %zu %s by more than the mean of a second can: energies may be wrong",
			whose(name, checked), unexplained, kwhy_plural(unexplained, "time", "times"));
	return status;
}

/* Whether any activity of the device begins after start_ns and before end_ns. */
static bool work_begins(const struct checked *checked, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_activities *rows = &checked->recording->activities;
	const uint32_t device = checked->series->device;
	const size_t end = rows->first[device + 1];
	size_t low = rows->first[device], high = end;

	while (low < high) { /* rows of a device are in order of their start */
		const size_t middle = low + (high - low) / 2;

		if (rows->start_ns[middle] <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && rows->start_ns[low] < end_ns;
}

static const struct repeats *repeats_of(const struct kwhy_power_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		if (series->value[i] % 1000 != 0)
			return kwhy_meter_row((enum kwhy_meter)series->meter)->role == KWHY_METER_ROLE_SAMPLES
				? &ring_repeats
				: &other_repeats;
	return &coarse_repeats;
}

/*
 * Adds a note on the longest time, if there is one, in which a meter repeats one value often enough
 * (repeats_of()) while an activity begins.
 */
static enum kwhy_status check_repeats(struct checked *checked, struct kwhy_error *error)
{
	const struct kwhy_power_series *series = checked->series;
	const struct repeats *repeats = repeats_of(series);
	int64_t longest_ns = 0, value = 0;
	char time[KWHY_QUANTITY_BYTES], name[WHOSE_BYTES];
	size_t start = 0;

	for (size_t i = 1; i <= series->count; i++) {
		int64_t length_ns;

		if (i < series->count && series->value[i] == series->value[start])
			continue;
		length_ns = series->time_ns[i - 1] - series->time_ns[start];
		if (i - start >= repeats->readings && length_ns >= repeats->length_ns &&
			length_ns > longest_ns &&
			work_begins(checked, series->time_ns[start], series->time_ns[i - 1])) {
			longest_ns = length_ns;
			value = series->value[start];
		}
		start = i;
	}
	if (!longest_ns)
		return KWHY_OK;
	return kwhy_recording_add_note(checked->recording, KWHY_NOTE_WARNING, "readings-repeat", error,
		"%s reads exactly %.3f W for %s while work begins: it may be stuck, and then the energy of "
		"that time is wrong",
		whose(name, checked), (double)value * 1e-3, kwhy_quantity_time(time, longest_ns));
}

static enum kwhy_status check_powers(struct checked *checked, struct kwhy_error *error)
{
	const struct kwhy_power_series *series = checked->series;
	const bool is_mean = kwhy_meter_is_mean((enum kwhy_meter)series->meter);
	size_t possible = 0, too_low = 0, unexplained = 0, dropped = 0;
	enum kwhy_status status;

	for (size_t i = 0; i < series->count; i++) {
		checked->is_out[i] = !is_possible(checked, i);
		possible += !checked->is_out[i];
		too_low += (double)series->value[i] * 1e-3 < GPU_MIN_W;
	}
	if (too_low == series->count && series->count >= DEAD_READINGS)
		return bury(checked, error);
	if (possible > series->count / 2 || (possible && possible + too_low == series->count))
		dropped = leave_out(checked);
	memset(checked->is_out, 0, series->count * sizeof(*checked->is_out));
	if (is_mean && kwhy_response_of((enum kwhy_meter)series->meter).average_window_s > 0)
		unexplained = mark_wrong_means(checked);
	dropped += leave_out(checked);
	status = note_impossible(checked, dropped, unexplained, error);
	return status ? status : check_repeats(checked, error);
}

static enum kwhy_status check_series(
	struct kwhy_recording *recording, struct kwhy_power_series *series, struct kwhy_error *error)
{
	struct checked checked = {
		recording, series, calloc(series->count + 1, sizeof(bool)), least_w_of(series)};
	enum kwhy_status status = KWHY_OK;

	if (!checked.is_out)
		return kwhy_fail_memory(error, "the readings of a meter");
	if (kwhy_meter_is_counter((enum kwhy_meter)series->meter))
		status = check_counter(&checked, error);
	else if (is_of_gpu(series))
		status = check_powers(&checked, error);
	free(checked.is_out);
	return status;
}

enum kwhy_status kwhy_recording_check_meters(struct kwhy_recording *recording, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t kept = 0;

	for (size_t i = 0; !status && i < recording->power_count; i++)
		status = check_series(recording, &recording->power[i], error);
	if (status)
		return status;
	for (size_t i = 0; i < recording->power_count; i++) {
		struct kwhy_power_series *series = &recording->power[i];

		if (series->count) {
			recording->power[kept++] = *series;
			continue;
		}
		free(series->time_ns);
		free(series->value);
	}
	recording->power_count = kept;
	return KWHY_OK;
}
