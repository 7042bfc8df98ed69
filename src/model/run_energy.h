/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RUN_ENERGY_H
#define KWHY_MODEL_RUN_ENERGY_H

#include "model/ledger.h"

/*
 * Energy of a device's run, from its first start to its last end. It is metered, and estimated from the
 * powers of its accounts where there are no readings. Energy metered before and after the run is not
 * included. Findings, plans and reports all use this one definition (ADR 0028).
 *
 * NAN: no energy of the device is known, or no reading lies in its run. run_nj, unmetered_nj and its interval
 * are also NAN if part of the run was not recorded and no reading lies in that part, as with assumed powers.
 * 0: the device was not active.
 */
struct kwhy_run_energy {
	double run_nj;	     /* including the time between recorded windows, at its mean metered power */
	double recorded_nj;  /* without that time; findings and plans, which cover only recorded time, are
				parts of it; equal to run_nj where all of the run was recorded */
	double unmetered_nj; /* part of run_nj that no reading covers and is estimated */
	double recorded_unmetered_nj; /* that part of recorded_nj */
	/*
	 * Distance of the 90 % interval's ends from run_nj. It holds the uncertainty of the energy before and
	 * after the run, of unmetered time, and of changes between readings; NAN also for assumed powers.
	 */
	double below_nj, above_nj;
};

struct kwhy_run_energy kwhy_run_energy_of(const struct kwhy_device_ledger *device_ledger);

#endif
