/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_lag.h"

#include <math.h>
#include <stdlib.h>

/*
 * Delays that are tried for a counter: the delay of the 20 ms power samples and TRIED_SIDE steps of
 * TRIED_STEP_S on each side of it. The result is the minimum of a parabola through the best of them and its
 * two neighbours. TRIED_SD_S: prior standard deviation of the difference between the delays of counter and
 * samples.
 */
#define TRIED_STEP_S 1e-3
#define TRIED_SIDE 15
#define TRIED_COUNT (2 * TRIED_SIDE + 1)
#define TRIED_SD_S 5e-3

/*
 * Smallest and largest number of metered intervals in use: fewer do not determine a delay, and more than the
 * first INTERVALS_MAX do not improve it.
 */
#define INTERVALS_MIN 10
#define INTERVALS_MAX 3000

/* Time for which the meter shows an activity after its end, in time constants of its low-pass. */
#define MEMORY_TAUS 6

struct look {
	int64_t time_ns;
	uint32_t at; /* index in integrals_nj: (2 * interval + (0: its start, 1: its end)) * TRIED_COUNT +
			index of the delay */
};

struct search {
	const struct kwhy_metered_total *total;
	const struct kwhy_powers *powers;
	size_t count;	    /* number of intervals */
	struct look *looks; /* [2 * count * TRIED_COUNT] start and end of each interval, minus each delay, in
			       order of time */
	double *integrals_nj; /* [2 * count * TRIED_COUNT] modelled energy as the meter shows it from the
				 beginning to each of these times, by struct look's `at` */
	bool *is_known; /* [count] the interval contains no unrecorded time, and neither does the time before
			   it that the meter still shows */
};

static int compare_looks(const void *a, const void *b)
{
	const struct look *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->at > right->at) - (left->at < right->at);
}

static double tried_delay_s(const struct search *search, int tried)
{
	return search->powers->delay_s + (tried - TRIED_SIDE) * TRIED_STEP_S;
}

static size_t list_looks(struct search *search)
{
	size_t listed = 0;

	for (size_t i = 0; i < 2 * search->count; i++) {
		const struct kwhy_metered_interval *interval = &search->total->intervals[i / 2];
		int64_t edge_ns = i % 2 ? interval->end_ns : interval->start_ns;

		for (int tried = 0; tried < TRIED_COUNT; tried++) {
			int64_t delay_ns = llround(tried_delay_s(search, tried) * 1e9);

			search->looks[listed] = (struct look){
				edge_ns - delay_ns, (uint32_t)(i * TRIED_COUNT + (size_t)tried)};
			listed++;
		}
	}
	qsort(search->looks, listed, sizeof(*search->looks), compare_looks);
	return listed;
}

static void visit(void *context, const struct kwhy_filtered_levels *response, size_t readout)
{
	struct search *search = context;
	size_t classes = response->class_count;
	double sum_nj = 0;

	for (size_t c = 0; c < response->channel_count; c++) {
		double filtered = response->level[c] - response->lag[c];
		double power_w = c < classes ? search->powers->net_w[c] : search->powers->idle_w;

		if (c + 1 == response->channel_count) /* the last channel is that of unrecorded time, whose
							 power is unknown */
			break;
		sum_nj += power_w * (response->area_s[c] - response->tau_s[0] * filtered) * 1e9;
	}
	search->integrals_nj[search->looks[readout].at] = sum_nj;
}

static enum kwhy_status walk(
	struct search *search, const struct kwhy_powers_question *question, struct kwhy_error *error)
{
	size_t count = list_looks(search);
	int64_t *times_ns = calloc(count + 1, sizeof(*times_ns));
	struct kwhy_response_walk walk = {
		.recording = question->recording,
		.device_ledger = question->device_ledger,
		.classes = question->classes,
		.covered = question->covered,
		.device = question->device,
		.sm_count = kwhy_power_sm_count(
			question->recording, question->device, question->options->profile),
		.with_base = true,
		.tau_count = 1,
		.tau_s = {search->powers->tau_s},
		.times_ns = times_ns,
		.readout_count = count,
		.visit = visit,
		.context = search,
	};
	enum kwhy_status status;

	if (!times_ns)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < count; i++)
		times_ns[i] = search->looks[i].time_ns;
	status = kwhy_response_walk(&walk, error);
	free(times_ns);
	return status;
}

/*
 * Ratio of modelled to metered energy of an interval at a delay. NAN: the metered energy is 0, or the meter
 * shows unrecorded time in the interval.
 */
