/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/critical.h"
#include "whatif/edits.h"

#include <math.h>

/*
 * Change of the speed of the host to `number` per cent: scales the time of its threads in calls and between
 * calls. The time of the device's work and the latency between host and device stay. So does the time before
 * the device's first work, since it is not part of the run.
 */

/*
 * Largest sum in ns of all scaled calls and pauses; with a larger one the change is refused, so that sums of
 * times do not overflow an int64_t. Recorded times have the same limit.
 */
#define HOST_MAX_NS ((double)(INT64_MAX / 4))

static int64_t scaled(int64_t length_ns, uint32_t percent)
{
	return (int64_t)((double)length_ns * 100 / percent + 0.5);
}

/* Makes an activity start sooner after the start of its call, by the time that the call saves. */
static void issue_sooner(struct kwhy_whatif *whatif, uint32_t row, int64_t saved_ns)
{
	struct kwhy_whatif_node *node = kwhy_whatif_edit(whatif->graph, row);
	int64_t lag_ns;

	whatif->out_of_memory |= !node;
	if (!node || node->from[KWHY_LINK_ISSUE] == KWHY_NONE)
		return;
	lag_ns = kwhy_whatif_lag_ns(whatif->graph, node, KWHY_LINK_ISSUE) - saved_ns;
	kwhy_whatif_set_lag(whatif->graph, node, KWHY_LINK_ISSUE, lag_ns > 0 ? lag_ns : 0);
}

/*
 * Scales the pauses before a call; of a removed call, the parts of its pauses that are left. A pause longer
 * than KWHY_WHATIF_PAUSE_MAX_NS stays as it is. Returns the time saved in ns, which is below 0 if the pauses
 * become longer.
 */
static int64_t change_pauses(struct kwhy_whatif_graph *graph, struct kwhy_whatif_node *node, uint32_t percent)
{
	int64_t saved_ns = 0;

	for (size_t link = 0; link < KWHY_LINK_JOIN; link++) {
		const int64_t lag_ns = kwhy_whatif_lag_ns(graph, node, link);

		if (node->from[link] == KWHY_NONE || lag_ns <= 0 || lag_ns > KWHY_WHATIF_PAUSE_MAX_NS)
			continue;
		saved_ns += lag_ns - scaled(lag_ns, percent);
		kwhy_whatif_set_lag(graph, node, link, scaled(lag_ns, percent));
	}
	return saved_ns;
}

static int64_t change_call(struct kwhy_whatif *whatif, uint32_t call, uint32_t percent)
{
	struct kwhy_whatif_node *node = kwhy_whatif_edit(
		whatif->graph, kwhy_whatif_call_node(whatif->graph, call));
	int64_t own_ns, less_ns, saved_ns;

	whatif->out_of_memory |= !node;
	if (!node)
		return 0;
	saved_ns = change_pauses(whatif->graph, node, percent);
	if (kwhy_whatif_call_is_dropped(whatif, call))
		return saved_ns;
	own_ns = kwhy_whatif_own_ns(whatif->graph, node);
	less_ns = own_ns - scaled(own_ns, percent);
	kwhy_whatif_set_own(whatif->graph, node, own_ns - less_ns);
	for (size_t i = whatif->first_issued[call]; i < whatif->first_issued[call + 1]; i++)
		if (!kwhy_whatif_row_is_dropped(whatif, whatif->issued[i]))
			issue_sooner(whatif, whatif->issued[i], less_ns);
	return saved_ns + less_ns;
}

/* Sum in ns of the times of all calls and of the pauses before them. */
static double host_ns(const struct kwhy_whatif_graph *graph)
{
	double sum_ns = 0;

	for (size_t i = graph->activity_count; i < graph->activity_count + graph->call_count; i++) {
		const struct kwhy_whatif_node *node = &graph->nodes[i];

		sum_ns += (double)kwhy_whatif_own_ns(graph, node);
		for (size_t link = 0; link < KWHY_LINK_JOIN; link++)
			if (node->from[link] != KWHY_NONE)
				sum_ns += fmax((double)kwhy_whatif_lag_ns(graph, node, link), 0);
	}
	return sum_ns;
}

void kwhy_whatif_change_host_speed(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	double saved_ns = 0;
	char words[KWHY_QUANTITY_BYTES];

	if (host_ns(whatif->graph) * 100 / number > HOST_MAX_NS) {
		kwhy_whatif_refuse(effect, "at that speed the host would need more than 73 years");
		return;
	}
	for (uint32_t call = 0; call < whatif->recording->calls.count; call++) {
		if (whatif->graph->outer[call] != call ||
			whatif->recording->calls.start_ns[call] <= whatif->first_ns)
			continue;
		saved_ns += (double)change_call(whatif, call, number);
		effect->places += !kwhy_whatif_call_is_dropped(whatif, call);
	}
	if (effect->places)
		kwhy_whatif_say(effect,
			"%s calls and the time between them take %.3g times as long, %s %s in all; "
			"waits for the device and pauses above 1 s stay",
			KWHY_WHATIF_COUNT(effect->places), 100.0 / number,
			kwhy_whatif_time_words(words, fabs(saved_ns)), saved_ns < 0 ? "more" : "less");
	else
		kwhy_whatif_refuse(effect, "the recording has no calls of the host after its first work");
}
