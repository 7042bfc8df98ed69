/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/divide.h"

#include "ledger/energy/apportion.h"

#include <stdlib.h>

struct divider {
	const struct kwhy_llm_metered *metered;
	const struct kwhy_llm_shares *shares;
	const struct kwhy_llm_power_fit *fit;
	struct kwhy_llm_request_energy *requests;
	struct kwhy_apportioner apportioner;
	/*
	 * [1 + 2 * largest number of shares in one interval] energies that the fit gives for an interval, in
	 * J, in proportion to which its metered energy is divided: [0] that of the idle server, then for each
	 * share the energy of its prefill and that of its decoding
	 */
	double *weights;
	int64_t *parts_nj;
};

/*
 * Energy, J, that the fitted coefficients give for a share's work of the kinds from `first` up to, but not
 * including, `end` (enum kwhy_llm_work).
 */
static double joules_of(
	const struct divider *divider, const struct kwhy_llm_share *share, size_t first, size_t end)
{
	double joules = 0;

	for (size_t kind = first; kind < end; kind++)
		joules += share->work[kind] * divider->fit->model_work_j[kind];
	return joules;
}

/*
 * Divides the metered energy of an interval among the idle server and the interval's `count` shares, whose
 * first has the index `first`. Adds each share's part to its request, and returns the sums of the parts:
 * idle, prefill and decoding.
 */
static struct kwhy_llm_window_energy divide_interval(
	struct divider *divider, size_t interval, size_t first, size_t count)
{
	const struct kwhy_llm_reading *readings = divider->metered->readings + interval;
	double seconds = (double)(readings[1].at_ns - readings[0].at_ns) * 1e-9;
	struct kwhy_llm_window_energy window = {0};

	divider->weights[0] = divider->fit->model_idle_w * seconds;
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_llm_share *share = &divider->shares->items[first + i];

		divider->weights[1 + 2 * i] = joules_of(divider, share, 0, KWHY_LLM_WORK_DECODE);
		divider->weights[2 + 2 * i] = joules_of(
			divider, share, KWHY_LLM_WORK_DECODE, KWHY_LLM_WORK_COUNT);
	}
	for (size_t i = 0; i < 1 + 2 * count; i++)
		divider->parts_nj[i] = 0;
	kwhy_apportion(&divider->apportioner, readings[1].total_nj - readings[0].total_nj, divider->weights,
		1 + 2 * count, 0, divider->parts_nj);
	for (size_t i = 0; i < count; i++) {
		struct kwhy_llm_request_energy
			*request = &divider->requests[divider->shares->items[first + i].request];

		request->prefill_nj += divider->parts_nj[1 + 2 * i];
		request->decode_nj += divider->parts_nj[2 + 2 * i];
		window.prefill_nj += divider->parts_nj[1 + 2 * i];
		window.decode_nj += divider->parts_nj[2 + 2 * i];
	}
	window.idle_nj = divider->parts_nj[0];
	return window;
}

/* Number of successive shares from index `first` on that are in the interval `interval`. */
static size_t count_same(const struct kwhy_llm_shares *shares, size_t first, size_t interval)
{
	size_t count = 0;

	while (first + count < shares->count && shares->items[first + count].interval == interval)
		count++;
	return count;
}

enum kwhy_status kwhy_llm_divide(const struct kwhy_llm_metered *metered, const struct kwhy_llm_shares *shares,
	const struct kwhy_llm_power_fit *fit, struct kwhy_llm_request_energy *requests,
	struct kwhy_llm_window_energy *windows, struct kwhy_error *error)
{
	struct divider divider = {.metered = metered, .shares = shares, .fit = fit, .requests = requests};
	size_t most = 0, first = 0;
	enum kwhy_status status;

	for (size_t at = 0, count; at < shares->count; at += count) {
		count = count_same(shares, at, shares->items[at].interval);
		most = count > most ? count : most;
	}
	status = kwhy_apportioner_init(&divider.apportioner, 1 + 2 * most, error);
	if (status)
		return status;
	divider.weights = calloc(1 + 2 * most, sizeof(*divider.weights));
	divider.parts_nj = calloc(1 + 2 * most, sizeof(*divider.parts_nj));
	if (!divider.weights || !divider.parts_nj)
		status = kwhy_fail_memory(error, "the joules of the requests");
	for (size_t i = 0; i < metered->record_count; i++)
		requests[i] = (struct kwhy_llm_request_energy){0};
	for (size_t interval = 0; !status && interval + 1 < metered->reading_count; interval++) {
		size_t count = count_same(shares, first, interval);

		windows[interval] = divide_interval(&divider, interval, first, count);
		first += count;
	}
	kwhy_apportioner_done(&divider.apportioner);
	free(divider.weights);
	free(divider.parts_nj);
	return status;
}
