/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/zone.h"

#include "import/power/window.h"

#include <string.h>
#include <time.h>

/*
 * Offsets from UTC that are tried: multiples of 15 minutes from -12:00 to +14:00, as all time zones of the
 * world are.
 */
static const int64_t second_ns = 1000000000;
enum { QUARTER_S = 900, QUARTERS_MIN = -48, QUARTERS_MAX = 56 };

/*
 * Converts a local time of this machine's time zone to Unix time, with daylight saving time where it applies.
 */
static int64_t here(int64_t local_ns)
{
	const time_t seconds = (time_t)(local_ns / second_ns);
	struct tm parts = {0};

	if (!gmtime_r(&seconds, &parts))
		return local_ns;
	parts.tm_isdst = -1;
	return (int64_t)mktime(&parts) * second_ns + local_ns % second_ns;
}

static void shift(struct kwhy_power_log *log, bool is_here, int64_t offset_ns)
{
	for (size_t i = 0; i < log->entry_count; i++) {
		struct kwhy_power_entry *entry = &log->entries[i];

		if (!entry->is_local)
			continue;
		entry->time_ns = is_here ? here(entry->time_ns) : entry->time_ns - offset_ns;
		entry->is_local = false;
	}
}

static const char *offset_text(char out[8], int quarters)
{
	const int minutes = quarters * (QUARTER_S / 60);
	const int ahead = minutes < 0 ? -minutes : minutes;

	out[0] = minutes < 0 ? '-' : '+';
	out[1] = (char)('0' + ahead / 600);
	out[2] = (char)('0' + ahead / 60 % 10);
	out[3] = ':';
	out[4] = (char)('0' + ahead % 60 / 10);
	out[5] = (char)('0' + ahead % 10);
	out[6] = '\0';
	return out;
}

static struct kwhy_power_window local_window(const struct kwhy_power_log *log)
{
	struct kwhy_power_window window = {0};

	for (size_t i = 0; i < log->entry_count; i++)
		if (log->entries[i].is_local) {
			kwhy_power_window_add(&window, log->entries[i].time_ns - log->entries[i].length_ns);
			kwhy_power_window_add(&window, log->entries[i].time_ns);
		}
	return window;
}

/*
 * Whether the times of the log without a zone overlap the work if their offset is offset_ns, which is
 * subtracted. Each window is tested alone; readings are tested as the interval *all from the first to the
 * last.
 */
static bool overlaps_in(const struct kwhy_power_log *log, const struct kwhy_power_window *all,
	const struct kwhy_power_window *work, int64_t offset_ns)
{
	bool found = false;

	if (log->entries[0].length_ns == 0)
		return all->start_ns - offset_ns <= work->end_ns && all->end_ns - offset_ns >= work->start_ns;
	for (size_t i = 0; !found && i < log->entry_count; i++) {
		const struct kwhy_power_entry *entry = &log->entries[i];

		found = entry->is_local && entry->time_ns - entry->length_ns - offset_ns <= work->end_ns &&
			entry->time_ns - offset_ns >= work->start_ns;
	}
	return found;
}

/*
 * Number of offsets from UTC with which the log overlaps the work. *out_quarters is the last of them, in
 * quarters of an hour.
 */
static size_t count_zones(const struct kwhy_power_log *log, const struct kwhy_power_window *all,
	const struct kwhy_power_window *work, int64_t origin_ns, int *out_quarters)
{
	size_t count = 0;

	for (int quarters = QUARTERS_MIN; quarters <= QUARTERS_MAX; quarters++) {
		if (!overlaps_in(log, all, work, quarters * QUARTER_S * second_ns + origin_ns))
			continue;
		*out_quarters = quarters;
		count++;
	}
	return count;
}

static enum kwhy_status apply_stated(struct kwhy_power_log *log, const char *zone, struct kwhy_error *error)
{
	const bool is_here = !strcmp(zone, "local");
	int64_t offset_ns = 0;

	if (!is_here && !kwhy_power_offset_read((struct kwhy_span){zone, strlen(zone)}, &offset_ns))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--power-zone \"%s\": write +02:00, UTC or local", zone);
	shift(log, is_here, offset_ns);
	return KWHY_OK;
}

enum kwhy_status kwhy_power_zone_apply(struct kwhy_power_log *log, struct kwhy_recording *recording,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const struct kwhy_power_window window = local_window(log);
	const struct kwhy_power_window work = kwhy_power_window_of_work(recording);
	size_t count;
	int quarters = 0;
	char text[8];

	if (options->power_zone)
		return apply_stated(log, options->power_zone, error);
	if (!window.known || !work.known || !recording->unix_clock)
		return KWHY_OK;
	count = count_zones(log, &window, &work, recording->origin_unix_ns, &quarters);
	if (count > 1)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s has times without a zone, and it would overlap with the trace in %zu zones; "
			"state its zone with --power-zone +02:00 (UTC, local)",
			log->path, count);
	shift(log, false, quarters * QUARTER_S * second_ns);
	if (count == 0)
		/*
		 * No offset makes the log overlap the work. kwhy_power_window_check() refuses the log later,
		 * with a message that states the intervals of log and trace.
		 */
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_COMPLETENESS, "power-zone", error,
		"%s has times without a zone: UTC%s is assumed, the only zone in which it overlaps with the "
		"trace.",
		log->path, offset_text(text, quarters));
}
