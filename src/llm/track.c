/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_FIRST = 256 };

/* --- Selecting devices --- */

static enum kwhy_status add_named(struct kwhy_llm_track *track, const struct kwhy_llm_scrape *scrape,
	const char *name, struct kwhy_error *error)
{
	const struct kwhy_llm_scrape_device *device = kwhy_llm_scrape_find(scrape, name);

	if (!device)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--device %.40s: the server's metrics report no energy of such a device; see the "
			"label device of kwhy_device_energy_joules_total there",
			name);
	for (size_t i = 0; i < track->device_count; i++)
		if (strcmp(track->devices[i].name, name) == 0)
			return kwhy_fail(error, KWHY_E_USAGE, "--device names %.40s twice", name);
	track->devices[track->device_count++] = *device;
	return KWHY_OK;
}

static enum kwhy_status add_list(struct kwhy_llm_track *track, const struct kwhy_llm_scrape *scrape,
	const char *list, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *at = list;

	while (!status && at) {
		size_t length = strcspn(at, ",");
		char name[KWHY_LLM_SCRAPE_NAME_BYTES] = "";

		if (length == 0 || length >= sizeof(name))
			return kwhy_fail(error, KWHY_E_USAGE,
				"--device takes numbers of devices with commas between, not '%.40s'", list);
		memcpy(name, at, length);
		status = add_named(track, scrape, name, error);
		at = at[length] ? at + length + 1 : NULL;
	}
	return status;
}

enum kwhy_status kwhy_llm_track_begin(struct kwhy_llm_track *track, const struct kwhy_llm_scrape *scrape,
	const char *devices, struct kwhy_error *error)
{
	*track = (struct kwhy_llm_track){.started_unix_s = scrape->started_unix_s};
	if (devices)
		return add_list(track, scrape, devices, error);
	for (size_t i = 0; i < scrape->device_count; i++)
		if (isfinite(scrape->devices[i].joules) && !scrape->devices[i].lost &&
			!strchr(scrape->devices[i].name, ':'))
			track->devices[track->device_count++] = scrape->devices[i];
	return track->device_count ? KWHY_OK
				   : kwhy_fail(error, KWHY_E_INPUT, "the metrics report no energy of a GPU");
}

void kwhy_llm_track_done(struct kwhy_llm_track *track)
{
	free(track->points);
	*track = (struct kwhy_llm_track){0};
}

/* --- Scrapes --- */

static enum kwhy_status reserve(struct kwhy_llm_track *track, struct kwhy_error *error)
{
	size_t capacity = track->capacity ? 2 * track->capacity : POINTS_FIRST;
	struct kwhy_llm_track_point *points;

	if (track->count < track->capacity)
		return KWHY_OK;
	points = realloc(track->points, capacity * sizeof(*points));
	if (!points)
		return kwhy_fail_memory(error, "scrapes of the server's meters");
	track->points = points;
	track->capacity = capacity;
	return KWHY_OK;
}

/*
 * Sets `out` to the sum of the joules of all selected devices, and to the earliest and the latest moment that
 * the ages of the devices' readings allow for it. KWHY_E_INPUT: a device is missing or lost.
 */
static enum kwhy_status sum_devices(const struct kwhy_llm_track *track, const struct kwhy_llm_scrape *scrape,
	int64_t sent_ns, int64_t got_ns, struct kwhy_llm_track_point *out, struct kwhy_error *error)
{
	*out = (struct kwhy_llm_track_point){.early_ns = INT64_MAX, .late_ns = INT64_MIN};
	for (size_t i = 0; i < track->device_count; i++) {
		const struct kwhy_llm_scrape_device *device = kwhy_llm_scrape_find(
			scrape, track->devices[i].name);
		int64_t lag_most_ns = KWHY_LLM_TRACK_LAG_NS, lag_least_ns = 0, early_ns, late_ns;

		if (!device || device->lost)
			return kwhy_fail(error, KWHY_E_INPUT, "GPU %s %s; see dmesg of that host",
				track->devices[i].name,
				device ? "answers no more, by kwhy_device_lost of the server's metrics"
				       : "is gone from the server's metrics");
		if (device->lag_s >= 0)
			lag_most_ns = (int64_t)(fmin(device->lag_s, 3600) * 1e9);
		if (device->least_lag_s >= 0)
			lag_least_ns = (int64_t)(fmin(device->least_lag_s, 3600) * 1e9);
		early_ns = sent_ns - KWHY_LLM_TRACK_FRESH_NS - lag_most_ns - KWHY_LLM_TRACK_STAMP_NS;
		late_ns = got_ns - lag_least_ns;
		out->joules += device->joules;
		out->early_ns = early_ns < out->early_ns ? early_ns : out->early_ns;
		out->late_ns = late_ns > out->late_ns ? late_ns : out->late_ns;
	}
	return KWHY_OK;
}

