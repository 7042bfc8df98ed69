/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/filtered_levels.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

/*
 * Largest distance of the current time from base_ns, in time constants. Changes of `lag` are multiplied by
 * exp(distance / tau), so base_ns is moved on before this overflows or loses precision.
 */
#define REBASE_TAUS 30

struct walker {
	const struct kwhy_response_walk *walk;
	struct kwhy_filtered_levels response;
	struct kwhy_power_levels levels;
	size_t next; /* index of the next readout (a time at which the levels are read) */
	size_t window;
	double rebase_s;
};

static double since_base_s(const struct kwhy_filtered_levels *response, int64_t time_ns)
{
	return (double)(time_ns - response->base_ns) * 1e-9;
}

static void rebase(struct kwhy_filtered_levels *response, int64_t time_ns)
{
	double length_s = since_base_s(response, time_ns);
	size_t count = response->channel_count;

	for (size_t tau = 0; tau < response->tau_count; tau++) {
		double left = exp(-length_s / response->tau_s[tau]);

		for (size_t c = 0; c < count; c++)
			response->lag[tau * count + c] *= left;
	}
	for (size_t c = 0; c < count; c++)
		response->area_s[c] += response->level[c] * length_s;
	response->base_ns = time_ns;
}

/*
 * Effect on a channel's values, which are valid for base_ns, if its level rises by 1 at a later moment:
 * area_s falls by length_s (the time since base_ns), and the lag for each time constant rises by `growth`.
 */
struct moment {
	double length_s;
	double growth[KWHY_RESPONSE_TAU_MAX];
};

static struct moment moment_at(const struct kwhy_filtered_levels *response, int64_t time_ns)
{
	struct moment moment = {.length_s = since_base_s(response, time_ns)};

	for (size_t tau = 0; tau < response->tau_count; tau++)
		moment.growth[tau] = exp(moment.length_s / response->tau_s[tau]);
	return moment;
}

static void set_level(
	struct kwhy_filtered_levels *response, const struct moment *moment, size_t channel, double level)
{
	double change = level - response->level[channel];

	if (change == 0)
		return;
	for (size_t tau = 0; tau < response->tau_count; tau++)
		response->lag[tau * response->channel_count + channel] += change * moment->growth[tau];
	response->area_s[channel] -= change * moment->length_s;
	response->level[channel] = level;
}

static bool is_covered(struct walker *walker, int64_t start_ns)
{
	const struct kwhy_covered *covered = walker->walk->covered;

	while (walker->window < covered->count && covered->windows[walker->window].end_ns <= start_ns)
		walker->window++;
	return walker->window < covered->count && covered->windows[walker->window].start_ns <= start_ns;
}

static bool is_clean(const struct kwhy_response_walk *walk, int64_t start_ns)
{
	bool clean = false;

	for (size_t i = 0; walk->classes->clean != KWHY_NONE && i < walk->device_ledger->clean_count; i++)
		clean |= start_ns >= walk->device_ledger->clean[i].start_ns &&
			start_ns < walk->device_ledger->clean[i].end_ns;
	return clean;
}

static void follow(struct walker *walker, const struct kwhy_sweep_interval *stretch)
{
	struct kwhy_filtered_levels *response = &walker->response;
	struct kwhy_power_levels *levels = &walker->levels;
	const uint32_t clean = walker->walk->classes->clean;
	struct moment moment;

	kwhy_power_levels_follow(levels, stretch);
	kwhy_power_levels_weigh(
		levels, is_covered(walker, stretch->start_ns), is_clean(walker->walk, stretch->start_ns));
	if (since_base_s(response, stretch->start_ns) > walker->rebase_s)
		rebase(response, stretch->start_ns);
	moment = moment_at(response, stretch->start_ns);
	for (size_t i = 0; i < levels->active_count; i++) {
		uint32_t class = levels->active[i];

		set_level(response, &moment, class, levels->net[class]);
		if (response->with_base)
			set_level(response, &moment, response->class_count + class, levels->base[class]);
	}
	if (clean != KWHY_NONE)
		set_level(response, &moment, clean, levels->clean);
	if (clean != KWHY_NONE && response->with_base)
		set_level(response, &moment, response->class_count + clean, levels->clean);
	set_level(response, &moment, response->channel_count - 2, levels->idle);
	set_level(response, &moment, response->channel_count - 1, levels->unrecorded);
}

