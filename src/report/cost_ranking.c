/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cost_ranking.h"

#include "model/precision.h"
#include "report/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sets silent[i] for each account i of the device of which an activity has an unknown number of bytes. Such
 * an account has no cost per byte.
 */
static void find_silent(const struct kwhy_recording *recording,
	const struct kwhy_device_ledger *device_ledger, uint32_t device, bool *silent)
{
	const struct kwhy_activities *rows = &recording->activities;
	size_t first = rows->first[device], end = rows->first[device + 1];

	memset(silent, 0, device_ledger->account_count);
	for (size_t row = first; row < end && device_ledger->account_of; row++)
		if (rows->bytes[row] == KWHY_UNKNOWN_BYTES &&
			device_ledger->account_of[row - first] < device_ledger->account_count)
			silent[device_ledger->account_of[row - first]] = true;
}

static double known_rate(double rate_bytes_per_s)
{
	return rate_bytes_per_s > 0 ? rate_bytes_per_s : NAN;
}

static double memory_rate(const struct kwhy_report *report, uint32_t device)
{
	double rate = report->recording->devices[device].memory_rate_bytes_per_s;

	return known_rate(!(rate > 0) && report->profile ? report->profile->memory_rate_bytes_per_s : rate);
}

static double peak_of(
	const struct kwhy_report *report, uint32_t device, const struct kwhy_account *account, uint8_t kind)
{
	const struct kwhy_profile *profile = report->profile;

	if (account->category == KWHY_CATEGORY_MEMSET)
		return memory_rate(report, device);
	switch (kind) {
	case KWHY_COPY_H2D:
		return profile ? known_rate(profile->h2d_pinned_rate_bytes_per_s.value) : NAN;
	case KWHY_COPY_D2H:
		return profile ? known_rate(profile->d2h_pinned_rate_bytes_per_s.value) : NAN;
	case KWHY_COPY_D2D:
		return memory_rate(report, device) / 2;
	default:
		return NAN;
	}
}

static struct kwhy_ranked_cost cost_of(const struct kwhy_account *account, double peak_bytes_per_s)
{
	double seconds = (double)account->time_ns * 1e-9, bytes = (double)account->bytes;
	struct kwhy_ranked_cost cost = {.account = account,
		.rate_bytes_per_s = seconds > 0 ? bytes / seconds : NAN,
		.peak_bytes_per_s = peak_bytes_per_s,
		.gross_j_per_byte = NAN,
		.net_j_per_byte = NAN};

	if (account->mean_power_mw >= 0)
		cost.gross_j_per_byte = (double)account->mean_power_mw * 1e-3 * seconds / bytes;
	if (account->net_nj != KWHY_UNKNOWN_NJ && account->gross_nj > 0)
		cost.net_j_per_byte = cost.gross_j_per_byte * (double)account->net_nj /
			(double)account->gross_nj;
	return cost;
}

/* Cost of a byte, from which ratio_to_best is computed: joules or, if `energy` is false, seconds per byte. */
static double price(const struct kwhy_ranked_cost *cost, bool energy)
{
	return energy ? cost->gross_j_per_byte : 1 / cost->rate_bytes_per_s;
}

static int compare_price(double a, double b)
{
	if (isnan(a) || isnan(b))
		return (isnan(a) != 0) - (isnan(b) != 0);
	return (a > b) - (a < b);
}

static int cheapest_first(const void *left, const void *right)
{
	const struct kwhy_ranked_cost *a = left, *b = right;
	int order = compare_price(a->gross_j_per_byte, b->gross_j_per_byte);

	if (!order)
		order = compare_price(1 / a->rate_bytes_per_s, 1 / b->rate_bytes_per_s);
	return order ? order : strcmp(a->account->name, b->account->name);
}

