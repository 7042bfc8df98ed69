/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/savings.h"

#include "base/text.h"

#include <stdlib.h>
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
 * Upper end of the interval of a saving, in nJ: high_nj, limited to the upper end of the energy that the
 * waste takes, because a cure cannot save more, but not below the saving itself. The projected high_nj may be
 * above that limit, because it includes the variation between runs.
 */
static int64_t high_nj(const struct kwhy_finding *finding, const struct kwhy_saving *saving, int64_t high_nj)
{
	int64_t most_nj = finding->high_nj != KWHY_UNKNOWN_NJ ? finding->high_nj : finding->energy_nj;

	if (most_nj == KWHY_UNKNOWN_NJ || high_nj <= most_nj)
		return high_nj;
	return most_nj > saving->energy_nj ? most_nj : saving->energy_nj;
}

/*
 * Sets the saving of a finding to that of a plan that has only the change that cures it, so that `kwhy
 * report` and `kwhy whatif` state the same saving.
 */
static void set_saving(
	struct kwhy_findings *findings, struct kwhy_finding *finding, const struct kwhy_plan *plan)
{
	const struct kwhy_projected_change *change = &plan->changes[0];
	int64_t before_nj = plan->before.energy_nj;
	struct kwhy_saving saving = {.time_ns = not_below_0(change->saved_ns),
		.energy_nj = KWHY_UNKNOWN_NJ,
		.low_nj = KWHY_UNKNOWN_NJ,
		.high_nj = KWHY_UNKNOWN_NJ,
		.assumption = kwhy_arena_copy(&findings->arena, change->assumption),
		.bound = change->bound};

	if (before_nj != KWHY_UNKNOWN_NJ) {
		saving.energy_nj = not_below_0(change->saved_nj);
		saving.low_nj = not_below_0(before_nj - change->after.energy_high_nj);
		saving.high_nj = high_nj(
			finding, &saving, not_below_0(before_nj - change->after.energy_low_nj));
	}
	finding->saving = saving;
}

/*
 * Leaves the saving of a finding as its detector set it, an upper bound, and appends to its assumption why
 * the change was refused.
 */
static void tell_refused(
	struct kwhy_findings *findings, struct kwhy_finding *finding, const struct kwhy_plan *plan)
{
	finding->saving.assumption = kwhy_arena_printf(&findings->arena, "%s; not projected: %s",
		finding->saving.assumption, plan->refused[0].reason);
}

/* For a finding, the change by which its saving was projected; NULL: none. */
struct made {
	const struct kwhy_whatif_change *change;
};

/*
 * Projects the saving of a finding by the change that cures it, if there is one. Sets made->change if the
 * change was not refused.
 */
static enum kwhy_status project(struct kwhy_whatif *whatif, struct kwhy_findings *findings,
	struct kwhy_finding *finding, struct made *made, struct kwhy_error *error)
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
	if (plan->change_count) {
		set_saving(findings, finding, plan);
		made->change = change;
	} else {
		tell_refused(findings, finding, plan);
	}
	kwhy_plan_free(plan);
	return finding->saving.assumption ? KWHY_OK : kwhy_fail_memory(error, "projections");
}

/*
 * Removes findings whose cure saves too little, however much energy their waste takes. made[] loses the same
 * items, so that made[i] still belongs to findings->items[i].
 */
static void drop_small(struct kwhy_findings *findings, struct made *made)
{
	size_t kept = 0;

	for (size_t i = 0; i < findings->count; i++) {
		if (!kwhy_finding_is_worth_it(&findings->items[i]))
			continue;
		made[kept] = made[i];
		findings->items[kept++] = findings->items[i];
	}
	findings->count = kept;
}

static bool costs_more(const struct kwhy_finding *finding, const struct kwhy_finding *other)
{
	if (finding->energy_nj != KWHY_UNKNOWN_NJ && other->energy_nj != KWHY_UNKNOWN_NJ &&
		finding->energy_nj != other->energy_nj)
		return finding->energy_nj > other->energy_nj;
	return finding->time_ns > other->time_ns;
}

/*
 * Sets a finding's saving to 0 and makes it refer to another finding, `owner`, to which the saving of the
 * change that cures both is credited.
 */
static void refer(struct kwhy_findings *findings, struct kwhy_finding *finding,
	const struct kwhy_finding *owner, const struct kwhy_whatif_change *change)
{
	const int64_t none_nj = finding->saving.energy_nj == KWHY_UNKNOWN_NJ ? KWHY_UNKNOWN_NJ : 0;

	finding->credited_to = owner->id;
	finding->saving.time_ns = 0;
	finding->saving.energy_nj = finding->saving.low_nj = finding->saving.high_nj = none_nj;
	finding->saving.assumption = kwhy_arena_printf(&findings->arena,
		"counted once, in %s, which the same change (--%s) cures", owner->id, change->id);
}

/*
 * If the finding with index `owner` takes the most energy (or time, if energies are unknown or equal) of all
 * findings that the same change cures, credits the saving of the change to it alone: the other findings refer
 * to the owner, whose assumption names them. Otherwise does nothing.
 */
static void credit(struct kwhy_findings *findings, const struct made *made, size_t owner)
{
	struct kwhy_finding *finding = &findings->items[owner];
	struct kwhy_text others = {0};

	for (size_t i = 0; i < findings->count; i++)
		if (made[i].change == made[owner].change && costs_more(&findings->items[i], finding))
			return;
	for (size_t i = 0; i < findings->count; i++) {
		if (i == owner || made[i].change != made[owner].change)
			continue;
		refer(findings, &findings->items[i], finding, made[owner].change);
		kwhy_text_addf(
			&others, "%s%s", others.length ? " and " : "; it cures ", findings->items[i].id);
	}
	finding->saving.assumption = kwhy_arena_printf(&findings->arena, "%s%s%s%s",
		finding->saving.assumption, others.length ? others.data : "", others.length ? ", too" : "",
		kwhy_finding_saves_more_than_it_costs(finding)
			? "; the change shortens more than what is counted here"
			: "");
	kwhy_text_done(&others);
}

static enum kwhy_status credit_all(
	struct kwhy_findings *findings, const struct made *made, struct kwhy_error *error)
{
	for (size_t i = 0; i < findings->count; i++)
		if (made[i].change && !findings->items[i].credited_to)
			credit(findings, made, i);
	for (size_t i = 0; i < findings->count; i++)
		if (!findings->items[i].saving.assumption)
			return kwhy_fail_memory(error, "projections");
	return KWHY_OK;
}

bool kwhy_savings_are_projected(const struct kwhy_recording *recording, const struct kwhy_ledger *ledger)
{
	return has_one_device(recording) && is_whole(ledger) && !kwhy_lost_work(&recording->lost) &&
		recording->activities.count + recording->calls.count <= KWHY_SAVINGS_ROWS_MAX;
}

enum kwhy_status kwhy_savings_project(
	struct kwhy_whatif *whatif, struct kwhy_findings *findings, struct kwhy_error *error)
{
	struct made *made = calloc(findings->count + 1, sizeof(*made));
	enum kwhy_status status = made ? KWHY_OK : kwhy_fail_memory(error, "projections");

	for (size_t i = 0; !status && i < findings->count; i++)
		status = project(whatif, findings, &findings->items[i], &made[i], error);
	if (!status) {
		drop_small(findings, made);
		status = credit_all(findings, made, error);
	}
	free(made);
	if (!status)
		kwhy_findings_sort(findings);
	return status;
}
