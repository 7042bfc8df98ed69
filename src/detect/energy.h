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
 * ledger's energy curve, idle energy is proportional to time. The idle power between the two edges used last
 * is kept, so further intervals between them need no search.
 */
struct kwhy_energy_source {
	const struct kwhy_detect_view *view;
	uint32_t device;
	bool known;
	double recorded_nj; /* energy of the run in nJ (model/run_energy.h); NAN: unknown */
	/* Lower and upper end of the 90 % interval of the idle accounts' energies, as ratios to their sum. */
	double idle_low_ratio, idle_high_ratio;
	int64_t rate_start_ns, rate_end_ns; /* interval in which idle_nj_per_ns is the idle power */
	double idle_nj_per_ns;
};

void kwhy_energy_source_init(
	struct kwhy_energy_source *source, const struct kwhy_detect_view *view, uint32_t device);

/* Adds `share` times the energy that the idle device drew in [start_ns, end_ns). */
void kwhy_energy_add_idle(struct kwhy_energy_ci90 *energy, struct kwhy_energy_source *source,
	int64_t start_ns, int64_t end_ns, double share);
/* Adds `share` times the energy of one activity. */
void kwhy_energy_add_activity(
	struct kwhy_energy_ci90 *energy, const struct kwhy_energy_source *source, size_t row, double share);
/* Energy of length_ns of idle time at the device's mean idle power over its window. */
struct kwhy_energy_ci90 kwhy_energy_idle_mean(const struct kwhy_energy_source *source, double length_ns);

struct kwhy_energy_ci90 kwhy_energy_sum(
	struct kwhy_energy_ci90 a, double share_a, struct kwhy_energy_ci90 b, double share_b);

/* Rounds nanojoules to an integer between 0 and limit_nj; KWHY_UNKNOWN_NJ for NAN. */
int64_t kwhy_energy_round(double nj, double limit_nj);

#endif
