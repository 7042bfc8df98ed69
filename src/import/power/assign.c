/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "import/identity.h"
#include "import/power/devices.h"
#include "import/power/intake.h"
#include "import/power/readers.h"
#include "import/power/windows.h"
#include "import/power/zone.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * If a log does not name GPUs, the time steps between its rows show whether the rows are of several GPUs. The
 * log is refused if there are at least STEPS_MIN steps and their 90th percentile of the steps is more than
 * STEP_RATIO times their 25th percentile.
 */
enum { STEPS_MIN = 8, STEP_RATIO = 4 };

struct assignment {
	struct kwhy_power_log *log;
	struct kwhy_recording *recording;
	struct kwhy_power_intake intake;
	/*
	 * [key_count] for each key (GPU) of the log the recording's device; KWHY_NONE: the recording does not
	 * have the GPU
	 */
	uint32_t *devices;
	uint64_t elsewhere;
	bool by_number;
};

static enum kwhy_status refuse_metrics(const struct kwhy_power_log *log, struct kwhy_error *error)
{
	char known[256] = "";
	size_t length = 0;

	for (const struct kwhy_power_name *row = kwhy_power_dialect_of_metrics()->readings;
		row->name && length < sizeof(known) - 1; row++)
		length += (size_t)snprintf(
			known + length, sizeof(known) - length, "%s%s", length ? ", " : "", row->name);
	for (size_t i = 0; known[i]; i++)
		known[i] = (char)toupper((unsigned char)known[i]);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is Prometheus text with none of the metrics of power and energy known here, which are %s",
		log->path, known);
}

static enum kwhy_status refuse_unknown(const struct kwhy_power_log *log, struct kwhy_error *error)
{
	if (log->is_metrics)
		return refuse_metrics(log, error);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s names no power and no energy known here; give a log, with its head, of nvidia-smi, dmon, "
		"dcgmi, dcgm-exporter, amd-smi, rocm-smi, srt-slurm, Zeus or CodeCarbon "
		"(docs/formats/power-logs.md), or power CSV with a line of time_ns,device,source,value",
		log->path);
}

/*
 * Refuses a log without a usable row. The message states, as far as known, the tool that wrote the log, the
 * number of rows, the first row that was not understood and why, and how to make a usable log.
 */
static enum kwhy_status refuse_nothing(const struct kwhy_power_log *log, struct kwhy_error *error)
{
	const struct kwhy_power_dialect *dialect = log->dialect;

	if (log->is_headless && !dialect)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s has no head, its first line is a row; write it without \"noheader\", or put the "
			"names of its columns, the list of --query-gpu, before it",
			log->path);
	if (log->unread > 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s looks like %s, but of its %" PRIu64 " %s none could be read; %s %" PRIu64
			": %s; %s",
			log->path, dialect ? dialect->tool : "JSON", log->unread,
			kwhy_plural(log->unread, "row", "rows"), log->is_lines ? "line" : "record",
			log->first_unread, log->unread_words,
			dialect ? dialect->cure : "docs/formats/power-logs.md says what can be read");
	if (!dialect)
		return refuse_unknown(log, error);
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s looks like %s and holds no readings: %" PRIu64 " of %" PRIu64 " %s [N/A] or the like; %s",
		log->path, dialect->tool, log->empty, log->rows,
		kwhy_plural(log->rows, "row says", "rows say"), dialect->cure);
}

static enum kwhy_status check_clock(
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	if (recording->device_count == 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s holds readings of GPUs, and the trace shows no device: nothing ran on one, or "
			"the profiler was not asked to record devices",
			path);
	if (recording->unix_clock)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s has Unix times and %.200s has none, so the two cannot be aligned; give that trace as "
		"export_chrome_trace() wrote it, or exported again with its start",
		path, recording->source_count ? recording->sources[0].path : "the trace");
}

static int compare_steps(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/*
 * Sets *out to whether the time steps between successive readings are partly short and partly long
 * (STEPS_MIN, STEP_RATIO), as if each sample wrote several rows, one for each GPU.
 */
static enum kwhy_status has_turns(const struct kwhy_power_log *log, bool *out, struct kwhy_error *error)
{
	int64_t *steps = calloc(log->entry_count, sizeof(*steps));
	size_t count = 0, last = 0;

	*out = false;
	if (!steps)
		return kwhy_fail_memory(error, "the times of a power log");
	for (size_t i = 1; i < log->entry_count; i++) {
		if (log->entries[i].role != log->entries[0].role)
			continue;
		steps[count++] = llabs(log->entries[i].time_ns - log->entries[last].time_ns);
		last = i;
	}
	qsort(steps, count, sizeof(*steps), compare_steps);
	if (count >= STEPS_MIN)
		*out = steps[count / 4] < steps[count - 1 - count / 10] / STEP_RATIO;
	free(steps);
	return KWHY_OK;
}

/* Refuses a log whose rows do not name a GPU if has_turns() says that they come from several GPUs. */
static enum kwhy_status check_turns(const struct kwhy_power_log *log, struct kwhy_error *error)
{
	const struct kwhy_power_key *key = log->keys;
	bool is_of_several = false;
	enum kwhy_status status = KWHY_OK;

	if (log->key_count > 1 || key->gpu >= 0 || key->uuid || key->pci)
		return KWHY_OK;
	status = has_turns(log, &is_of_several, error);
	if (!status && is_of_several)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s does not say of which GPU a row is, and rows of several seem to take turns; %s",
			log->path, log->dialect->cure);
	return status;
}

