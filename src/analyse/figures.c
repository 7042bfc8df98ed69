/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/analysis.h"
#include "model/run_energy.h"
#include "report/totals.h"

#include <math.h>

_Static_assert(KWHY_ANALYSE_UNKNOWN == KWHY_UNKNOWN_NJ && KWHY_ANALYSE_UNKNOWN == KWHY_UNKNOWN_NS, "unknown");
_Static_assert(KWHY_ANALYSE_EXPECTED == (int)KWHY_BOUND_EXPECTED &&
		KWHY_ANALYSE_UPPER == (int)KWHY_BOUND_UPPER && KWHY_ANALYSE_LOWER == (int)KWHY_BOUND_LOWER,
	"bounds");

static int64_t rounded(double value)
{
	return isfinite(value) && fabs(value) < 9e18 ? llround(value) : KWHY_ANALYSE_UNKNOWN;
}

/*
 * Lower end, `value` less `below`, of an interval, at least 0; KWHY_ANALYSE_UNKNOWN: one of the two is NAN.
 */
static int64_t low_of(double value, double below)
{
	return isnan(value) || isnan(below) ? KWHY_ANALYSE_UNKNOWN : rounded(fmax(0, value - below));
}

/* An index as a signed number; -1 for KWHY_NONE. */
static int32_t number_of(uint32_t index)
{
	return index == KWHY_NONE ? -1 : (int32_t)index;
}

int kwhy_analysis_run(const struct kwhy_analysis *analysis, struct kwhy_run_info *out)
{
	struct kwhy_totals totals;
	struct kwhy_error error;

	if (kwhy_totals_init(&totals, analysis->ledger, &error))
		return (int)error.status;
	const struct kwhy_run_info info = {.time_ns = rounded(totals.run_s * 1e9),
		.energy_nj = rounded(totals.run_nj),
		.low_nj = rounded(kwhy_totals_run_low_nj(&totals)),
		.high_nj = rounded(totals.run_nj + totals.run_above_nj),
		.unmetered_nj = rounded(isnan(totals.run_nj) ? NAN : totals.unmetered_nj),
		.is_modelled = totals.modelled};

	kwhy_totals_done(&totals);
	return kwhy_analysis_give(out, &info, sizeof(info));
}

size_t kwhy_analysis_device_count(const struct kwhy_analysis *analysis)
{
	return analysis->ledger->device_count;
}

int kwhy_analysis_device(const struct kwhy_analysis *analysis, size_t device, struct kwhy_device_info *out)
{
	if (device >= analysis->ledger->device_count)
		return KWHY_ANALYSE_E_USAGE;
	const struct kwhy_device *named = &analysis->recording->devices[device];
	const struct kwhy_device_ledger *ledger = &analysis->ledger->devices[device];
	const struct kwhy_run_energy run = kwhy_run_energy_of(ledger);
	const struct kwhy_device_info info = {.name = named->name,
		.uuid = named->uuid,
		.rank = number_of(named->rank),
		.is_modelled = ledger->energy.modelled,
		.span_ns = ledger->time.span_ns,
		.busy_ns = ledger->time.busy_ns,
		.idle_ns = ledger->time.idle_ns,
		.energy_nj = rounded(run.run_nj),
		.low_nj = low_of(run.run_nj, run.below_nj),
		.high_nj = rounded(run.run_nj + run.above_nj),
		.metered_nj = ledger->energy.known ? ledger->energy.attributed_nj : KWHY_ANALYSE_UNKNOWN};

	return kwhy_analysis_give(out, &info, sizeof(info));
}

size_t kwhy_analysis_account_count(const struct kwhy_analysis *analysis, size_t device)
{
	return device < analysis->ledger->device_count ? analysis->ledger->devices[device].account_count : 0;
}

int kwhy_analysis_account(
	const struct kwhy_analysis *analysis, size_t device, size_t account, struct kwhy_account_info *out)
{
	if (account >= kwhy_analysis_account_count(analysis, device))
		return KWHY_ANALYSE_E_USAGE;
	const struct kwhy_device_ledger *ledger = &analysis->ledger->devices[device];
	const struct kwhy_account reported = kwhy_account_reported(
		&ledger->energy, &ledger->accounts[account]);
	const struct kwhy_account_info info = {
		.category = kwhy_category_name((enum kwhy_category)reported.category),
		.name = reported.name ? reported.name : "",
		.basis = kwhy_basis_name((enum kwhy_basis)reported.basis),
		.count = reported.count,
		.time_ns = reported.time_ns,
		.gross_nj = reported.gross_nj,
		.low_nj = reported.low_nj,
		.high_nj = reported.high_nj,
		.net_nj = reported.net_nj};

	return kwhy_analysis_give(out, &info, sizeof(info));
}

size_t kwhy_analysis_finding_count(const struct kwhy_analysis *analysis)
{
	return analysis->findings->count;
}

int kwhy_analysis_finding(const struct kwhy_analysis *analysis, size_t finding, struct kwhy_finding_info *out)
{
	if (finding >= analysis->findings->count)
		return KWHY_ANALYSE_E_USAGE;
	const struct kwhy_finding *found = &analysis->findings->items[finding];
	const struct kwhy_whatif_change *change = kwhy_saving_change(found);
	const struct kwhy_finding_info info = {.id = found->id,
		.title = found->title,
		.cure = found->cure,
		.change = change ? change->id : NULL,
		.assumption = found->saving.assumption,
		.device = number_of(found->device),
		.bound = (int32_t)found->saving.bound,
		.frees_device = found->saving.frees_device,
		.count = found->count,
		.time_ns = found->time_ns,
		.energy_nj = found->energy_nj,
		.low_nj = found->low_nj,
		.high_nj = found->high_nj,
		.saved_ns = found->saving.time_ns,
		.saved_nj = found->saving.energy_nj,
		.saved_low_nj = found->saving.low_nj,
		.saved_high_nj = found->saving.high_nj,
		.evidence_count = found->evidence_count,
		.credited_to = found->credited_to,
		.place = found->place.words,
		.file = found->place.file,
		.line = (int32_t)found->place.line};

	return kwhy_analysis_give(out, &info, sizeof(info));
}

int kwhy_analysis_evidence(
	const struct kwhy_analysis *analysis, size_t finding, size_t evidence, struct kwhy_evidence_info *out)
{
	if (finding >= analysis->findings->count ||
		evidence >= analysis->findings->items[finding].evidence_count)
		return KWHY_ANALYSE_E_USAGE;
	const struct kwhy_evidence *shown = &analysis->findings->items[finding].evidence[evidence];
	const struct kwhy_evidence_info info = {
		.start_ns = shown->start_ns, .end_ns = shown->end_ns, .what = shown->what};

	return kwhy_analysis_give(out, &info, sizeof(info));
}
