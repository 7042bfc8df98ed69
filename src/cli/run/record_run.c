/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_run.h"

#include "base/clock.h"
#include "base/cpu_time.h"
#include "base/quantity.h"
#include "cli/output.h"
#include "cli/run/record_progress.h"
#include "launch/inject.h"
#include "launch/lines.h"
#include "record/ranges.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000
/*
 * longest wait in ns, before the command starts, for a first reading of each meter; each energy counter is
 * updated at least once in this time
 */
#define FIRST_NS (3 * (int64_t)SECOND_NS)
#define RETRY_NS (SECOND_NS / 20)
/* longest wait in ns, after the command's end, for a reading of each energy counter */
#define LAST_NS (3 * (int64_t)SECOND_NS / 10)
/*
 * wait in ns after the command's end before power samples are read for the last time: NVML delivers a sample
 * up to 0.1 s after it was taken
 */
#define SETTLE_NS INT64_C(150000000)
/*
 * Time in ns before and after a requested window (--delay, --duration) for which meter readings are recorded,
 * too, so that the window is metered to its ends. It is longer than the 2 s between reads of counters.
 */
#define MARGIN_NS (5 * (int64_t)SECOND_NS)

enum { OTHERS_MAX = 64, OTHER_BYTES = 64 };

struct costs {
	int64_t own_ns; /* processor time that this process has used so far, ns */
	int64_t taken_mono_ns;
	double busy_s; /* busy time of the machine so far, summed over all CPUs, s; NAN: unknown */
	struct kwhy_sampler_cost sampler;
};

struct recording {
	const struct kwhy_record_runner *runner;
	struct kwhy_lines lines[2];
	double *work; /* [work_count] amount of each unit that has been reported so far */
	struct {
		char unit[OTHER_BYTES];
		double amount;
	} others[OTHERS_MAX]; /* units of work that the command reported to KWHY_WORK_FILE and that no --work
				 names */
	size_t other_count;
	struct costs before;
	struct kwhy_record_progress progress;
	enum kwhy_status status;
	struct kwhy_error *error;
};

static bool has_shown(const struct kwhy_source_channel *source)
{
	struct kwhy_reading reading;

	return source->kind != KWHY_SOURCE_METER || kwhy_channel_last(&source->channel, &reading);
}

bool kwhy_record_await_first(const struct kwhy_record_runner *runner)
{
	const struct kwhy_sensors *sensors = runner->sensors;
	int64_t latest_ns = kwhy_clock_mono_ns() + FIRST_NS;
	size_t shown = 0;

	while (runner->sampler && shown < sensors->source_count && kwhy_clock_mono_ns() < latest_ns) {
		if (kwhy_signals_wait(runner->signals, kwhy_clock_mono_ns() + RETRY_NS))
			return false;
		shown = 0;
		for (size_t i = 0; i < sensors->source_count; i++)
			shown += has_shown(&sensors->sources[i]);
		if (runner->replayed && shown)
			break;
	}
	return !kwhy_signals_wait(runner->signals, 0);
}

static void add_work(void *context, double value)
{
	if (value > 0)
		*(double *)context += value;
}

static void see_line(void *context, int64_t time_mono_ns, const char *line, size_t length)
{
	struct recording *recording = context;
	struct kwhy_stat_specs *specs = recording->runner->specs;

	(void)time_mono_ns;
	for (size_t i = 0; i < specs->work_count; i++)
		if (specs->from[i] == KWHY_STAT_WORK_OUTPUT)
			kwhy_pattern_find(&specs->work[i], line, length, add_work, &recording->work[i]);
}

static void see_output(void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length)
{
	struct recording *recording = context;

	kwhy_lines_add(&recording->lines[stream - 1], time_mono_ns, bytes, length);
}

/*
 * Called when the command has started: from now on the new recording stays, and an earlier one at its path is
 * renamed. A failure is printed and does not end the recording.
 */
