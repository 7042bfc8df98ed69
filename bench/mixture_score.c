/* SPDX-License-Identifier: Apache-2.0 */
#include "mixture_score.h"

#include <math.h>
#include <stdlib.h>

/*
 * Sets the true energy of each account: the sum over its activities. Accounts of idle time within the run
 * share the energy drawn while nothing ran, in proportion to their times; the account of time outside of the
 * run gets outside_nj.
 */
static void sum_truth(double *truth_nj, const struct kwhy_recording *recording,
	const struct kwhy_device_ledger *device, const struct kwhy_mixture_truth *truth)
{
	size_t first = recording->activities.first[0], end = recording->activities.first[1];
	int64_t idle_time_ns = 0;

	for (size_t row = first; row < end; row++)
		truth_nj[device->account_of[row - first]] += truth->row_nj[row];
	for (size_t i = 0; i < device->account_count; i++)
		if (kwhy_category_is_idle(device->accounts[i].category) &&
			device->accounts[i].category != KWHY_CATEGORY_OUTSIDE)
			idle_time_ns += device->accounts[i].time_ns;
	for (size_t i = 0; i < device->account_count; i++) {
		const struct kwhy_account *account = &device->accounts[i];

		if (account->category == KWHY_CATEGORY_OUTSIDE)
			truth_nj[i] += truth->outside_nj;
		else if (kwhy_category_is_idle(account->category) && idle_time_ns)
			truth_nj[i] += truth->idle_nj * (double)account->time_ns / (double)idle_time_ns;
	}
}

static struct kwhy_mixture_row row_of(const struct kwhy_account *account, double truth_nj)
{
	bool has_interval = account->low_nj != KWHY_UNKNOWN_NJ && account->high_nj != KWHY_UNKNOWN_NJ;
	double low_nj = (double)account->low_nj, high_nj = (double)account->high_nj;
	struct kwhy_mixture_row row = {.account = account, .truth_nj = truth_nj, .half_width_ratio = NAN};

	row.covered = has_interval && low_nj <= truth_nj && truth_nj <= high_nj;
	if (has_interval && account->gross_nj > 0)
		row.half_width_ratio = (high_nj - low_nj) / 2 / (double)account->gross_nj;
	return row;
}

static void count_row(
	struct kwhy_mixture_score *score, const struct kwhy_mixture_row *row, double measured_nj)
{
	const struct kwhy_account *account = row->account;
	double gross_nj = (double)account->gross_nj;

	score->wrong_ratio += fabs(gross_nj - row->truth_nj) / 2 / measured_nj;
	if (row->truth_nj <= 0 && account->gross_nj <= 0)
		return;
	score->rows[score->row_count++] = *row;
	score->covered_count += row->covered;
	score->basis_count[account->basis]++;
	score->basis_covered[account->basis] += row->covered;
	score->covered_energy_ratio += row->covered ? row->truth_nj / measured_nj : 0;
	if (isnan(row->half_width_ratio))
		return;
	score->half_width_ratio += row->half_width_ratio;
	score->weighted_half_ratio += row->half_width_ratio * gross_nj / measured_nj;
}

static void count_groups(
	struct kwhy_mixture_score *score, const struct kwhy_device_ledger *device, const double *truth_nj)
{
	for (size_t g = 0; g < device->group_count; g++) {
		const struct kwhy_account_group *group = &device->groups[g];
		double sum_nj = 0;

		for (size_t i = 0; i < group->member_count; i++)
			sum_nj += truth_nj[group->members[i]] * score->scale;
		score->group_count++;
		score->group_covered += (double)group->low_nj <= sum_nj && sum_nj <= (double)group->high_nj;
	}
}

static enum kwhy_status score_device(struct kwhy_mixture_score *score,
	const struct kwhy_device_ledger *device, const double *truth_nj, struct kwhy_error *error)
{
	double measured_nj = (double)device->energy.measured_nj, sum_nj = 0;

	for (size_t i = 0; i < device->account_count; i++)
		sum_nj += truth_nj[i];
	if (!device->energy.known || measured_nj <= 0 || !(sum_nj > 0))
		return kwhy_fail(error, KWHY_E_INPUT,
			"no energy to score: the ledger has none, or the truth has none in its window; "
			"give power readings that overlap the activities");
	score->scale = measured_nj / sum_nj;
	score->expected_ratio = device->energy.expected_wrong_ratio;
	for (size_t i = 0; i < device->account_count; i++) {
		struct kwhy_mixture_row row = row_of(&device->accounts[i], truth_nj[i] * score->scale);

		count_row(score, &row, measured_nj);
	}
	score->half_width_ratio /= (double)score->row_count;
	count_groups(score, device, truth_nj);
	return KWHY_OK;
}

enum kwhy_status kwhy_mixture_score_init(struct kwhy_mixture_score *out,
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger,
	const struct kwhy_mixture_truth *truth, struct kwhy_error *error)
{
	const struct kwhy_device_ledger *device = &ledger->devices[0];
	struct kwhy_mixture_score score = {0};
	double *truth_nj = calloc(device->account_count + 1, sizeof(*truth_nj));
	enum kwhy_status status;

	score.rows = calloc(device->account_count + 1, sizeof(*score.rows));
	if (!truth_nj || !score.rows) {
		status = kwhy_fail_memory(error, "the score");
	} else {
		sum_truth(truth_nj, recording, device, truth);
		status = score_device(&score, device, truth_nj, error);
	}
	free(truth_nj);
	if (status)
		kwhy_mixture_score_done(&score);
	else
		*out = score;
	return status;
}

void kwhy_mixture_score_done(struct kwhy_mixture_score *score)
{
	free(score->rows);
	*score = (struct kwhy_mixture_score){0};
}
