/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv/clock.h"
#include "import/csv/table.h"
#include "import/identity.h"
#include "import/import.h"
#include "import/power_level.h"
#include "import/power_window.h"
#include "model/power_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a number in the column "device" stands for. */
enum place { PLACE_UNSEEN, PLACE_DEVICE, PLACE_ABSENT, PLACE_AMBIGUOUS };

struct reader {
	struct kwhy_recording *recording;
	struct kwhy_csv *csv;
	struct kwhy_csv_clock clock;
	const struct kwhy_import_options *options;
	unsigned char places[KWHY_POWER_DEVICES_MOST];
	uint32_t devices[KWHY_POWER_DEVICES_MOST];
	struct kwhy_power_window window; /* of what is no dead meter's */
	uint64_t digest;		 /* of all readings, of those elsewhere too */
	struct kwhy_power_level levels[KWHY_POWER_DEVICES_MOST][KWHY_METER_COUNT]; /* by number of the GPU */
	uint64_t rows, readings, elsewhere; /* elsewhere: of devices that the trace does not show */
	int32_t absent_index;		    /* one of those devices */
};

/* The devices of the recording with that number: none, one, or several of several ranks or machines. */
static void look_up(struct reader *reader, int32_t index)
{
	const struct kwhy_recording *recording = reader->recording;
	unsigned char place = PLACE_ABSENT;

	for (uint32_t device = 0; device < recording->device_count; device++) {
		if (recording->devices[device].index != index)
			continue;
		place = place == PLACE_ABSENT ? PLACE_DEVICE : PLACE_AMBIGUOUS;
		reader->devices[index] = device;
	}
	reader->places[index] = place;
}

static enum kwhy_status find_device(struct reader *reader, int32_t index, uint32_t *out_device,
	bool *out_absent, struct kwhy_error *error)
{
	if (reader->places[index] == PLACE_UNSEEN)
		look_up(reader, index);
	if (reader->places[index] == PLACE_AMBIGUOUS)
		return kwhy_csv_fail(reader->csv, KWHY_POWER_COLUMN_DEVICE, error,
			"is a device of several ranks or machines of this recording; give each one's trace "
			"and power to a run of its own");
	*out_absent = reader->places[index] == PLACE_ABSENT;
	*out_device = reader->devices[index];
	return KWHY_OK;
}

static enum kwhy_status parse_row(
	const struct reader *reader, struct kwhy_power_row *out, struct kwhy_error *error)
{
	struct kwhy_span fields[KWHY_POWER_COLUMN_COUNT];
	struct kwhy_power_wrong wrong;

	for (size_t column = 0; column < KWHY_POWER_COLUMN_COUNT; column++)
		fields[column] = kwhy_csv_field(reader->csv, column);
	return kwhy_power_row_read(fields, out, &wrong)
		? KWHY_OK
		: kwhy_csv_fail(reader->csv, wrong.column, error, wrong.words);
}

/* Meters of a host are the one machine's that the recording is of; of several nobody says whose they are. */
static enum kwhy_status add_reading(struct reader *reader, const struct kwhy_power_row *row, uint32_t device,
	int64_t time_ns, struct kwhy_error *error)
{
	const bool is_known = device == KWHY_NONE && reader->recording->machine_count == 1;
	const struct kwhy_power_source source = {.meter = row->meter,
		.device = device,
		.domain = row->domain,
		.machine = is_known ? 0 : KWHY_NONE};

	return kwhy_recording_add_power(reader->recording, &source, time_ns, row->value, error);
}

static uint64_t digest_of(const struct kwhy_power_row *row, int64_t time_ns)
{
	const uint64_t values[] = {(uint64_t)time_ns, (uint64_t)row->value,
		(uint64_t)row->meter << 32 | row->domain, (uint64_t)row->device};

	return kwhy_identity_digest(values, sizeof(values) / sizeof(values[0]));
}

static enum kwhy_status read_row(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_power_row row;
	uint32_t device = KWHY_NONE;
	bool absent = false;
	int64_t time_ns;
	enum kwhy_status status = parse_row(reader, &row, error);

	if (!status)
		status = kwhy_csv_clock_place(
			&reader->clock, reader->csv, KWHY_POWER_COLUMN_TIME, row.time_ns, &time_ns, error);
	if (!status && row.device >= 0)
		status = find_device(reader, row.device, &device, &absent, error);
	if (absent)
		reader->absent_index = row.device;
	if (status || !row.has_value)
		return status;
	reader->digest += digest_of(&row, time_ns);
	reader->elsewhere += absent;
	if (absent)
		return KWHY_OK;
	if (row.device >= 0)
		kwhy_power_level_add(&reader->levels[row.device][row.meter], time_ns, row.value);
	else
		kwhy_power_window_add(&reader->window, time_ns);
	reader->readings++;
	return add_reading(reader, &row, device, time_ns, error);
}

/* Of the comments only the clock's says something here. */
static enum kwhy_status read_comment(struct reader *reader, struct kwhy_error *error)
{
	struct kwhy_span text = kwhy_csv_comment(reader->csv);
	static const char word[] = "clock ";
	size_t length = sizeof(word) - 1;

	if (text.length <= length || memcmp(text.bytes, word, length) != 0)
		return KWHY_OK;
	return kwhy_csv_clock_state(&reader->clock, reader->csv,
		(struct kwhy_span){text.bytes + length, text.length - length}, error);
}

static enum kwhy_status read_item(void *context, enum kwhy_csv_item item, struct kwhy_error *error)
{
	struct reader *reader = context;
	enum kwhy_status status = item == KWHY_CSV_COMMENT ? read_comment(reader, error)
							   : read_row(reader, error);

