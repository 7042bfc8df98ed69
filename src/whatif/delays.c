/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/parts.h"

#include <stdlib.h>
#include <string.h>

/*
 * Medians of delays. Of many, every 2nd, 4th, ... is looked at, so that the room is bounded and the result
 * does not depend on chance.
 */

enum { SAMPLES = 1024, KINDS = KWHY_ACTIVITY_KIND_COUNT };

struct samples {
	int64_t values[SAMPLES];
	size_t count, seen, stride;
};

struct sampled {
	struct samples queued[KINDS][KINDS], issue[KINDS], launch_call;
	int64_t least_gap_ns; /* between activities of a stream, however they were queued; -1: none */
};

static void add(struct samples *samples, int64_t value)
{
	samples->stride += samples->stride == 0;
	if (samples->seen++ % samples->stride)
		return;
	if (samples->count == SAMPLES) {
		for (size_t i = 0; i < SAMPLES / 2; i++)
			samples->values[i] = samples->values[2 * i];
		samples->count = SAMPLES / 2;
		samples->stride *= 2;
	}
	samples->values[samples->count++] = value;
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static int64_t median(struct samples *samples)
{
	if (!samples->count)
		return -1;
	qsort(samples->values, samples->count, sizeof(*samples->values), by_value);
	return samples->values[samples->count / 2];
}

static void sample_activity(const struct kwhy_whatif_graph *graph, uint32_t row, struct sampled *sampled)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	const struct kwhy_whatif_node *node = &graph->nodes[row];
	uint32_t before = node->from[KWHY_LINK_ORDER], issue = node->from[KWHY_LINK_ISSUE];
	int64_t free_ns = before == KWHY_NONE ? INT64_MIN : rows->end_ns[before];
	int64_t gap_ns = before == KWHY_NONE ? -1 : rows->start_ns[row] - free_ns;

	if (gap_ns >= 0 && (sampled->least_gap_ns < 0 || gap_ns < sampled->least_gap_ns))
		sampled->least_gap_ns = gap_ns;
	if (issue == KWHY_NONE || rows->graph_node[row] != KWHY_NONE)
		return;
	if (gap_ns >= 0 && kwhy_whatif_recorded_end(graph, issue) <= free_ns)
		add(&sampled->queued[rows->kind[before]][rows->kind[row]], gap_ns);
	if (kwhy_whatif_recorded_start(graph, issue) >= free_ns)
		add(&sampled->issue[rows->kind[row]],
			rows->start_ns[row] - kwhy_whatif_recorded_start(graph, issue));
}

static void sample_calls(const struct kwhy_whatif_graph *graph, struct samples *launches, int64_t *least_ns)
{
	const struct kwhy_calls *calls = &graph->recording->calls;

	for (size_t class = 0; class < KWHY_CALL_CLASS_COUNT; class ++)
		least_ns[class] = -1;
	for (size_t i = 0; i < calls->count; i++) {
		int64_t length_ns = calls->end_ns[i] - calls->start_ns[i];
		int64_t *least = &least_ns[calls->class[i]];

		if (graph->outer[i] != i)
			continue;
		*least = *least < 0 || length_ns < *least ? length_ns : *least;
		if (calls->class[i] == KWHY_CALL_LAUNCH)
			add(launches, length_ns);
	}
}

/* A pair of kinds that was never queued takes after kernels, those after any pair, that after any gap. */
static void fill_queued(struct kwhy_whatif_delays *delays, struct sampled *sampled)
{
	int64_t least_ns = -1, kernels_ns;

	for (size_t i = 0; i < KINDS * KINDS; i++) {
		int64_t *queued = &delays->queued_ns[i / KINDS][i % KINDS];

		*queued = median(&sampled->queued[i / KINDS][i % KINDS]);
		if (*queued >= 0 && (least_ns < 0 || *queued < least_ns))
			least_ns = *queued;
	}
	kernels_ns = delays->queued_ns[KWHY_ACTIVITY_KERNEL][KWHY_ACTIVITY_KERNEL];
	kernels_ns = kernels_ns >= 0 ? kernels_ns : least_ns >= 0 ? least_ns : sampled->least_gap_ns;
	for (size_t i = 0; i < KINDS * KINDS; i++)
		if (delays->queued_ns[i / KINDS][i % KINDS] < 0)
			delays->queued_ns[i / KINDS][i % KINDS] = kernels_ns;
}

enum kwhy_status kwhy_whatif_find_delays(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	struct kwhy_whatif_delays *delays = &graph->delays;
	struct sampled *sampled = calloc(1, sizeof(*sampled));
	int64_t any_ns;

	if (!sampled)
		return kwhy_fail_memory(error, "delays");
	sampled->least_gap_ns = -1;
	for (size_t i = 0; i < graph->activity_count; i++)
		sample_activity(graph, (uint32_t)i, sampled);
	sample_calls(graph, &sampled->launch_call, delays->least_call_ns);
	fill_queued(delays, sampled);
	any_ns = median(&sampled->issue[KWHY_ACTIVITY_KERNEL]);
	for (size_t kind = 0; kind < KINDS; kind++) {
		delays->issue_ns[kind] = median(&sampled->issue[kind]);
		if (delays->issue_ns[kind] < 0)
			delays->issue_ns[kind] = any_ns;
	}
	delays->launch_call_ns = median(&sampled->launch_call);
	free(sampled);
	return KWHY_OK;
}

static int64_t known(int64_t delay_ns)
{
	return delay_ns < 0 ? 0 : delay_ns;
}

int64_t kwhy_whatif_queued_ns(const struct kwhy_whatif_graph *graph, uint32_t before, uint32_t after)
{
	const uint8_t *kind = graph->recording->activities.kind;

	return known(graph->delays.queued_ns[kind[before]][kind[after]]);
}

int64_t kwhy_whatif_issue_ns(const struct kwhy_whatif_graph *graph, uint32_t row)
{
	return known(graph->delays.issue_ns[graph->recording->activities.kind[row]]);
}