static void rank(struct kwhy_cost_ranking *ranking)
{
	bool energy;

	if (!ranking->count)
		return;
	qsort(ranking->costs, ranking->count, sizeof(*ranking->costs), cheapest_first);
	energy = isfinite(ranking->costs[0].gross_j_per_byte);
	for (size_t i = 0; i < ranking->count; i++)
		ranking->costs[i].ratio_to_best = price(&ranking->costs[i], energy) /
			price(&ranking->costs[0], energy);
}

enum kwhy_status kwhy_cost_ranking_init(struct kwhy_cost_ranking *ranking, const struct kwhy_report *report,
	uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_device_ledger *device_ledger = &report->ledger->devices[device];
	uint8_t *kinds = malloc(device_ledger->account_count + 1);
	bool *silent = malloc(device_ledger->account_count + 1);
	struct kwhy_ranked_cost *costs = calloc(device_ledger->account_count + 1, sizeof(*costs));

	*ranking = (struct kwhy_cost_ranking){.costs = costs};
	if (!kinds || !silent || !costs) {
		free(kinds);
		free(silent);
		kwhy_cost_ranking_done(ranking);
		return kwhy_fail_memory(error, "the cost ranking of transfers");
	}
	kwhy_operations_kinds(report->recording, device_ledger, device, kinds);
	find_silent(report->recording, device_ledger, device, silent);
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];

		if ((account->category == KWHY_CATEGORY_COPY || account->category == KWHY_CATEGORY_MEMSET) &&
			account->bytes && !silent[i])
			costs[ranking->count++] = cost_of(
				account, peak_of(report, device, account, kinds[i]));
	}
	free(kinds);
	free(silent);
	rank(ranking);
	return KWHY_OK;
}

void kwhy_cost_ranking_done(struct kwhy_cost_ranking *ranking)
{
	free(ranking->costs);
	*ranking = (struct kwhy_cost_ranking){0};
}

enum kwhy_status kwhy_cost_rankings_new(
	const struct kwhy_report *report, struct kwhy_cost_ranking **out, struct kwhy_error *error)
{
	size_t count = report->ledger->device_count;
	struct kwhy_cost_ranking *rankings = calloc(count + 1, sizeof(*rankings));
	enum kwhy_status status = KWHY_OK;

	if (!rankings)
		return kwhy_fail_memory(error, "the cost ranking of transfers");
	for (uint32_t device = 0; !status && device < count; device++)
		status = kwhy_cost_ranking_init(&rankings[device], report, device, error);
	if (status)
		kwhy_cost_rankings_free(rankings, count);
	else
		*out = rankings;
	return status;
}

void kwhy_cost_rankings_free(struct kwhy_cost_ranking *rankings, size_t count)
{
	for (size_t i = 0; rankings && i < count; i++)
		kwhy_cost_ranking_done(&rankings[i]);
	free(rankings);
}

static double compute_j(const struct kwhy_ledger *ledger)
{
	double sum_j = 0;

	for (size_t d = 0; d < ledger->device_count; d++)
		for (size_t i = 0; i < ledger->devices[d].account_count; i++) {
			const struct kwhy_account *account = &ledger->devices[d].accounts[i];

			if (account->category != KWHY_CATEGORY_COMPUTE)
				continue;
			sum_j += account->mean_power_mw < 0
				? NAN
				: (double)account->mean_power_mw * 1e-12 * (double)account->time_ns;
		}
	return sum_j;
}

double kwhy_joules_per_flop(const struct kwhy_report *report)
{
	const struct kwhy_recording *recording = report->recording;
	double sum_j = compute_j(report->ledger);

	double flop = 0, of_precisions = 0;

	for (size_t i = 0; i < recording->work_count; i++) {
		const struct kwhy_work *work = &recording->work[i];
		enum kwhy_precision precision;

		if (work->count > 0 && strcmp(work->unit, "flop") == 0)
			flop += work->count;
		else if (work->count > 0 && kwhy_unit_precision(work->unit, &precision))
			of_precisions += work->count;
	}
	flop = flop > 0 ? flop : of_precisions;
	return sum_j > 0 && flop > 0 ? sum_j / flop : NAN;
}
