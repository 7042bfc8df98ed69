/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_ENERGY_H
#define KWHY_DETECT_ENERGY_H

#include "detect/view.h"

/* An energy with its 90 % interval in nanojoules; NAN where unknown. */
struct kwhy_energy_ci90 {
	double nj, low_nj, high_nj;
};

/*
 * Asks the ledger for the energy of stretches and activities of one device. Idle energy is proportional
 * to time between two edges of the ledger's curve, so the last rate is kept: stretches that come in
 * order cost no search.
 */
struct kwhy_energy_source {
	const struct kwhy_detect_view *view;
	uint32_t device;
	bool known;
	double recorded_nj;			/* of the run (model/run_energy.h); NAN unknown */
	double idle_low_ratio, idle_high_ratio; /* interval of the idle accounts over their sum */
	int64_t rate_start_ns, rate_end_ns;	/* where idle_nj_per_ns holds */
	double idle_nj_per_ns;
};

void kwhy_energy_source_init(
	struct kwhy_energy_source *source, const struct kwhy_detect_view *view, uint32_t device);

/* Adds `share` of what the idle device drew in [start_ns, end_ns). */
void kwhy_energy_add_idle(struct kwhy_energy_ci90 *energy, struct kwhy_energy_source *source,
	int64_t start_ns, int64_t end_ns, double share);
/* Adds `share` of the energy of one activity. */
void kwhy_energy_add_activity(
	struct kwhy_energy_ci90 *energy, const struct kwhy_energy_source *source, size_t row, double share);
/* Mean idle energy of the device over its window, times length_ns. */
struct kwhy_energy_ci90 kwhy_energy_idle_mean(const struct kwhy_energy_source *source, double length_ns);

struct kwhy_energy_ci90 kwhy_energy_sum(
	struct kwhy_energy_ci90 a, double share_a, struct kwhy_energy_ci90 b, double share_b);

/* Nanojoules as an integer from 0 to limit_nj, where that is known; KWHY_UNKNOWN_NJ for NAN. */
int64_t kwhy_energy_round(double nj, double limit_nj);

#endif
