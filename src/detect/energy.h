/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_ENERGY_H
#define KWHY_DETECT_ENERGY_H

#include "detect/view.h"

/* An energy with its 90 % interval in nanojoules; NAN: unknown. */
struct kwhy_energy_ci90 {
	double nj, low_nj, high_nj;
};

/*
 * Computes the energy of intervals and activities of one device from the ledger. Between two edges of the
 * ledger's energy curve, idle energy is proportional to time; the idle power between the two edges used last
 * is kept, so that further intervals between these edges need no search.
 */
struct kwhy_energy_source {
	const struct kwhy_detect_view *view;
	uint32_t device;
	bool known;
	double recorded_nj; /* recorded_nj of the device's run (model/run_energy.h), nJ; NAN: unknown */
	/* Lower and upper end of the 90 % interval of the idle accounts' energies, as ratios to their sum. */
	double idle_low_ratio, idle_high_ratio;
	/* interval between two edges in which idle_nj_per_ns is the idle power; empty: none yet */
	int64_t rate_start_ns, rate_end_ns;
	double idle_nj_per_ns;
};

void kwhy_energy_source_init(
	struct kwhy_energy_source *source, const struct kwhy_detect_view *view, uint32_t device);

/*
 * Adds to *energy `share` times the energy that the device, idle in [start_ns, end_ns), drew then; NAN if the
 * device's energy is unknown.
 */
void kwhy_energy_add_idle(struct kwhy_energy_ci90 *energy, struct kwhy_energy_source *source,
	int64_t start_ns, int64_t end_ns, double share);
/* Adds to *energy `share` times the energy of one activity; NAN if it is unknown. */
void kwhy_energy_add_activity(
	struct kwhy_energy_ci90 *energy, const struct kwhy_energy_source *source, size_t row, double share);
/*
 * Energy that length_ns of idle time would take at the mean of the device's idle power over its window, from
 * first start to last end.
 */
struct kwhy_energy_ci90 kwhy_energy_idle_mean(const struct kwhy_energy_source *source, double length_ns);

struct kwhy_energy_ci90 kwhy_energy_sum(
	struct kwhy_energy_ci90 a, double share_a, struct kwhy_energy_ci90 b, double share_b);

/*
 * Converts nanojoules to an integer by dropping the fraction, and limits it to 0 to limit_nj; KWHY_UNKNOWN_NJ
 * for NAN.
 */
int64_t kwhy_energy_round(double nj, double limit_nj);

#endif
