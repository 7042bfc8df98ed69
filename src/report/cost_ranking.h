/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COST_RANKING_H
#define KWHY_REPORT_COST_RANKING_H

#include "base/status.h"
#include "report/report.h"

/*
 * Cost of a copied byte for one account of copies or memsets. The account's number of bytes is known and
 * above 0. The energy is the account's mean power times all of its time. It thus includes unmetered time, as
 * the bytes do. A ranking begins with the best entry: the one with the least gross energy per byte or, if
 * energies are unknown, with the highest rate.
 */
struct kwhy_ranked_cost {
	const struct kwhy_account *account;
	double rate_bytes_per_s;
	/*
	 * Rate in B/s that the account's copies or memsets could reach; NAN: unknown. For copies between host
	 * and device: the rate of the link, as the machine profile measured it with pinned memory. For copies
	 * within the device: half the rate of the device's memory, since such a copy both reads and writes.
	 * For memsets, which only write: the full rate of the device's memory. For other copies, such as
	 * those between devices: NAN.
	 */
	double peak_bytes_per_s;
	/* joules per byte, gross and net of idle energy; NAN: unknown */
	double gross_j_per_byte, net_j_per_byte;
	/*
	 * gross energy per byte divided by that of the best entry (the first); if energies are unknown, the
	 * best entry's rate divided by the rate of this entry. At least 1; NAN: only this entry's energy is
	 * unknown
	 */
	double ratio_to_best;
};

struct kwhy_cost_ranking {
	struct kwhy_ranked_cost *costs;
	size_t count;
};

KWHY_MUST_USE enum kwhy_status kwhy_cost_ranking_init(struct kwhy_cost_ranking *ranking,
	const struct kwhy_report *report, uint32_t device, struct kwhy_error *error);
void kwhy_cost_ranking_done(struct kwhy_cost_ranking *ranking);

/*
 * Makes the rankings of all devices, an array with device_count entries, which kwhy_cost_rankings_free()
 * frees.
 */
KWHY_MUST_USE enum kwhy_status kwhy_cost_rankings_new(
	const struct kwhy_report *report, struct kwhy_cost_ranking **out, struct kwhy_error *error);
void kwhy_cost_rankings_free(struct kwhy_cost_ranking *rankings, size_t count);

/*
 * Energy of a floating-point operation, J: gross energy of kernels without collectives, divided by the
 * stated work "flop" or, if that is not stated, by the sum of "flop_fp32", "flop_bf16" and so on. NAN:
 * energy or work is unknown.
 */
double kwhy_joules_per_flop(const struct kwhy_report *report);

#endif