/*
 * The meter of a reading with role KWHY_POWER_ROLE_DRAW, which a tool calls just "power". On NVIDIA's GPUs
 * the tool has it from nvmlDeviceGetPowerUsage(), which gives the mean of the last second on GPUs since
 * Ampere, except GA100 (compute capability 8.0), and the instantaneous power on older GPUs.
 */
static enum kwhy_meter draw_of(const struct kwhy_device *device)
{
	const bool is_instant = device->compute_major > 0 &&
		(device->compute_major < 8 || (device->compute_major == 8 && device->compute_minor == 0));

	if (device->name &&
		!strncmp(device->name, "AMD ", 4)) /* one log may have rows of AMD and of NVIDIA devices */
		return KWHY_METER_ROCM_POWER;
	return is_instant ? KWHY_METER_NVML_INSTANT : KWHY_METER_NVML_AVERAGE;
}

static struct kwhy_power_intake_row reading_of(
	const struct assignment *assignment, const struct kwhy_power_entry *entry)
{
	static const enum kwhy_meter meters[KWHY_POWER_ROLE_END] = {
		[KWHY_POWER_ROLE_AVERAGE] = KWHY_METER_NVML_AVERAGE,
		[KWHY_POWER_ROLE_INSTANT] = KWHY_METER_NVML_INSTANT,
		[KWHY_POWER_ROLE_COUNTER] = KWHY_METER_NVML_ENERGY,
		[KWHY_POWER_ROLE_AMD_POWER] = KWHY_METER_ROCM_POWER,
		[KWHY_POWER_ROLE_AMD_COUNTER] = KWHY_METER_ROCM_ENERGY,
	};
	const uint32_t device = assignment->devices[entry->key];
	struct kwhy_power_intake_row reading = {
		.meter = meters[entry->role], .device = device, .value = entry->value};
	int64_t unit_uj;

	if (entry->role == KWHY_POWER_ROLE_DRAW)
		reading.meter = draw_of(&assignment->recording->devices[device]);
	unit_uj = kwhy_meter_unit_nj(reading.meter) / 1000;
	if (unit_uj > 0) /* the entry is in uJ, the meter counts in units of unit_uj uJ */
		reading.value = (entry->value + unit_uj / 2) / unit_uj;
	reading.time_ns = entry->time_ns - assignment->recording->origin_unix_ns;
	return reading;
}

static uint64_t text_digest(const char *text)
{
	uint64_t digest = 0;

	for (; text && *text; text++)
		digest = kwhy_identity_digest((const uint64_t[]){digest, (unsigned char)*text}, 2);
	return digest;
}

static enum kwhy_status add_entries(struct assignment *assignment, struct kwhy_error *error)
{
	const struct kwhy_power_log *log = assignment->log;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < log->entry_count; i++) {
		const struct kwhy_power_entry *entry = &log->entries[i];
		const struct kwhy_power_key *key = &log->keys[entry->key];
		const uint64_t values[] = {(uint64_t)entry->time_ns, (uint64_t)entry->value, entry->role,
			(uint64_t)key->gpu, key->uuid ? text_digest(key->uuid) : 0};
		struct kwhy_power_intake_row reading;

		assignment->intake.digest += kwhy_identity_digest(values, sizeof(values) / sizeof(values[0]));
		if (assignment->devices[entry->key] == KWHY_NONE) {
			assignment->elsewhere++;
			continue;
		}
		reading = reading_of(assignment, entry);
		status = kwhy_power_intake_add(&assignment->intake, &reading, error);
	}
	return status;
}

static const char *key_text(const struct kwhy_power_key *key, char out[128])
{
	const char *name = key->uuid ? key->uuid : key->pci;

	if (name)
		snprintf(out, 128, "%.48s%s%.64s", key->host ? key->host : "", key->host ? "/" : "", name);
	else
		snprintf(out, 128, "%.48s%snumber %" PRId32, key->host ? key->host : "", key->host ? "/" : "",
			key->gpu);
	return out;
}