	reader->rows += item == KWHY_CSV_ROW;
	if (status != KWHY_E_INPUT || !reader->options->partial)
		return status;
	reader->recording->lost.skipped_events++;
	return KWHY_OK;
}

static enum kwhy_status no_readings(const struct reader *reader, const char *path, struct kwhy_error *error)
{
	if (reader->elsewhere == 0)
		return kwhy_fail(error, KWHY_E_INPUT, "%s holds no readings; record power again", path);
	if (reader->recording->device_count == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s holds readings of device %" PRId32
			", and the trace shows no device: nothing ran on one, or the profiler was not told "
			"to record devices",
			path, reader->absent_index);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s holds no readings of what the trace shows: they are of device %" PRId32
		", its first is %" PRId32 "; write the trace's numbers in its column \"device\"",
		path, reader->absent_index, reader->recording->devices[0].index);
}

/* A meter without life is none. Beside others it is left out; alone it would make 0 J of the run. */
static enum kwhy_status leave_out(struct reader *reader, int32_t index, enum kwhy_meter meter,
	const char *path, struct kwhy_error *error)
{
	const struct kwhy_power_level *level = &reader->levels[index][meter];
	const char *does = kwhy_meter_is_counter(meter) ? "does not move" : "reads 0 throughout";

	reader->readings -= level->readings;
	if (reader->readings == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: %s of device %" PRId32 " %s, and no GPU draws nothing; record power again", path,
			kwhy_meter_name(meter), index, does);
	kwhy_recording_drop_power(reader->recording, meter, reader->devices[index], level->readings);
	return kwhy_recording_add_note(reader->recording, KWHY_NOTE_WARNING, "dead-meter", error,
		"%s: %s of device %" PRId32 " %s, and no GPU draws nothing: it is left out.", path,
		kwhy_meter_name(meter), index, does);
}

static enum kwhy_status refuse_unit(
	double power_mw, int32_t index, enum kwhy_meter meter, const char *path, struct kwhy_error *error)
{
	if (kwhy_meter_is_counter(meter))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: %s of device %" PRId32
			" tells of %.3g mW on average, and no GPU idles that low; if it counts joules, write "
			"%s",
			path, kwhy_meter_name(meter), index, power_mw,
			meter == KWHY_METER_ROCM_ENERGY ? "microjoules" : "millijoules");
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: no reading of %s of device %" PRId32
		" is above %.0f mW, and no GPU idles that low; if these are watts, write milliwatts",
		path, kwhy_meter_name(meter), index, power_mw);
}

/* Of its memory alone a GPU may draw little. */
static enum kwhy_status check_level(struct reader *reader, int32_t index, enum kwhy_meter meter,
	const char *path, struct kwhy_error *error)
{
	const struct kwhy_power_level *level = &reader->levels[index][meter];
	const bool may_be_little = meter == KWHY_METER_NVML_MEMORY_AVERAGE;
	double power_mw = kwhy_power_level_too_low_mw(level, meter);

	if (!may_be_little && kwhy_power_level_is_dead(level, meter))
		return leave_out(reader, index, meter, path, error);
	if (!may_be_little && !isnan(power_mw))
		return refuse_unit(power_mw, index, meter, path, error);
	kwhy_power_window_add(&reader->window, level->start_ns);
	kwhy_power_window_add(&reader->window, level->end_ns);
	return KWHY_OK;
}

static enum kwhy_status check_levels(struct reader *reader, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int32_t i = 0; !status && i < KWHY_POWER_DEVICES_MOST; i++)
		for (enum kwhy_meter meter = 0; !status && meter < KWHY_METER_COUNT; meter++)
			if (reader->levels[i][meter].readings)
				status = check_level(reader, i, meter, path, error);
	return status;
}

static enum kwhy_status close_books(struct reader *reader, const char *path, struct kwhy_error *error)
{
	struct kwhy_recording *recording = reader->recording;
	enum kwhy_status status;

	recording->lost.skipped_events += kwhy_csv_skipped(reader->csv);
	if (reader->readings == 0)
		return no_readings(reader, path, error);
	status = check_levels(reader, path, error);
	if (!status)
		status = kwhy_identity_check_power(
			recording, &(struct kwhy_power_file){path, reader->readings, reader->digest}, error);
	if (!status && reader->elsewhere > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "power-of-other-devices",
			error,
			"%s: %" PRIu64 " readings of devices that the trace does not show were left out.",
			path, reader->elsewhere);
	if (!status && kwhy_csv_ended_early(reader->csv))
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-truncated", error,
			"%s ends early or is damaged: readings are missing.", path);
	return status ? status : kwhy_power_window_check(&reader->window, recording, path, error);
}

enum kwhy_status kwhy_import_power(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_csv_column columns[KWHY_POWER_COLUMN_COUNT];
	struct kwhy_csv_options csv_options = {.path = path,
		.columns = columns,
		.column_count = KWHY_POWER_COLUMN_COUNT,
		.partial = options->partial};
	struct reader *reader = calloc(1, sizeof(*reader));
	enum kwhy_status status;

	if (!reader)
		return kwhy_fail_memory(error, "reading power");
	for (size_t c = 0; c < KWHY_POWER_COLUMN_COUNT; c++)
		columns[c] = (struct kwhy_csv_column){
			kwhy_power_column_name(c), kwhy_power_column_is_required(c)};
	reader->recording = recording;
	reader->options = options;
	kwhy_csv_clock_init(&reader->clock, recording);
	reader->clock.keeps_far = !reader->clock.chooses; /* so that both windows can be told */
	status = kwhy_csv_open(&csv_options, &reader->csv, error);
	if (!status)
		status = kwhy_csv_each(reader->csv, read_item, reader, error);
	if (!status)
		status = close_books(reader, path, error);
	kwhy_csv_close(reader->csv);
	free(reader);
	return status;
}
