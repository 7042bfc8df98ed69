/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/savings.h"

#include <string.h>

const struct kwhy_whatif_change *kwhy_saving_change(const struct kwhy_finding *finding)
{
	if (finding->change)
		return kwhy_whatif_change_find(finding->change);
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
 * Returns the assumption of a change. If the change also affects places that the finding does not count, and
 * thus saves more than they cost, a note says so.
 */
static const char *assumption_of(struct kwhy_findings *findings, const struct kwhy_finding *finding,
	const struct kwhy_projected_change *change)
{
	const bool saves_more = change->saved_ns > finding->time_ns ||
		(finding->energy_nj != KWHY_UNKNOWN_NJ && change->saved_nj != KWHY_UNKNOWN_NJ &&
			change->saved_nj > finding->energy_nj);

	return kwhy_arena_printf(&findings->arena, "%s%s", change->assumption,
		saves_more ? "; the change shortens more than what is counted here" : "");
}

/*
 * The upper end of a saving's interval, at most the upper end of what the finding's waste takes, since runs
 * may differ by more than a cure saves.
 */
static int64_t high_nj(const struct kwhy_finding *finding, const struct kwhy_saving *saving, int64_t high_nj)
{
	int64_t most_nj = finding->high_nj != KWHY_UNKNOWN_NJ ? finding->high_nj : finding->energy_nj;

	if (most_nj == KWHY_UNKNOWN_NJ || high_nj <= most_nj)
		return high_nj;
	return most_nj > saving->energy_nj ? most_nj : saving->energy_nj;
}

/* Sets a finding's saving to that of a plan with its change alone, so that both have the same bound. */
static enum kwhy_status set_saving(struct kwhy_findings *findings, struct kwhy_finding *finding,
	const struct kwhy_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_projected_change *change = &plan->changes[0];
	int64_t before_nj = plan->before.energy_nj;
	struct kwhy_saving saving = {.time_ns = not_below_0(change->saved_ns),
		.energy_nj = KWHY_UNKNOWN_NJ,
		.low_nj = KWHY_UNKNOWN_NJ,
		.high_nj = KWHY_UNKNOWN_NJ,
		.assumption = assumption_of(findings, finding, change),
		.bound = change->bound};

	if (!saving.assumption)
		return kwhy_fail_memory(error, "projections");
	if (before_nj != KWHY_UNKNOWN_NJ) {
		saving.energy_nj = not_below_0(change->saved_nj);
		saving.low_nj = not_below_0(before_nj - change->after.energy_high_nj);
		saving.high_nj = high_nj(
			finding, &saving, not_below_0(before_nj - change->after.energy_low_nj));
	}
	finding->saving = saving;
	return KWHY_OK;
}

/* Keeps a finding's own bound, and adds to its assumption why the change was refused. */
static enum kwhy_status tell_refused(struct kwhy_findings *findings, struct kwhy_finding *finding,
	const struct kwhy_plan *plan, struct kwhy_error *error)
{
	const char *words = kwhy_arena_printf(&findings->arena, "%s; not projected: %s",
		finding->saving.assumption, plan->refused[0].reason);

	if (!words)
		return kwhy_fail_memory(error, "projections");
	finding->saving.assumption = words;
	return KWHY_OK;
}

static enum kwhy_status project(struct kwhy_whatif *whatif, struct kwhy_findings *findings,
	struct kwhy_finding *finding, struct kwhy_error *error)
{
	const struct kwhy_whatif_change *change = kwhy_saving_change(finding);
	struct kwhy_whatif_request change_request = {change, change ? change->number : 0};
	enum kwhy_status status;
	struct kwhy_plan *plan;

	if (!change)
		return KWHY_OK;
	status = kwhy_whatif_project(whatif, &change_request, 1, &plan, error);
	if (status)
		return status;
	status = plan->change_count ? set_saving(findings, finding, plan, error)
				    : tell_refused(findings, finding, plan, error);
	kwhy_plan_free(plan);
	return status;
}

/* Removes findings whose cure saves too little, however much their waste takes. */
static void drop_small(struct kwhy_findings *findings)
{
	size_t kept = 0;

	for (size_t i = 0; i < findings->count; i++)
		if (kwhy_finding_is_worth_it(&findings->items[i]))
			findings->items[kept++] = findings->items[i];
	findings->count = kept;
}

bool kwhy_savings_are_projected(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger)
{
	return has_one_device(recording) && is_whole(ledger) && !kwhy_lost_work(&recording->lost) &&
		recording->activities.count + recording->calls.count <= KWHY_SAVINGS_ROWS_MAX;
}

enum kwhy_status kwhy_savings_project(
	struct kwhy_whatif *whatif, struct kwhy_findings *findings, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < findings->count; i++)
		status = project(whatif, findings, &findings->items[i], error);
	if (status)
		return status;
	drop_small(findings);
	kwhy_findings_sort(findings);
	return KWHY_OK;
}