static enum kwhy_status refuse_elsewhere(const struct assignment *assignment, struct kwhy_error *error)
{
	const struct kwhy_device *device = &assignment->recording->devices[0];
	char text[128];

	return kwhy_fail(error, KWHY_E_INPUT,
		"%s holds no readings of what the trace shows: its first GPU is %s, the trace's first is "
		"device %" PRId32
		"%s%.64s; give the log of that GPU, or say which is which with --power-device %" PRId32
		"=GPU",
		assignment->log->path, key_text(&assignment->log->keys[0], text), device->index,
		device->uuid ? ", " : "", device->uuid ? device->uuid : "", device->index);
}

static bool has_whole_seconds(const struct kwhy_power_log *log)
{
	for (size_t i = 0; i < log->entry_count; i++)
		if (log->entries[i].time_ns % 1000000000 != 0)
			return false;
	return log->dialect->cuts_seconds;
}

/* Adds notes on rows that could not be read, had no reading or were not used. */
static enum kwhy_status add_notes_of_rows(const struct assignment *assignment, struct kwhy_error *error)
{
	const struct kwhy_power_log *log = assignment->log;
	struct kwhy_recording *recording = assignment->recording;
	enum kwhy_status status = KWHY_OK;

	if (log->unread > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-rows-unread",
			error,
			"%s: %" PRIu64 " of %" PRIu64 " %s could not be read, the first at %s %" PRIu64
			": %s.",
			log->path, log->unread, log->rows, kwhy_plural(log->rows, "row", "rows"),
			log->is_lines ? "line" : "record", log->first_unread, log->unread_words);
	if (!status && log->empty > 0)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-empty", error,
			"%s: %" PRIu64 " %s empty, [N/A] or the like.", log->path, log->empty,
			kwhy_plural(log->empty, "reading is", "readings are"));
	if (!status && log->ended_early)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-truncated", error,
			"%s ends early or is damaged: readings are missing.", log->path);
	if (!status && has_whole_seconds(log))
		status = kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-whole-seconds",
			error,
			"%s has times of whole seconds, cut off: each reading is up to a second later than "
			"it says.",
			log->path);
	return status;
}

static enum kwhy_status add_notes(const struct assignment *assignment, struct kwhy_error *error)
{
	const struct kwhy_power_log *log = assignment->log;
	struct kwhy_recording *recording = assignment->recording;
	enum kwhy_status status;

	status = kwhy_power_intake_note_elsewhere(&assignment->intake, assignment->elsewhere, error);
	if (!status && assignment->by_number && log->key_count > recording->device_count)
		status = kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "power-by-number", error,
			"%s and the trace have no more in common than the numbers of GPUs: where "
			"CUDA_VISIBLE_DEVICES was set, they differ; --power-device says which is which.",
			log->path);
	return status ? status : add_notes_of_rows(assignment, error);
}

static enum kwhy_status assign(
	struct assignment *assignment, const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_power_log *log = assignment->log;
	enum kwhy_status status;

	assignment->devices = calloc(log->key_count, sizeof(*assignment->devices));
	if (!assignment->devices)
		return kwhy_fail_memory(error, "the GPUs of a power log");
	status = kwhy_power_devices_find(
		assignment->recording, log, options, assignment->devices, &assignment->by_number, error);
	if (!status)
		status = add_entries(assignment, error);
	if (!status && assignment->intake.readings == 0)
		return refuse_elsewhere(assignment, error);
	if (!status)
		status = kwhy_power_intake_close(&assignment->intake, error);
	return status ? status : add_notes(assignment, error);
}

/* From the first start to the last end of the activities of all devices, in Unix time, ns. */
static struct kwhy_power_window unix_work(const struct kwhy_recording *recording)
{
	struct kwhy_power_window work = kwhy_power_window_of_work(recording);

	work.start_ns += recording->origin_unix_ns;
	work.end_ns += recording->origin_unix_ns;
	return work;
}

enum kwhy_status kwhy_power_log_assign(struct kwhy_power_log *log, struct kwhy_recording *recording,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct assignment assignment = {.log = log, .recording = recording};
	struct kwhy_power_window work;
	enum kwhy_status status = log->entry_count ? check_clock(recording, log->path, error)
						   : refuse_nothing(log, error);

	if (!status)
		status = kwhy_power_zone_apply(log, recording, options, error);
	work = unix_work(recording);
	if (!status)
		status = kwhy_power_windows_unroll(log, &work, error);
	if (!status)
		status = check_turns(log, error);
	if (!status)
		status = kwhy_power_intake_init(&assignment.intake, recording, log->path, error);
	if (!status)
		status = assign(&assignment, options, error);
	free(assignment.devices);
	kwhy_power_intake_done(&assignment.intake);
	return status;
}
