/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/window.h"

#include "base/quantity.h"
#include "import/utc.h"

#include <math.h>
#include <stdio.h>

void kwhy_power_window_add(struct kwhy_power_window *window, int64_t time_ns)
{
	if (!window->known || time_ns < window->start_ns)
		window->start_ns = time_ns;
	if (!window->known || time_ns > window->end_ns)
		window->end_ns = time_ns;
	window->known = true;
}

static void widen(
	struct kwhy_power_window *window, const int64_t *start_ns, const int64_t *end_ns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		kwhy_power_window_add(window, start_ns[i]);
		kwhy_power_window_add(window, end_ns[i]);
	}
}

struct kwhy_power_window kwhy_power_window_of_work(const struct kwhy_recording *recording)
{
	struct kwhy_power_window window = {0};

	widen(&window, recording->activities.start_ns, recording->activities.end_ns,
		recording->activities.count);
	if (!window.known)
		widen(&window, recording->calls.start_ns, recording->calls.end_ns, recording->calls.count);
	return window;
}

/*
 * Text that names a mistake of units, if the first times of power file and trace (in Unix time) differ by a
 * factor of 10^3, 10^6 or 10^9 to within 5 %; otherwise NULL.
 */
static const char *unit_mistake(const struct kwhy_recording *recording, int64_t power_ns, int64_t work_ns)
{
	static const struct {
		double ratio;
		const char *words;
	} mistakes[] = {
		{1e3, "the power's times are 1,000 times smaller than the trace's: microseconds?"},
		{1e6, "the power's times are 10^6 times smaller than the trace's: milliseconds?"},
		{1e9, "the power's times are 10^9 times smaller than the trace's: seconds?"},
		{1e-3, "the trace's times are 1,000 times smaller than the power's: microseconds?"},
		{1e-6, "the trace's times are 10^6 times smaller than the power's: milliseconds?"},
		{1e-9, "the trace's times are 10^9 times smaller than the power's: seconds?"},
	};
	double power = (double)recording->origin_unix_ns + (double)power_ns;
	double work = (double)recording->origin_unix_ns + (double)work_ns;

	for (size_t i = 0; power > 0 && work > 0 && i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		if (fabs(work / power / mistakes[i].ratio - 1) < 0.05)
			return mistakes[i].words;
	return NULL;
}

static enum kwhy_status refuse(const struct kwhy_power_window *power, const struct kwhy_power_window *work,
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	int64_t apart_ns = power->start_ns > work->end_ns ? power->start_ns - work->end_ns
							  : work->start_ns - power->end_ns;
	const char *unit = unit_mistake(recording, power->start_ns, work->start_ns);
	char texts[4][KWHY_UTC_BYTES], apart[KWHY_UTC_BYTES];

	return kwhy_fail(error, KWHY_E_INPUT,
		"%s does not overlap the trace: power from %s to %s, activity from %s to %s, %s apart; %s",
		path, kwhy_utc_text(texts[0], recording, power->start_ns),
		kwhy_utc_text(texts[1], recording, power->end_ns),
		kwhy_utc_text(texts[2], recording, work->start_ns),
		kwhy_utc_text(texts[3], recording, work->end_ns), kwhy_utc_distance(apart, apart_ns),
		unit ? unit : "use the files of one run, with both clocks on the same time");
}

static enum kwhy_status note_overlap(const struct kwhy_power_window *power,
	const struct kwhy_power_window *work, struct kwhy_recording *recording, const char *path,
	struct kwhy_error *error)
{
	int64_t start_ns = power->start_ns > work->start_ns ? power->start_ns : work->start_ns;
	int64_t end_ns = power->end_ns < work->end_ns ? power->end_ns : work->end_ns;
	int64_t span_ns = work->end_ns - work->start_ns;
	char covered[KWHY_QUANTITY_BYTES], span[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES];

	if (end_ns - start_ns >= span_ns)
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "power-overlap", error,
		"%s covers %s of the %s in which devices worked (%s); outside no energy is attributed.", path,
		kwhy_quantity_time(covered, end_ns - start_ns), kwhy_quantity_time(span, span_ns),
		kwhy_quantity_percent(share, (double)(end_ns - start_ns) / (double)span_ns));
}

/*
 * Refuses readings that span more than a year: some are then not from the time of the trace, because a clock
 * was set or files were joined.
 */
static enum kwhy_status check_length(const struct kwhy_power_window *power,
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	char texts[2][KWHY_UTC_BYTES];

	if (power->end_ns - power->start_ns <= KWHY_POWER_WINDOW_MAX_NS)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s holds readings from %s to %s, more than a year; remove those that are not of this run",
		path, kwhy_utc_text(texts[0], recording, power->start_ns),
		kwhy_utc_text(texts[1], recording, power->end_ns));
}

enum kwhy_status kwhy_power_window_check(const struct kwhy_power_window *window,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	struct kwhy_power_window work = kwhy_power_window_of_work(recording);
	enum kwhy_status status;

	if (!work.known || !window->known)
		return KWHY_OK;
	if (window->start_ns > work.end_ns || window->end_ns < work.start_ns)
		return refuse(window, &work, recording, path, error);
	status = check_length(window, recording, path, error);
	return status ? status : note_overlap(window, &work, recording, path, error);
}
