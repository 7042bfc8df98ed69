/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RUN_ENERGY_H
#define KWHY_MODEL_RUN_ENERGY_H

#include "model/ledger.h"

/*
 * Energy of a device's run: from its first start to its last end, metered, and estimated from the powers of
 * its accounts where no reading was. What was metered before and after the run is not in it. The only place
 * that says so: findings, plans, reports and what is made of reports all take it from here (ADR 0028).
 *
 * NAN where unknown: no energy of the device is, or no reading fell into its run; run_nj and what is noted of
 * it also where part of the run was not recorded and no reading fell into that part, as with assumed powers.
 * 0 of a device that did nothing.
 */
struct kwhy_run_energy {
	double run_nj;	     /* with the time between recorded windows at its mean power */
	double recorded_nj;  /* without that time: what findings and plans, which know only what was recorded,
				are parts of; the same where all of the run was recorded */
	double unmetered_nj; /* of run_nj, what no reading covers and is estimated */
	double recorded_unmetered_nj; /* the same of recorded_nj */
	/* How far the 90 % interval of run_nj reaches below and above it: what is before and after, what no
	   reading saw, and what came and went between readings; NAN too of assumed powers. */
	double below_nj, above_nj;
};

struct kwhy_run_energy kwhy_run_energy_of(const struct kwhy_device_ledger *device_ledger);

#endif
