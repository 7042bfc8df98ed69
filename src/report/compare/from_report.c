/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known_sum.h"
#include "report/compare.h"
#include "report/totals.h"

#include <math.h>
#include <string.h>

/* Fills a side's rows of accounts, findings and work from the analysed run. */

static const char *copy(struct kwhy_side *side, const char *text, bool *failed)
{
	const char *copied = kwhy_arena_copy(&side->arena, text ? text : "");

	*failed |= !copied;
	return copied ? copied : "";
}

static void add_accounts(
	struct kwhy_side_sums *sums, const struct kwhy_device_ledger *device_ledger, bool *failed)
{
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account reported = kwhy_account_reported(
			&device_ledger->energy, &device_ledger->accounts[i]);
		const struct kwhy_side_account account = {
			.category = kwhy_category_name((enum kwhy_category)reported.category),
			.name = copy(sums->side, reported.name, failed),
			.count = reported.count,
			.time_ns = reported.time_ns,
			.gross_nj = reported.gross_nj,
			.low_nj = reported.low_nj,
			.high_nj = reported.high_nj};

		kwhy_side_add_account(
			sums, &account, reported.mean_power_mw > 0 ? reported.mean_power_mw : 0);
	}
}

static void add_device(
	struct kwhy_side_sums *sums, const struct kwhy_report *report, size_t index, bool *failed)
{
	const struct kwhy_device_ledger *device_ledger = &report->ledger->devices[index];
	const struct kwhy_device_time *time = &device_ledger->time;
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	const struct kwhy_side_device row = {
		.name = copy(sums->side, report->recording->devices[index].name, failed),
		.first_ns = time->first_ns,
		.last_ns = time->last_ns,
		.span_ns = time->span_ns,
		.busy_ns = time->busy_ns,
		.idle_ns = time->idle_ns,
		.attributed_nj = energy->known ? energy->attributed_nj : KWHY_UNKNOWN_NJ,
		.metered_ns = (double)energy->metered_ns,
		.unseen_ns = energy->known ? (double)energy->edge_ns : INFINITY,
		.context_idle_w = energy->known ? energy->context_idle_w : NAN,
		.modelled = energy->known && energy->modelled};

	add_accounts(sums, device_ledger, failed);
	kwhy_side_add_device(sums, &row);
}

static void add_findings(struct kwhy_side_sums *sums, const struct kwhy_findings *findings, bool *failed)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct kwhy_finding *found = &findings->items[i];
		const struct kwhy_side_finding finding = {found->id, copy(sums->side, found->title, failed),
			found->saving.time_ns > 0 ? found->saving.time_ns : 0, found->saving.energy_nj};

		kwhy_side_add_finding(sums, &finding);
	}
}

static void add_work(
	struct kwhy_side_sums *sums, const struct kwhy_recording *recording, int64_t run_nj, bool *failed)
{
	double energy_nj = run_nj == KWHY_UNKNOWN_NJ ? NAN : (double)run_nj;

	for (size_t i = 0; i < recording->work_count; i++) {
		const struct kwhy_side_work work = {copy(sums->side, recording->work[i].unit, failed),
			recording->work[i].count, energy_nj / recording->work[i].count * 1e-9};

		kwhy_side_add_work(sums, &work);
	}
}

static struct kwhy_side_counts count_rows(const struct kwhy_report *report)
{
	struct kwhy_side_counts counts = {0, report->findings->count, report->recording->work_count};

	for (size_t d = 0; d < report->ledger->device_count; d++)
		counts.accounts += report->ledger->devices[d].account_count;
	return counts;
}

static bool fill(
	struct kwhy_side_sums *sums, const struct kwhy_report *report, const struct kwhy_totals *totals)
{
	const struct kwhy_ledger *ledger = report->ledger;
	bool failed = false;

	sums->side->truncated = report->recording->lost.truncated;
	for (size_t d = 0; d < ledger->device_count; d++)
		add_device(sums, report, d, &failed);
	for (size_t i = 0; i < ledger->api_count; i++)
		kwhy_side_add_call(sums, kwhy_names_get(&report->recording->names, ledger->api[i].name),
			(double)ledger->api[i].count, (double)ledger->api[i].total_ns);
	kwhy_side_add_steps(sums, ledger->step_count, ledger->loop.time_ns, ledger->loop.energy_nj);
	add_findings(sums, report->findings, &failed);
	add_work(sums, report->recording, kwhy_whole_nj(totals->run_nj), &failed);
	kwhy_side_end(sums, kwhy_whole_nj(totals->run_nj), kwhy_whole_nj(kwhy_totals_run_low_nj(totals)),
		kwhy_whole_nj(totals->run_nj + totals->run_above_nj));
	return !failed;
}

enum kwhy_status kwhy_side_of_report(
	struct kwhy_side *side, const char *label, const struct kwhy_report *report, struct kwhy_error *error)
{
	const struct kwhy_side_counts counts = count_rows(report);
	struct kwhy_side made = {0};
	struct kwhy_side_sums sums;
	struct kwhy_totals totals;
	enum kwhy_status status = kwhy_totals_init(&totals, report->ledger, error);

	if (status)
		return status;
	made.label = kwhy_arena_copy(&made.arena, label);
	status = kwhy_side_begin(&sums, &made, &counts, error);
	if (!status && (!made.label || !fill(&sums, report, &totals)))
		status = kwhy_fail_memory(error, "a run to compare");
	kwhy_totals_done(&totals);
	if (status)
		kwhy_arena_done(&made.arena);
	else
		*side = made;
	return status;
}