static const char *fallen_device(const struct kwhy_llm_track *track, const struct kwhy_llm_scrape *scrape)
{
	for (size_t i = 0; i < track->device_count; i++)
		if (kwhy_llm_scrape_find(scrape, track->devices[i].name)->joules < track->devices[i].joules)
			return track->devices[i].name;
	return NULL;
}

static enum kwhy_status check_goes_on(
	const struct kwhy_llm_track *track, const struct kwhy_llm_scrape *scrape, struct kwhy_error *error)
{
	const char *fallen = fallen_device(track, scrape);

	if (scrape->started_unix_s != track->started_unix_s &&
		(isfinite(scrape->started_unix_s) || isfinite(track->started_unix_s)))
		return kwhy_fail(error, KWHY_E_INPUT,
			"kwhy serve was started anew in the meantime, and counts from there; measure again");
	if (fallen)
		return kwhy_fail(error, KWHY_E_INPUT,
			"the energy counter of GPU %s went back in the server's metrics; measure again",
			fallen);
	return KWHY_OK;
}

enum kwhy_status kwhy_llm_track_add(struct kwhy_llm_track *track, const struct kwhy_llm_scrape *scrape,
	int64_t sent_ns, int64_t got_ns, struct kwhy_error *error)
{
	struct kwhy_llm_track_point point;
	enum kwhy_status status = sum_devices(track, scrape, sent_ns, got_ns, &point, error), goes_on;

	if (!status)
		status = reserve(track, error);
	if (status)
		return status;
	goes_on = check_goes_on(track, scrape, error);
	if (goes_on)
		track->count = 0;
	for (size_t i = 0; i < track->device_count; i++)
		track->devices[i].joules = kwhy_llm_scrape_find(scrape, track->devices[i].name)->joules;
	track->started_unix_s = scrape->started_unix_s;
	track->points[track->count++] = point;
	return goes_on;
}

/* --- Windows --- */

bool kwhy_llm_track_reaches(const struct kwhy_llm_track *track, int64_t mono_ns)
{
	for (size_t i = track->count; i-- > 0;)
		if (track->points[i].early_ns >= mono_ns)
			return true;
	return false;
}

/*
 * An estimate of the sum of the counters at a moment, J, with bounds. low_j is NAN if no scrape is certainly
 * before that moment, high_j if none is certainly after it, joules in both cases.
 */
struct level {
	double low_j, high_j, joules;
};

static double middle_ns(const struct kwhy_llm_track_point *point)
{
	return (double)point->early_ns / 2 + (double)point->late_ns / 2;
}

static struct level level_at(const struct kwhy_llm_track *track, int64_t mono_ns)
{
	const struct kwhy_llm_track_point *before = NULL, *after = NULL;
	struct level level = {NAN, NAN, NAN};

	for (size_t i = 0; i < track->count; i++) {
		const struct kwhy_llm_track_point *point = &track->points[i];

		if (point->late_ns <= mono_ns)
			level.low_j = fmax(level.low_j, point->joules);
		if (point->early_ns >= mono_ns)
			level.high_j = fmin(level.high_j, point->joules);
		if (middle_ns(point) <= (double)mono_ns)
			before = point;
		else if (!after)
			after = point;
	}
	if (!before || !after || isnan(level.low_j) || isnan(level.high_j))
		return level;
	level.joules = before->joules +
		(after->joules - before->joules) * ((double)mono_ns - middle_ns(before)) /
			fmax(middle_ns(after) - middle_ns(before), 1);
	level.joules = fmin(fmax(level.joules, level.low_j), level.high_j);
	return level;
}

bool kwhy_llm_track_window(const struct kwhy_llm_track *track, int64_t start_ns, int64_t end_ns,
	struct kwhy_llm_track_energy *out)
{
	struct level start = level_at(track, start_ns), end = level_at(track, end_ns);

	*out = (struct kwhy_llm_track_energy){
		end.joules - start.joules, fmax(end.low_j - start.high_j, 0), end.high_j - start.low_j};
	return isfinite(out->joules);
}

void kwhy_llm_track_forget(struct kwhy_llm_track *track, int64_t start_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < track->count; i++)
		if (track->points[i].late_ns <= start_ns)
			kept = i;
	if (!kept)
		return;
	memmove(track->points, track->points + kept, (track->count - kept) * sizeof(*track->points));
	track->count -= kept;
}
