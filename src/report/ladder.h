/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_LADDER_H
#define KWHY_REPORT_LADDER_H

#include "base/status.h"
#include "report/report.h"

/*
 * What bytes cost, one rung an account of copies or memsets whose bytes are all known and not 0. Energies are
 * the account's mean power over all of its time, so that they belong to all of its bytes, metered or not.
 * Best first: by gross energy a byte, without energy by rate.
 */
struct kwhy_rung {
	const struct kwhy_account *account;
	double rate_bytes_per_s;
	/* Of the link as the machine profile measured it with pinned memory, or half the rate of the device's
	   memory, which a copy reads and writes (a memset only writes: all of it); NAN unknown. */
	double peak_bytes_per_s;
	double gross_j_per_byte, net_j_per_byte; /* NAN unknown */
	double ratio_to_best; /* of gross energy a byte, without energy of rates; at least 1 */
};

struct kwhy_ladder {
	struct kwhy_rung *rungs;
	size_t count;
};

KWHY_MUST_USE enum kwhy_status kwhy_ladder_init(struct kwhy_ladder *ladder, const struct kwhy_report *report,
	uint32_t device, struct kwhy_error *error);
void kwhy_ladder_done(struct kwhy_ladder *ladder);

/* Of all devices: an array of device_count. */
KWHY_MUST_USE enum kwhy_status kwhy_ladders_new(
	const struct kwhy_report *report, struct kwhy_ladder **out, struct kwhy_error *error);
void kwhy_ladders_free(struct kwhy_ladder *ladders, size_t count);

/*
 * What a floating-point operation costs: gross energy of kernels that are no collectives, over the "flop" of
 * work that were stated, or where there are none, the sum of "flop_fp32", "flop_bf16", ... NAN where either
 * is unknown.
 */
double kwhy_joules_per_flop(const struct kwhy_report *report);

#endif
