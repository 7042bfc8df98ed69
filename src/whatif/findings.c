/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/findings.h"

#include "base/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kwhy_whatif_change *cure_of(const struct kwhy_finding *finding)
{
	for (size_t i = 0; i < kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];

		if (change->finding && strcmp(change->finding, finding->id) == 0)
			return change;
	}
	return NULL;
}

static bool has_one_device(const struct kwhy_recording *recording)
{
	size_t active = 0;

	for (size_t d = 0; d < recording->device_count; d++)
		active += recording->activities.first[d] != recording->activities.first[d + 1];
	return active == 1;
}

static bool is_whole(const struct kwhy_ledger *ledger)
{
	for (size_t d = 0; ledger && d < ledger->device_count; d++)
		if (ledger->devices[d].time.unrecorded_ns > 0 || ledger->devices[d].time.probing_ns > 0)
			return false;
	return true;
}

static int64_t not_below_0(int64_t value)
{
	return value > 0 ? value : 0;
}

/*
 * A cure may reach places that the finding does not count, and runs differ from run to run by more than it
 * may save: a finding saves at most what it costs, be that at its low end, and what the cure saves beyond is
 * told in words. Where nobody knows how far the cost may be off, it is what it is taken to be.
 */
static void end_at_cost(const struct kwhy_finding *finding, struct kwhy_saving *saving)
{
	int64_t cost_nj = finding->energy_nj;
	int64_t most_nj = finding->high_nj != KWHY_UNKNOWN_NJ ? finding->high_nj : cost_nj;
	int64_t least_nj = finding->low_nj != KWHY_UNKNOWN_NJ ? finding->low_nj : cost_nj;

	if (saving->time_ns > finding->time_ns)
		saving->time_ns = finding->time_ns;
	if (saving->energy_nj == KWHY_UNKNOWN_NJ || cost_nj == KWHY_UNKNOWN_NJ)
		return;
	if (saving->energy_nj > cost_nj)
		saving->energy_nj = cost_nj;
	if (saving->low_nj > saving->energy_nj)
		saving->low_nj = saving->energy_nj;
	if (saving->low_nj > least_nj)
		saving->low_nj = least_nj;
	if (saving->high_nj > most_nj)
		saving->high_nj = most_nj > saving->energy_nj ? most_nj : saving->energy_nj;
}

static const char *assumption_of(struct kwhy_findings *findings, const struct kwhy_finding *finding,
	const struct kwhy_projected_change *change)
{
	char whole[KWHY_QUANTITY_BYTES], counted[KWHY_QUANTITY_BYTES], *words;
	const char *kept;

	kwhy_quantity_time(whole, change->saved_ns);
	kwhy_quantity_time(counted, finding->time_ns);
	if (change->saved_ns <= finding->time_ns || strcmp(whole, counted) == 0)
		return kwhy_arena_copy(&findings->arena, change->assumption);
	if (asprintf(&words, "%s; the whole change takes %s off the run, more than is counted here",
		    change->assumption, whole) < 0)
		return NULL;
	kept = kwhy_arena_copy(&findings->arena, words);
	free(words);
	return kept;
}

static enum kwhy_status set_saving(struct kwhy_findings *findings, struct kwhy_finding *finding,
	const struct kwhy_plan *plan, bool is_bound, struct kwhy_error *error)
{
	const struct kwhy_projected_change *change = &plan->changes[0];
	int64_t before_nj = plan->before.energy_nj;
	struct kwhy_saving saving = {.time_ns = not_below_0(change->saved_ns),
		.energy_nj = KWHY_UNKNOWN_NJ,
		.low_nj = KWHY_UNKNOWN_NJ,
		.high_nj = KWHY_UNKNOWN_NJ,
		.assumption = assumption_of(findings, finding, change),
		.is_projected = change->bound == KWHY_BOUND_EXPECTED && !is_bound};

	if (!saving.assumption)
		return kwhy_fail_memory(error, "projections");
	if (before_nj != KWHY_UNKNOWN_NJ) {
		saving.energy_nj = not_below_0(change->saved_nj);
		saving.low_nj = not_below_0(before_nj - change->after.energy_high_nj);
		saving.high_nj = not_below_0(before_nj - change->after.energy_low_nj);
	}
	end_at_cost(finding, &saving);
	/* a bound stays where this one is below it */
	if (!is_bound || saving.time_ns > finding->saving.time_ns)
		finding->saving = saving;
	return KWHY_OK;
}

/* What the cure is projected to save; where nobody knows its costs, what it would if it had none: a bound. */
static enum kwhy_status project(struct kwhy_whatif *whatif, struct kwhy_findings *findings,
	struct kwhy_finding *finding, struct kwhy_error *error)
{
	const struct kwhy_whatif_change *change = cure_of(finding);
	struct kwhy_whatif_ask ask = {change, change ? change->number : 0};
	enum kwhy_status status = KWHY_OK;
	struct kwhy_plan *plan;

	if (!change)
		return KWHY_OK;
	whatif->unknown_is_free = false;
	status = kwhy_whatif_project(whatif, &ask, 1, &plan, error);
	if (!status && !plan->change_count) {
		kwhy_plan_free(plan);
		whatif->unknown_is_free = true;
		status = kwhy_whatif_project(whatif, &ask, 1, &plan, error);
	}
	if (status)
		return status;
	if (plan->change_count)
		status = set_saving(findings, finding, plan, whatif->unknown_is_free, error);
	kwhy_plan_free(plan);
	return status;
}

enum kwhy_status kwhy_whatif_project_findings(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct kwhy_profile *profile, struct kwhy_findings *findings,
	struct kwhy_error *error)
{
	struct kwhy_whatif *whatif;
	enum kwhy_status status;

	if (!findings->count || !has_one_device(recording) || !is_whole(ledger) ||
		kwhy_lost_work(&recording->lost) ||
		recording->activities.count + recording->calls.count > KWHY_WHATIF_FINDINGS_ROWS_MAX)
		return KWHY_OK;
	status = kwhy_whatif_new(recording, ledger, profile, &whatif, error);
	if (status)
		return status;
	for (size_t i = 0; !status && i < findings->count; i++)
		status = project(whatif, findings, &findings->items[i], error);
	kwhy_whatif_free(whatif);
	return status;
}
