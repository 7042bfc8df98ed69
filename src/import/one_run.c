/* SPDX-License-Identifier: Apache-2.0 */
#include "import/one_run.h"

#include "base/file.h"
#include "import/utc.h"

struct window {
	int64_t start_ns, end_ns; /* a window with start_ns above end_ns is empty */
};

enum kwhy_status kwhy_one_run_check_file(
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	for (size_t i = 0; i < recording->source_count; i++)
		if (kwhy_file_is_same(recording->sources[i].path, path))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s is given twice; give each trace of a run once", path);
	return KWHY_OK;
}

/*
 * Extends a window to contain an interval. An interval with a time beyond a quarter of the range of int64_t
 * is ignored; kwhy_recording_finish() refuses it later.
 */
static void widen(struct window *window, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < INT64_MIN / 4 || end_ns > INT64_MAX / 4)
		return;
	if (start_ns < window->start_ns)
		window->start_ns = start_ns;
	if (end_ns > window->end_ns)
		window->end_ns = end_ns;
}

/*
 * From the first start to the last end of the activities, calls and coverage that were added while the
 * recording's row counts went from *from to *to.
 */
static struct window window_between(const struct kwhy_recording *recording,
	const struct kwhy_row_counts *from, const struct kwhy_row_counts *to)
{
	struct window window = {INT64_MAX, INT64_MIN};

	for (size_t i = from->activities; i < to->activities; i++)
		widen(&window, recording->activities.start_ns[i], recording->activities.end_ns[i]);
	for (size_t i = from->calls; i < to->calls; i++)
		widen(&window, recording->calls.start_ns[i], recording->calls.end_ns[i]);
	for (size_t i = from->coverage; i < to->coverage; i++)
		widen(&window, recording->coverage[i].start_ns, recording->coverage[i].end_ns);
	return window;
}

/*
 * The machine of the processes `from` to `to` - 1; KWHY_NONE: there are none, or they are of several or
 * unknown machines.
 */
static uint32_t machine_between(const struct kwhy_recording *recording, size_t from, size_t to)
{
	uint32_t machine = from < to ? kwhy_recording_machine_of(recording, (uint32_t)from) : KWHY_NONE;

	for (size_t i = from; i < to; i++)
		if (kwhy_recording_machine_of(recording, (uint32_t)i) != machine)
			machine = KWHY_NONE;
	return machine;
}

static int64_t slack_of(const struct kwhy_recording *recording, const struct kwhy_row_counts *before)
{
	uint32_t earlier = machine_between(recording, 0, before->processes),
		 machine = machine_between(recording, before->processes, recording->process_count);

	return earlier != KWHY_NONE && earlier == machine ? 0 : KWHY_ONE_RUN_SLACK_NS;
}

static enum kwhy_status refuse(const struct kwhy_recording *recording, const struct window *window,
	const struct window *earlier, const char *path, struct kwhy_error *error)
{
	int64_t apart_ns = window->start_ns > earlier->end_ns ? window->start_ns - earlier->end_ns
							      : earlier->start_ns - window->end_ns;
	char texts[4][KWHY_UTC_BYTES], apart[KWHY_UTC_BYTES];

	return kwhy_fail(error, KWHY_E_INPUT,
		"%s does not overlap %s: it is from %s to %s, the other from %s to %s, %s apart; %s", path,
		recording->sources[0].path, kwhy_utc_text(texts[0], recording, window->start_ns),
		kwhy_utc_text(texts[1], recording, window->end_ns),
		kwhy_utc_text(texts[2], recording, earlier->start_ns),
		kwhy_utc_text(texts[3], recording, earlier->end_ns), kwhy_utc_distance(apart, apart_ns),
		recording->unix_clock
			? "give the ranks of one run, or two runs to kwhy compare"
			: "their clocks are their machines' own and cannot be compared: give each "
			  "alone");
}

enum kwhy_status kwhy_one_run_check_window(const struct kwhy_recording *recording,
	const struct kwhy_row_counts *before, const char *path, struct kwhy_error *error)
{
	const struct kwhy_row_counts nothing = {0}, now = kwhy_row_counts_of(recording);
	struct window earlier = window_between(recording, &nothing, before),
		      window = window_between(recording, before, &now);
	int64_t slack_ns;

	if (!before->sources || earlier.start_ns > earlier.end_ns || window.start_ns > window.end_ns)
		return KWHY_OK;
	slack_ns = slack_of(recording, before);
	if (window.start_ns - slack_ns > earlier.end_ns || earlier.start_ns - slack_ns > window.end_ns)
		return refuse(recording, &window, &earlier, path, error);
	return KWHY_OK;
}
