/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/busy.h"

#include "base/sort.h"
#include "whatif/edits.h"
#include "whatif/project.h"

#include <math.h>
#include <stdlib.h>

/* Activities of a device, at recorded or projected times, and which of them are removed by a change. */
struct shift {
	const int64_t *start_ns, *end_ns;
	const uint8_t *dropped; /* [count] whether a change removes the activity; NULL: none is removed */
	size_t count;
};

static int by_start(const void *context, uint32_t a, uint32_t b)
{
	const int64_t *start_ns = context;

	return kwhy_sort_by(start_ns[a], start_ns[b]);
}

/*
 * Adds a device's busy time in ns to *sum_ns: the length of the union of the activities that are not removed.
 */
static enum kwhy_status add_busy_ns(const struct shift *shift, double *sum_ns, struct kwhy_error *error)
{
	uint32_t *order;
	int64_t until_ns = INT64_MIN;
	enum kwhy_status status = kwhy_sort_order(shift->count, by_start, shift->start_ns, &order, error);

	if (status)
		return status;
	for (size_t i = 0; i < shift->count; i++) {
		size_t row = order ? order[i] : i;
		int64_t from_ns = shift->start_ns[row] > until_ns ? shift->start_ns[row] : until_ns;

		if ((shift->dropped && shift->dropped[row]) || shift->end_ns[row] <= from_ns)
			continue;
		*sum_ns += (double)(shift->end_ns[row] - from_ns);
		until_ns = shift->end_ns[row];
	}
	free(order);
	return KWHY_OK;
}

static enum kwhy_status busy_ratio(const struct kwhy_whatif *whatif, const struct shift *all, int64_t time_ns,
	double *out, struct kwhy_error *error)
{
	const size_t *first = whatif->recording->activities.first;
	enum kwhy_status status = KWHY_OK;
	double busy_ns = 0;
	size_t active = 0;

	for (size_t d = 0; !status && d < whatif->recording->device_count; d++) {
		struct shift shift = {all->start_ns + first[d], all->end_ns + first[d],
			all->dropped ? all->dropped + first[d] : NULL, first[d + 1] - first[d]};

		active += shift.count > 0;
		status = add_busy_ns(&shift, &busy_ns, error);
	}
	if (!status)
		*out = active && time_ns > 0 ? busy_ns / (double)active / (double)time_ns : NAN;
	return status;
}

enum kwhy_status kwhy_whatif_add_busy(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	const struct kwhy_whatif_graph *graph = whatif->graph;
	struct shift recorded = {rows->start_ns, rows->end_ns, NULL, rows->count};
	struct shift played = {graph->start_ns, graph->end_ns, graph->dropped, rows->count};
	double before = NAN, after = NAN;
	enum kwhy_status status = busy_ratio(whatif, &recorded, plan->before.time_ns, &before, error);

	after = before;
	if (!status && plan->change_count)
		status = kwhy_whatif_play_plan(whatif, plan, error);
	if (!status && plan->change_count)
		status = busy_ratio(whatif, &played, kwhy_plan_after(plan)->time_ns, &after, error);
	kwhy_whatif_undo(whatif->graph, 0);
	if (status)
		return status;
	plan->busy_before_ratio = before;
	plan->busy_after_ratio = after;
	return KWHY_OK;
}