/* Moves base_ns to each remaining readout before limit_ns, and calls the visitor for it. */
static void read_out(struct walker *walker, int64_t limit_ns)
{
	const struct kwhy_response_walk *walk = walker->walk;

	for (; walker->next < walk->readout_count && walk->times_ns[walker->next] < limit_ns;
		walker->next++) {
		if (walk->times_ns[walker->next] > walker->response.base_ns)
			rebase(&walker->response, walk->times_ns[walker->next]);
		walk->visit(walk->context, &walker->response, walker->next);
	}
}

/*
 * Sweeps over the hull (the time that the ledger accounts for), interval by interval. Updates the levels at
 * the start of an interval, then visits the readouts inside it.
 */
static enum kwhy_status walk_covered(struct walker *walker, const int64_t *edges, struct kwhy_error *error)
{
	const struct kwhy_response_walk *walk = walker->walk;
	size_t edge_count = 2 * walk->covered->count + 2 + 2 * walk->device_ledger->clean_count;
	struct kwhy_sweep_interval stretch;
	struct kwhy_sweep sweep;
	int ended;

	kwhy_sweep_init(
		&sweep, walk->recording, walk->device, edges[0], edges[edge_count - 1], edges, edge_count);
	walker->response.base_ns = edges[0];
	read_out(walker, edges[0]);
	while ((ended = kwhy_sweep_next(&sweep, &stretch, error)) == 0) {
		follow(walker, &stretch);
		read_out(walker, stretch.end_ns);
	}
	kwhy_sweep_done(&sweep);
	if (ended > 0)
		read_out(walker, INT64_MAX);
	return ended < 0 ? error->status : KWHY_OK;
}

static enum kwhy_status allocate(struct walker *walker, struct kwhy_error *error)
{
	const struct kwhy_response_walk *walk = walker->walk;
	struct kwhy_filtered_levels *response = &walker->response;
	size_t count = walk->classes->count * (walk->with_base ? 2 : 1) + 2;

	response->channel_count = count;
	response->class_count = walk->classes->count;
	response->with_base = walk->with_base;
	response->tau_count = walk->tau_count;
	walker->rebase_s = INFINITY;
	for (size_t tau = 0; tau < walk->tau_count; tau++) {
		response->tau_s[tau] = walk->tau_s[tau];
		walker->rebase_s = fmin(walker->rebase_s, REBASE_TAUS * walk->tau_s[tau]);
	}
	response->level = calloc(count, sizeof(*response->level));
	response->lag = calloc(count * walk->tau_count, sizeof(*response->lag));
	response->area_s = calloc(count, sizeof(*response->area_s));
	if (!response->level || !response->lag || !response->area_s)
		return kwhy_fail_memory(error, "the meter response");
	return kwhy_power_levels_init(&walker->levels, walk->device_ledger, walk->classes, walk->recording,
		walk->device, walk->sm_count, error);
}

/*
 * Sorted times at which a recorded window or a time without a context begins or ends, and the start and the
 * end of the hull. The caller frees the array. NULL: out of memory.
 */
static int64_t *edges_of(const struct kwhy_response_walk *walk)
{
	size_t count = 2 * walk->covered->count + 2, more = 2 * walk->device_ledger->clean_count;
	int64_t *edges = kwhy_covered_edges(walk->covered), *all;

	if (!edges || !more)
		return edges;
	all = realloc(edges, (count + more) * sizeof(*edges));
	if (!all) {
		free(edges);
		return NULL;
	}
	for (size_t i = 0; i < walk->device_ledger->clean_count; i++) {
		all[count++] = walk->device_ledger->clean[i].start_ns;
		all[count++] = walk->device_ledger->clean[i].end_ns;
	}
	kwhy_sort_integers(all, count);
	return all;
}

enum kwhy_status kwhy_response_walk(const struct kwhy_response_walk *walk, struct kwhy_error *error)
{
	struct walker walker = {.walk = walk};
	int64_t *edges = edges_of(walk);
	enum kwhy_status status = edges ? KWHY_OK : kwhy_fail_memory(error, "coverage");

	if (!status)
		status = allocate(&walker, error);
	if (!status)
		status = walk_covered(&walker, edges, error);
	kwhy_power_levels_done(&walker.levels);
	free(walker.response.level);
	free(walker.response.lag);
	free(walker.response.area_s);
	free(edges);
	return status;
}
