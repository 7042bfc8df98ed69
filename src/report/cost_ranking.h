/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COST_RANKING_H
#define KWHY_REPORT_COST_RANKING_H

#include "base/status.h"
#include "report/report.h"

/*
 * Costs of copied bytes, one entry an account of copies or memsets whose bytes are all known and not 0.
 * Energies are the account's mean power times all of its time, so that they are those of all of its bytes,
 * metered or not. The best entry comes first: by gross energy a byte, or by rate where energies are unknown.
 */
struct kwhy_ranked_cost {
	const struct kwhy_account *account;
	double rate_bytes_per_s;
	/*
	 * Peak rate of the link as the machine profile measured it with pinned memory, or half the rate of
	 * the device's memory, which a copy both reads and writes (for a memset, which only writes, all of
	 * it); NAN: unknown.
	 */
	double peak_bytes_per_s;
	double gross_j_per_byte, net_j_per_byte; /* NAN: unknown */
	double ratio_to_best; /* ratio of gross energy a byte, or of rates where energies are unknown, to the
				 best entry's; at least 1 */
};

struct kwhy_cost_ranking {
	struct kwhy_ranked_cost *costs;
	size_t count;
};

KWHY_MUST_USE enum kwhy_status kwhy_cost_ranking_init(struct kwhy_cost_ranking *ranking,
	const struct kwhy_report *report, uint32_t device, struct kwhy_error *error);
void kwhy_cost_ranking_done(struct kwhy_cost_ranking *ranking);

/* The rankings of all devices: an array of device_count. */
KWHY_MUST_USE enum kwhy_status kwhy_cost_rankings_new(
	const struct kwhy_report *report, struct kwhy_cost_ranking **out, struct kwhy_error *error);
void kwhy_cost_rankings_free(struct kwhy_cost_ranking *rankings, size_t count);

/*
 * Energy of a floating-point operation: gross energy of kernels without collectives, over the stated work
 * "flop", or where that is not stated the sum of "flop_fp32", "flop_bf16", ... NAN where either is unknown.
 */
double kwhy_joules_per_flop(const struct kwhy_report *report);

#endif
