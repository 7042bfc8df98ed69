/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COST_RANKING_H
#define KWHY_REPORT_COST_RANKING_H

#include "base/status.h"
#include "report/report.h"

/*
 * What bytes cost, one entry per account of copies or memsets whose bytes are all known and not 0. Energies
 * are the account's mean power over all of its time, so that they belong to all of its bytes, metered or not.
 * Best first: by gross energy a byte, without energy by rate.
 */
struct kwhy_ranked_cost {
	const struct kwhy_account *account;
	double rate_bytes_per_s;
	/* Of the link as the machine profile measured it with pinned memory, or half the rate of the device's
	   memory, which a copy reads and writes (a memset only writes: all of it); NAN unknown. */
	double peak_bytes_per_s;
	double gross_j_per_byte, net_j_per_byte; /* NAN unknown */
	double ratio_to_best; /* of gross energy a byte, without energy of rates; at least 1 */
};

struct kwhy_cost_ranking {
	struct kwhy_ranked_cost *costs;
	size_t count;
};

KWHY_MUST_USE enum kwhy_status kwhy_cost_ranking_init(struct kwhy_cost_ranking *ranking,
	const struct kwhy_report *report, uint32_t device, struct kwhy_error *error);
void kwhy_cost_ranking_done(struct kwhy_cost_ranking *ranking);

/* Of all devices: an array of device_count. */
KWHY_MUST_USE enum kwhy_status kwhy_cost_rankings_new(
	const struct kwhy_report *report, struct kwhy_cost_ranking **out, struct kwhy_error *error);
void kwhy_cost_rankings_free(struct kwhy_cost_ranking *rankings, size_t count);

/*
 * What a floating-point operation costs: gross energy of kernels that are no collectives, over the "flop" of
 * work that were stated, or where there are none, the sum of "flop_fp32", "flop_bf16", ... NAN where either
 * is unknown.
 */
double kwhy_joules_per_flop(const struct kwhy_report *report);

#endif
