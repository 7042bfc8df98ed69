/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv/clock.h"
#include "import/csv/table.h"
#include "import/identity.h"
#include "import/power/devices.h"
#include "import/power/intake.h"
#include "import/power/readers.h"
#include "import/reader.h"
#include "model/power_row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is known about a device number of the power file: not looked up yet, one device of the recording,
 * none, or several.
 */
enum place { PLACE_UNSEEN, PLACE_DEVICE, PLACE_ABSENT, PLACE_AMBIGUOUS };

struct reader {
	struct kwhy_recording *recording;
	struct kwhy_csv *csv;
	struct kwhy_csv_clock clock;
	const struct kwhy_import_options *options;
	unsigned char places[KWHY_POWER_DEVICES_MAX];
	uint32_t devices[KWHY_POWER_DEVICES_MAX];
	struct kwhy_power_intake intake;
	uint64_t rows, elsewhere; /* elsewhere: number of readings of device numbers that the recording does
				     not have */
	int32_t absent_index;	  /* the last of these device numbers; valid if `elsewhere` is above 0 */
};

/*
 * Finds which device of the recording the device number `index` of the power file means, and stores the
 * result in places[index] and devices[index]. No device may have the number, or several may, on different
 * ranks or machines.
 */
static enum kwhy_status look_up(struct reader *reader, int32_t index, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = reader->recording;
	unsigned char place = PLACE_ABSENT;
	enum kwhy_status status = KWHY_OK;
	bool is_stated = true;
	int32_t number;

	for (uint32_t device = 0; !status && device < recording->device_count; device++) {
		bool own;

		status = kwhy_power_devices_number(
			&recording->devices[device], reader->options, &number, &own, error);
		if (status || number != index)
			continue;
		is_stated &= own;
		place = place == PLACE_ABSENT ? PLACE_DEVICE : PLACE_AMBIGUOUS;
		reader->devices[index] = device;
	}
	reader->places[index] = place;
	return status || is_stated
		? status
		: kwhy_power_devices_check_number(recording, index, reader->intake.path, error);
}

static enum kwhy_status find_device(struct reader *reader, int32_t index, uint32_t *out_device,
	bool *out_absent, struct kwhy_error *error)
{
	enum kwhy_status status = reader->places[index] == PLACE_UNSEEN ? look_up(reader, index, error)
									: KWHY_OK;

	if (status)
		return status;
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
		status = kwhy_csv_clock_apply(
			&reader->clock, reader->csv, KWHY_POWER_COLUMN_TIME, row.time_ns, &time_ns, error);
	if (!status && row.device >= 0)
		status = find_device(reader, row.device, &device, &absent, error);
	if (absent)
		reader->absent_index = row.device;
	if (status || !row.has_value)
		return status;
	reader->intake.digest += digest_of(&row, time_ns);
	reader->elsewhere += absent;
	if (absent)
		return KWHY_OK;
	return kwhy_power_intake_add(&reader->intake,
		&(struct kwhy_power_intake_row){row.meter, row.domain, device, time_ns, row.value}, error);
}

/* Reads a comment line. Only the comment that states the clock is used; others are ignored. */
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
	return kwhy_reader_pass(reader->recording, reader->options, status);
}

static enum kwhy_status no_readings(const struct reader *reader, const char *path, struct kwhy_error *error)
{
	if (reader->elsewhere == 0)
		return kwhy_fail(error, KWHY_E_INPUT, "%s holds no readings; record power again", path);
	if (reader->recording->device_count == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s holds readings of device %" PRId32
			", and the trace shows no device: nothing ran on one, or the profiler was not asked "
			"to record devices",
			path, reader->absent_index);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s holds no readings of what the trace shows: they are of device %" PRId32
		", its first is %" PRId32 "; write the trace's numbers in its column \"device\"",
		path, reader->absent_index, reader->recording->devices[0].index);
}

static enum kwhy_status close_files(struct reader *reader, const char *path, struct kwhy_error *error)
{
	struct kwhy_recording *recording = reader->recording;
	enum kwhy_status status;

	recording->lost.skipped_events += kwhy_csv_skipped(reader->csv);
	if (reader->intake.readings == 0)
		return no_readings(reader, path, error);
	status = kwhy_power_intake_close(&reader->intake, error);
	if (!status)
		status = kwhy_power_intake_note_elsewhere(&reader->intake, reader->elsewhere, error);
	if (!status && kwhy_csv_ended_early(reader->csv))
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-truncated", error,
			"%s ends early or is damaged: readings are missing.", path);
	return status;
}

enum kwhy_status kwhy_power_csv_read(struct kwhy_recording *recording, const char *path,
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
	/*
	 * If the recording already has times, the clock accepts times far from its origin, because
	 * kwhy_power_intake_close() refuses them later, with a message that states the intervals of the power
	 * file and of the trace.
	 */
	reader->clock.keeps_far = !reader->clock.chooses;
	status = kwhy_power_intake_init(&reader->intake, recording, path, error);
	if (!status)
		status = kwhy_csv_open(&csv_options, &reader->csv, error);
	if (!status)
		status = kwhy_csv_each(reader->csv, read_item, reader, error);
	if (!status)
		status = close_files(reader, path, error);
	kwhy_csv_close(reader->csv);
	kwhy_power_intake_done(&reader->intake);
	free(reader);
	return status;
}
