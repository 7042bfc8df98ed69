/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/whatif.h"

#include "whatif/project.h"
#include "whatif/steps.h"
#include "whatif/warmups.h"

#include <math.h>
#include <stdlib.h>

static enum kwhy_status reserve(struct kwhy_whatif *whatif, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = whatif->recording;
	size_t rows = recording->activities.count + 1;

	whatif->first_issued = calloc(recording->calls.count + 2, sizeof(*whatif->first_issued));
	whatif->issued = malloc(rows * sizeof(*whatif->issued));
	whatif->next = malloc(rows * sizeof(*whatif->next));
	whatif->first_of_stream = malloc((recording->stream_count + 1) * sizeof(*whatif->first_of_stream));
	whatif->step = malloc(rows * sizeof(*whatif->step));
	whatif->idle_w = malloc((recording->device_count + 1) * sizeof(*whatif->idle_w));
	whatif->idle_half_ci90_w = calloc(recording->device_count + 1, sizeof(*whatif->idle_half_ci90_w));
	whatif->alone = calloc(kwhy_whatif_change_count, sizeof(*whatif->alone));
	if (!whatif->first_issued || !whatif->issued || !whatif->next || !whatif->first_of_stream ||
		!whatif->step || !whatif->idle_w || !whatif->idle_half_ci90_w || !whatif->alone)
		return kwhy_fail_memory(error, "what changes look at");
	return KWHY_OK;
}

/*
 * Sets first_issued and issued: the activities by the outermost call that issued them; those of one call keep
 * their order.
 */
static void list_issued(struct kwhy_whatif *whatif)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint32_t *first = whatif->first_issued;
	size_t calls = whatif->recording->calls.count;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->call[i] != KWHY_NONE)
			first[whatif->graph->outer[rows->call[i]] + 2]++;
	for (size_t c = 1; c < calls + 2; c++)
		first[c] += first[c - 1];
	for (size_t i = 0; i < rows->count; i++)
		if (rows->call[i] != KWHY_NONE)
			whatif->issued[first[whatif->graph->outer[rows->call[i]] + 1]++] = (uint32_t)i;
}

static void list_streams(struct kwhy_whatif *whatif)
{
	const struct kwhy_recording *recording = whatif->recording;

	for (size_t s = 0; s < recording->stream_count; s++)
		whatif->first_of_stream[s] = KWHY_NONE;
	for (size_t i = recording->activities.count; i-- > 0;) {
		uint32_t *first = &whatif->first_of_stream[recording->activities.stream[i]];

		whatif->next[i] = *first;
		*first = (uint32_t)i;
	}
}

/*
 * Refuses recordings with unrecorded time (KWHY_E_UNSUPPORTED): what the host did in it is unknown, so it
 * cannot be simulated as a pause, and calls in recorded windows are often not recorded either. Also refuses
 * recordings of kwhy probe.
 */
static enum kwhy_status check_windows(
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger, struct kwhy_error *error)
{
	for (size_t d = 0; ledger && d < ledger->device_count; d++) {
		const struct kwhy_coverage_sum *known = &ledger->devices[d].coverage;

		if (ledger->devices[d].time.probing_ns > 0)
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"the recording is one of kwhy probe, whose host waits while kernels are "
				"repeated: that cannot be simulated; record the program without, and give "
				"this "
				"one as --powers");
		if (ledger->devices[d].time.unrecorded_ns <= 0)
			continue;
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the recording knows what ran on device %zu in windows alone, %.1f %% of the time%s: "
			"what waited for what cannot be simulated; record the whole run, or one interval of "
			"it "
			"(kwhy record --delay S --duration S)",
			d,
			known->end_ns > known->start_ns
				? 100 * (double)known->known_ns / (double)(known->end_ns - known->start_ns)
				: 0,
			recording->calls.count ? "" : ", and no call of the host");
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_whatif_new(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	const struct kwhy_profile *profile, struct kwhy_whatif **out, struct kwhy_error *error)
{
	struct kwhy_whatif *whatif;
	enum kwhy_status status = check_windows(recording, ledger, error);

	if (status)
		return status;
	whatif = calloc(1, sizeof(*whatif));
	if (!whatif)
		return kwhy_fail_memory(error, "what changes look at");
	whatif->recording = recording;
	whatif->ledger = ledger;
	whatif->profile = profile;
	status = kwhy_whatif_graph_new(recording, &whatif->graph, error);
	if (!status)
		status = reserve(whatif, error);
	if (!status) {
		list_issued(whatif);
		list_streams(whatif);
		status = kwhy_whatif_read_powers(whatif, error);
	}
	if (!status)
		status = kwhy_whatif_find_steps(whatif, error);
	if (!status)
		status = kwhy_whatif_find_scatter(whatif, error);
	if (!status)
		status = kwhy_whatif_find_warmups(whatif, error);
	if (!status)
		status = kwhy_whatif_costs_init(&whatif->costs, whatif->graph, profile, error);
	if (status) {
		kwhy_whatif_free(whatif);
		return status;
	}
	*out = whatif;
	return KWHY_OK;
}

void kwhy_whatif_free(struct kwhy_whatif *whatif)
{
	if (!whatif)
		return;
	kwhy_whatif_graph_free(whatif->graph);
	free(whatif->first_issued);
	free(whatif->issued);
	free(whatif->warmups);
	free(whatif->packed_bytes);
	free(whatif->next);
	free(whatif->first_of_stream);
	free(whatif->step);
	free(whatif->net_w);
	free(whatif->half_ci90_ratio);
	free(whatif->idle_w);
	free(whatif->idle_half_ci90_w);
	free(whatif->alone);
	free(whatif);
}
