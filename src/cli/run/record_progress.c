/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_progress.h"

#include "base/quantity.h"
#include "recording/bundle.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_EVERY_NS INT64_C(10000000000)
#define SECOND_NS INT64_C(1000000000)

enum { LINE_BYTES = 160, STATE_BYTES = 100 };

static uint64_t size_of(const char *folder)
{
	struct kwhy_bundle bundle;
	struct kwhy_error error;
	struct stat facts;
	uint64_t bytes = 0;

	if (kwhy_bundle_open(&bundle, folder, &error))
		return 0;
	for (size_t i = 0; i < bundle.count; i++)
		bytes += !stat(bundle.paths[i], &facts) ? (uint64_t)facts.st_size : 0;
	kwhy_bundle_done(&bundle);
	return bytes;
}

/*
 * Latest power reading of a device, mW, from the first of its power meters that has a reading; -1: no power
 * meter has one.
 */
static int64_t power_mw(const struct kwhy_sensors *sensors, uint32_t device)
{
	struct kwhy_reading reading;

	for (size_t i = 0; i < sensors->source_count; i++) {
		const struct kwhy_source_channel *source = &sensors->sources[i];

		if (source->kind == KWHY_SOURCE_METER && source->device == device &&
			!kwhy_meter_is_counter(source->meter) &&
			kwhy_channel_last(&source->channel, &reading))
			return reading.value;
	}
	return -1;
}

static int64_t total_mw(const struct kwhy_sensors *sensors)
{
	int64_t total = -1;

	for (uint32_t i = 0; i < sensors->device_count; i++) {
		const int64_t device_mw = power_mw(sensors, i);

		if (device_mw >= 0)
			total = (total < 0 ? 0 : total) + device_mw;
	}
	return total;
}

/* Writes the size of the recording or, for a probed command, the progress of the probing. */
static void write_state(const struct kwhy_record_progress *progress, char *out, size_t space)
{
	if (progress->watch)
		kwhy_probe_watch_write(progress->watch, out, space);
	else
		kwhy_quantity_bytes(out, size_of(progress->folder));
}

/*
 * Writes the line "recording 12 s, 1.93 MB, 135 W", with the total power of the devices. If the power is
 * unknown, it is left out.
 */
static void write_line(const struct kwhy_record_progress *progress, int64_t now_mono_ns, char out[LINE_BYTES])
{
	const int64_t power_mw = total_mw(progress->sensors);
	char state[STATE_BYTES], power[KWHY_QUANTITY_BYTES + 2] = "";

	if (power_mw >= 0)
		snprintf(power, sizeof(power), ", %.0f W", 1e-3 * (double)power_mw);
	write_state(progress, state, sizeof(state));
	snprintf(out, LINE_BYTES, "%s %lld s%s%s%s", progress->watch ? "probing" : "recording",
		(long long)((now_mono_ns - progress->start_mono_ns) / SECOND_NS), *state ? ", " : "", state,
		power);
}

void kwhy_record_progress_show(struct kwhy_record_progress *progress, int64_t now_mono_ns)
{
	const bool is_terminal = isatty(STDERR_FILENO);
	char line[LINE_BYTES];

	if (!is_terminal && now_mono_ns - progress->last_mono_ns < LINE_EVERY_NS)
		return;
	progress->last_mono_ns = now_mono_ns;
	progress->is_drawn = is_terminal;
	write_line(progress, now_mono_ns, line);
	fprintf(stderr, is_terminal ? "\r\033[Kkwhy: %s" : "kwhy: %s\n", line);
	fflush(stderr);
}

void kwhy_record_progress_end(struct kwhy_record_progress *progress)
{
	if (progress->is_drawn)
		fputs("\r\033[K", stderr);
	progress->is_drawn = false;
}