static void keep_folder(void *context)
{
	const struct recording *recording = context;
	const struct kwhy_record_folder *folder = recording->runner->folder;
	struct kwhy_error error;
	char text[400];
	bool replaced;

	if (kwhy_record_folder_keep(folder, &replaced, &error)) {
		kwhy_output_message(error.text);
	} else if (folder->aside && !recording->runner->quiet) {
		snprintf(text, sizeof(text), "the earlier recording is now '%.300s'%s", folder->old,
			replaced ? ", which replaced the one before it" : "");
		kwhy_output_message(text);
	}
}

/*
 * Ends the sampling of performance counters when the command has ended, before it is checked whether
 * processes of the command are left, because the sampling has child processes of its own.
 */
static void end_counters(void *context)
{
	const struct recording *recording = context;

	kwhy_record_counting_end(recording->runner->counting, recording->runner->meters);
}

static void tick(void *context)
{
	struct recording *recording = context;

	if (!recording->status)
		recording->status = kwhy_record_meters_drain(recording->runner->meters, recording->error);
	kwhy_record_digests_tick(recording->runner->digests, recording->runner->signals->asked != 0);
	if (recording->runner->progress)
		kwhy_record_progress_show(&recording->progress, kwhy_clock_mono_ns());
}

static enum kwhy_status begin(
	struct recording *recording, const struct kwhy_record_runner *runner, struct kwhy_error *error)
{
	enum kwhy_status status;

	*recording = (struct recording){.runner = runner, .error = error};
	recording->progress = (struct kwhy_record_progress){.folder = runner->folder->path,
		.sensors = runner->sensors,
		.watch = runner->watch,
		.start_mono_ns = kwhy_clock_mono_ns(),
		.last_mono_ns = kwhy_clock_mono_ns()};
	recording->work = calloc(runner->stat->work_count + 1, sizeof(*recording->work));
	if (!recording->work)
		return kwhy_fail_memory(error, "the work");
	status = kwhy_lines_init(&recording->lines[0], see_line, recording, error);
	return status ? status : kwhy_lines_init(&recording->lines[1], see_line, recording, error);
}

static void end(struct recording *recording)
{
	kwhy_record_progress_end(&recording->progress);
	kwhy_lines_done(&recording->lines[0]);
	kwhy_lines_done(&recording->lines[1]);
	free(recording->work);
}

/*
 * Adds reported work of a unit that no --work names. Work of further units than OTHERS_MAX, or of units with
 * names of OTHER_BYTES or more bytes, is ignored.
 */
static void add_other(struct recording *recording, const char *unit, size_t length, double amount)
{
	size_t at = 0;

	while (at < recording->other_count &&
		(strlen(recording->others[at].unit) != length ||
			memcmp(recording->others[at].unit, unit, length) != 0))
		at++;
	if (at == OTHERS_MAX || length >= OTHER_BYTES)
		return;
	if (at == recording->other_count) {
		memcpy(recording->others[at].unit, unit, length);
		recording->others[at].unit[length] = '\0';
		recording->other_count++;
	}
	recording->others[at].amount += amount;
}

/* The work of a unit that --work names; NULL: it names no such unit. */
static const struct kwhy_stat_work *named_unit(
	const struct recording *recording, const char *unit, size_t length, size_t *out_index)
{
	const struct kwhy_stat *stat = recording->runner->stat;

	for (*out_index = 0; *out_index < stat->work_count; ++*out_index)
		if (strlen(stat->work[*out_index].unit) == length &&
			!memcmp(stat->work[*out_index].unit, unit, length))
			return &stat->work[*out_index];
	return NULL;
}

/*
 * Adds an amount of work that the command reported to KWHY_WORK_FILE. It is ignored if --work states the
 * amount of this unit or counts it in the command's output.
 */
static void take_reported(void *context, const char *unit, size_t length, double amount)
{
	struct recording *recording = context;
	size_t index;
	const struct kwhy_stat_work *named = named_unit(recording, unit, length, &index);

	if (named && named->from == KWHY_STAT_WORK_REPORTED)
		recording->work[index] += amount;
	else if (!named)
		add_other(recording, unit, length, amount);
}

static void write_others(const struct recording *recording, int64_t time_mono_ns)
{
	for (size_t i = 0; i < recording->other_count; i++)
		kwhy_record_meters_add_work(recording->runner->meters, time_mono_ns,
			recording->others[i].unit, recording->others[i].amount);
}