static double ratio_at(const struct search *search, size_t interval, int tried)
{
	size_t start = 2 * interval * TRIED_COUNT + (size_t)tried;
	int64_t energy_nj = search->total->intervals[interval].energy_nj;

	if (energy_nj <= 0 || !search->is_known[interval])
		return NAN;
	return (search->integrals_nj[start + TRIED_COUNT] - search->integrals_nj[start]) / (double)energy_nj;
}

/*
 * Cost of a delay: minus its log posterior density, without constants. The first term, count / 2 *
 * log(variance of the ratios of modelled to metered energy), does not depend on their mean, which a gain
 * between the meters would change. The second is the prior of the distance from the delay of the 20 ms
 * samples. The first interval is left out, because it may still show time before the recording. NAN: too few
 * intervals.
 */
static double cost_at(const struct search *search, int tried)
{
	double sum = 0, squares = 0, far = (tried - TRIED_SIDE) * TRIED_STEP_S / TRIED_SD_S;
	size_t count = 0;

	for (size_t i = 1; i < search->count; i++) {
		double ratio = ratio_at(search, i, tried);

		if (isnan(ratio))
			continue;
		sum += ratio;
		squares += ratio * ratio;
		count++;
	}
	if (count < INTERVALS_MIN)
		return NAN;
	squares = squares / (double)count - pow(sum / (double)count, 2);
	return (double)count / 2 * log(squares + 1e-8) + 0.5 * far * far;
}

/*
 * Index of the delay with the least cost; of equal costs, that of the one nearest to the delay of the 20 ms
 * samples.
 */
static int cheapest(const double cost[TRIED_COUNT])
{
	int best = TRIED_SIDE;

	for (int far = 1; far <= TRIED_SIDE; far++) {
		if (cost[TRIED_SIDE - far] < cost[best])
			best = TRIED_SIDE - far;
		if (cost[TRIED_SIDE + far] < cost[best])
			best = TRIED_SIDE + far;
	}
	return best;
}

static double best_delay(const struct search *search)
{
	double cost[TRIED_COUNT], bend;
	int best;

	for (int tried = 0; tried < TRIED_COUNT; tried++) {
		cost[tried] = cost_at(search, tried);
		if (isnan(cost[tried]))
			return search->powers->delay_s;
	}
	best = cheapest(cost);
	if (best == 0 || best == TRIED_COUNT - 1)
		return tried_delay_s(search, best);
	bend = cost[best - 1] - 2 * cost[best] + cost[best + 1];
	return tried_delay_s(search, best) +
		(bend > 0 ? (cost[best - 1] - cost[best + 1]) / (2 * bend) * TRIED_STEP_S : 0);
}

static enum kwhy_status search_init(
	struct search *search, const struct kwhy_powers_question *question, struct kwhy_error *error)
{
	const int64_t memory_ns = llround(
		(tried_delay_s(search, TRIED_COUNT - 1) + MEMORY_TAUS * search->powers->tau_s) * 1e9);

	search->looks = calloc(2 * search->count * TRIED_COUNT, sizeof(*search->looks));
	search->integrals_nj = calloc(2 * search->count * TRIED_COUNT, sizeof(*search->integrals_nj));
	search->is_known = calloc(search->count + 1, sizeof(*search->is_known));
	if (!search->looks || !search->integrals_nj || !search->is_known)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < search->count; i++) {
		const struct kwhy_metered_interval *interval = &search->total->intervals[i];

		search->is_known[i] = question->covered->unrecorded_count == 0 ||
			kwhy_covered_holds(
				question->covered, interval->start_ns - memory_ns, interval->end_ns);
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_energy_lag_find(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_delay_s,
	struct kwhy_error *error)
{
	struct search search = {
		.total = total,
		.powers = powers,
		.count = total->count < INTERVALS_MAX ? total->count : INTERVALS_MAX,
	};
	enum kwhy_status status;

	*out_delay_s = total->is_deconvolved ? 0 : powers->delay_s;
	if (!kwhy_meter_is_counter((enum kwhy_meter)total->meter) || total->count < INTERVALS_MIN ||
		powers->meter == total->meter)
		return KWHY_OK;
	status = search_init(&search, question, error);
	if (!status)
		status = walk(&search, question, error);
	if (!status)
		*out_delay_s = best_delay(&search);
	free(search.looks);
	free(search.is_known);
	free(search.integrals_nj);
	return status;
}