/*
 * Writes the amounts of work to the recording. Amounts of 0 are left out, and so are amounts that --work
 * states if a signal ended the command.
 */
static enum kwhy_status write_work(struct recording *recording, const struct kwhy_child_end *how)
{
	const struct kwhy_record_runner *runner = recording->runner;
	enum kwhy_status status = kwhy_stat_work_file_each(
		runner->work_file, take_reported, recording, recording->error);

	for (size_t i = 0; !status && i < runner->stat->work_count; i++) {
		if (runner->specs->from[i] == KWHY_STAT_WORK_STATED)
			recording->work[i] = how->signal ? 0 : runner->specs->stated[i];
		if (recording->work[i] > 0)
			kwhy_record_meters_add_work(runner->meters, how->end_mono_ns,
				runner->stat->work[i].unit, recording->work[i]);
	}
	write_others(recording, how->end_mono_ns);
	return status;
}

/* Start of the requested window, which is the start of the command plus the delay. */
static int64_t window_start(const struct kwhy_record_runner *runner, int64_t start_ns)
{
	return isnan(runner->delay_s) ? start_ns : start_ns + (int64_t)(runner->delay_s * SECOND_NS);
}

static int64_t window_end(const struct kwhy_record_runner *runner, int64_t start_ns)
{
	return isnan(runner->duration_s)
		? INT64_MAX
		: window_start(runner, start_ns) + (int64_t)(runner->duration_s * SECOND_NS);
}

/*
 * Sets, just before the command starts, what is recorded: activities and performance counters in the window
 * that --delay and --duration ask for, and meter readings in the same window extended by MARGIN_NS on both
 * sides. Without these options everything is recorded.
 */
static enum kwhy_status begin_window(const struct kwhy_record_runner *runner, struct kwhy_error *error)
{
	const struct kwhy_clock_relation relation = kwhy_clock_relate();
	const int64_t start_ns = window_start(runner, relation.mono_ns),
		      end_ns = window_end(runner, relation.mono_ns);
	const bool is_part = !isnan(runner->delay_s) || !isnan(runner->duration_s);
	enum kwhy_status status = kwhy_record_meters_begin_run(runner->meters, start_ns, error);

	if (is_part)
		kwhy_record_meters_window(runner->meters, start_ns - MARGIN_NS,
			end_ns == INT64_MAX ? end_ns : end_ns + MARGIN_NS);
	if (is_part)
		kwhy_record_counters_window(runner->counting->counters, start_ns, end_ns);
	if (status || (!is_part && !runner->has_windows))
		return status;
	return kwhy_inject_prepare_times(kwhy_clock_unix_of_mono(&relation, start_ns),
		end_ns == INT64_MAX ? end_ns : kwhy_clock_unix_of_mono(&relation, end_ns),
		runner->environment, error);
}

static int64_t own_cpu_ns(void)
{
	struct timespec used = {0, 0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * SECOND_NS + used.tv_nsec;
}

/*
 * Reads how much processor time this process, its sampler and the whole machine have used so far. The cost of
 * recording is the difference of two such readings.
 */
static void read_costs(const struct kwhy_record_runner *runner, struct costs *out)
{
	*out = (struct costs){.own_ns = own_cpu_ns(),
		.taken_mono_ns = kwhy_clock_mono_ns(),
		.busy_s = kwhy_cpu_busy_s(NULL)};
	if (runner->sampler)
		kwhy_sampler_cost(runner->sampler, &out->sampler);
}

static void write_costs(const struct recording *recording)
{
	const struct kwhy_record_runner *runner = recording->runner;
	const struct costs *before = &recording->before;
	struct costs after;

	read_costs(runner, &after);
	after.own_ns += kwhy_record_counters_cpu_ns(runner->counting->counters);
	kwhy_record_meters_add_cost(
		runner->meters, KWHY_WIRE_COST_LAUNCHER, after.own_ns - before->own_ns, 0);
	if (runner->sampler)
		kwhy_record_meters_add_cost(runner->meters, KWHY_WIRE_COST_SAMPLER,
			after.sampler.cpu_ns - before->sampler.cpu_ns,
			after.sampler.reads - before->sampler.reads);
	/*
	 * The busy time of the machine serves to convert processor time to energy, together with the energy
	 * of the CPU packages during the whole run. If only a part of the run is recorded, or readings come
	 * from a file, that energy is unknown, and the busy time is not written.
	 */
	if (isnan(runner->delay_s) && isnan(runner->duration_s) && !runner->replayed &&
		after.busy_s > before->busy_s)
		kwhy_record_meters_add_cost(runner->meters, KWHY_WIRE_COST_MACHINE,
			(int64_t)((after.busy_s - before->busy_s) * SECOND_NS),
			(uint64_t)(after.taken_mono_ns - before->taken_mono_ns));
}

/*
 * Counts, for each --count UNIT=NAME, the recorded ranges whose name matches NAME, and writes the number as
 * work in UNIT. Called only after all processes of the command have completed their files.
 */
static enum kwhy_status write_counts(const struct recording *recording, const struct kwhy_child_end *how)
{
	const struct kwhy_record_runner *runner = recording->runner;
	const char *patterns[KWHY_RECORD_RANGES_MAX];
	uint64_t counts[KWHY_RECORD_RANGES_MAX];
	const struct kwhy_record_ranges ranges = {.path = runner->folder->path,
		.patterns = patterns,
		.count = runner->count_count,
		.start_mono_ns = window_start(runner, how->start_mono_ns),
		.end_mono_ns = window_end(runner, how->start_mono_ns)};
	char unit[OTHER_BYTES];
	enum kwhy_status status;

	for (size_t i = 0; i < runner->count_count; i++)
		patterns[i] = strchr(runner->counts[i], '=') + 1;
	status = kwhy_record_ranges_count(&ranges, counts, recording->error);
	for (size_t i = 0; !status && i < runner->count_count; i++) {
		snprintf(unit, sizeof(unit), "%.*s", (int)strcspn(runner->counts[i], "="), runner->counts[i]);
		if (counts[i])
			kwhy_record_meters_add_work(
				runner->meters, how->end_mono_ns, unit, (double)counts[i]);
	}
	return status;
}

static void write_run(const struct kwhy_record_runner *runner, const struct kwhy_child_end *how)
{
	int64_t start_ns = window_start(runner, how->start_mono_ns),
		end_ns = window_end(runner, how->start_mono_ns);

	start_ns = start_ns < how->end_mono_ns ? start_ns : how->end_mono_ns;
	end_ns = end_ns < how->end_mono_ns ? end_ns : how->end_mono_ns;
	kwhy_record_meters_add_run(runner->meters, start_ns, end_ns, how->exit);
}

/* Whether the last reading of each energy counter that has readings is from since_mono_ns or later. */
static bool have_ticked(const struct kwhy_sensors *sensors, int64_t since_mono_ns)
{
	struct kwhy_reading reading;

	for (size_t i = 0; i < sensors->source_count; i++) {
		const struct kwhy_source_channel *source = &sensors->sources[i];

		if (source->kind == KWHY_SOURCE_METER && kwhy_meter_is_counter(source->meter) &&
			kwhy_channel_last(&source->channel, &reading) && reading.time_mono_ns < since_mono_ns)
			return false;
	}
	return true;
}

/*
 * Waits until the last reading of each energy counter is not from before the command's end, so that the run
 * is metered to its end, but at most for LAST_NS or until a signal asks to end.
 */
static void await_last(const struct kwhy_record_runner *runner, int64_t end_mono_ns)
{
	const int64_t latest_ns = kwhy_clock_mono_ns() + LAST_NS;

	while (!runner->replayed && !have_ticked(runner->sensors, end_mono_ns) &&
		kwhy_clock_mono_ns() < latest_ns)
		if (kwhy_signals_wait(runner->signals, kwhy_clock_mono_ns() + RETRY_NS))
			return;
}

static int64_t last_metered_ns(const struct kwhy_sensors *sensors, uint32_t device)
{
	struct kwhy_reading reading;
	int64_t last_ns = INT64_MIN;

	for (size_t i = 0; i < sensors->source_count; i++) {
		const struct kwhy_source_channel *source = &sensors->sources[i];

		if (source->kind == KWHY_SOURCE_METER && source->device == device &&
			kwhy_channel_last(&source->channel, &reading) && reading.time_mono_ns > last_ns)
			last_ns = reading.time_mono_ns;
	}
	return last_ns;
}

/*
 * For each device that was lost, prints that its energy covers only a part of the run, and adds this as a
 * note to the recording.
 */
static void tell_lost(const struct kwhy_record_runner *runner, int64_t start_mono_ns)
{
	const struct kwhy_sensors *sensors = runner->sensors;
	char since[KWHY_QUANTITY_BYTES], text[200];

	for (uint32_t d = 0; d < sensors->device_count; d++) {
		const struct kwhy_sensor_device *device = &sensors->devices[d];
		const int64_t last_ns = last_metered_ns(sensors, d);

		if (device->mig_index >= 0 || !atomic_load_explicit(&device->lost, memory_order_acquire))
			continue;
		kwhy_quantity_time(since, last_ns > start_mono_ns ? last_ns - start_mono_ns : 0);
		snprintf(text, sizeof(text),
			"device %" PRId32 " fell off the bus: nothing of it was metered from %s after the "
			"command's start on",
			device->index, since);
		kwhy_record_meters_add_note(runner->meters, KWHY_NOTE_WARNING, "device-lost", text);
		kwhy_output_message(text);
	}
}

/*
 * For each GPU whose division into MIG instances changed during the run, prints that its energy is that of
 * the whole GPU, whoever used it, and adds this as a note to the recording.
 */
static void tell_divided(const struct kwhy_record_runner *runner)
{
	const struct kwhy_sensors *sensors = runner->sensors;
	char text[200];

	for (size_t d = 0; d < sensors->device_count; d++) {
		if (!atomic_load_explicit(&sensors->devices[d].divided_anew, memory_order_relaxed))
			continue;
		snprintf(text, sizeof(text),
			"device %" PRId32
			" was divided anew or made whole (MIG) while the command ran: its energy "
			"is of the whole GPU, and what others ran on it is in it",
			sensors->devices[d].index);
		kwhy_record_meters_add_note(runner->meters, KWHY_NOTE_WARNING, "device-divided", text);
		kwhy_output_message(text);
	}
}

static enum kwhy_status finish(struct recording *recording, const struct kwhy_child_end *how)
{
	const struct kwhy_record_runner *runner = recording->runner;
	enum kwhy_status status;

	kwhy_lines_finish(&recording->lines[0]);
	kwhy_lines_finish(&recording->lines[1]);
	kwhy_signals_wait(runner->signals, how->end_mono_ns + SETTLE_NS);
	if (runner->sampler) {
		kwhy_sampler_flush(runner->sampler);
		await_last(runner, how->end_mono_ns);
	}
	kwhy_record_progress_end(&recording->progress);
	tell_lost(runner, how->start_mono_ns);
	tell_divided(runner);
	write_costs(recording);
	status = write_work(recording, how);
	if (!status && runner->count_count)
		status = write_counts(recording, how);
	write_run(runner, how);
	return status ? status : kwhy_record_meters_drain(runner->meters, recording->error);
}

enum kwhy_status kwhy_record_run(
	const struct kwhy_record_runner *runner, struct kwhy_child_end *out, struct kwhy_error *error)
{
	struct recording recording;
	enum kwhy_status status = begin(&recording, runner, error);
	struct kwhy_child_request request = {
		.argv = runner->argv,
		.seen = runner->specs->watching ? see_output : NULL,
		.started = keep_folder,
		.ended = end_counters,
		.tick_ns = SECOND_NS,
		.tick = tick,
		.context = &recording,
	};

	*out = (struct kwhy_child_end){.exit = KWHY_EXIT_NOT_EXECUTABLE};
	if (!status && runner->sampler)
		kwhy_sampler_flush(runner->sampler);
	read_costs(runner, &recording.before);
	if (!status)
		status = begin_window(runner, error);
	request.environment = runner->environment->settings;
	if (!status)
		status = kwhy_child_run(&request, runner->signals, out, error);
	if (!status)
		status = recording.status;
	if (!status)
		status = finish(&recording, out);
	end(&recording);
	return status;
}
