/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RUN_ENERGY_H
#define KWHY_MODEL_RUN_ENERGY_H

#include "model/ledger.h"

#include <math.h>

/*
 * Energy of a device's run, from its first start to its last end. Where there are no readings, it is
 * estimated from the powers of the device's accounts. Energy metered before and after the run is not
 * included. Findings, plans and reports all use this definition (ADR 0028).
 *
 * NAN: no energy of the device is known, or no reading lies in its run. run_nj, unmetered_nj, below_nj and
 * above_nj are also NAN if a part of the run was not recorded and no reading lies in that part, which is
 * always so if the energies are computed from powers that the user gave. 0: the device was not active.
 */
struct kwhy_run_energy {
	double run_nj; /* energy of the run, time between recorded windows included. The part of that time
			  without readings is taken at the mean power of the part with readings */
	double recorded_nj;  /* run_nj without the time between recorded windows, equal to run_nj if there is
				none. Findings and plans cover recorded time only, so their energies are parts
				of recorded_nj */
	double unmetered_nj; /* estimated part of run_nj, for time that no reading covers */
	double recorded_unmetered_nj; /* estimated part of recorded_nj */
	/*
	 * Distances from run_nj to the lower and upper end of its 90 % interval. They include the uncertainty
	 * of the energy before and after the run, of unmetered time, and of power changes between readings.
	 * NAN also if the energies are computed from powers that the user gave.
	 */
	double below_nj, above_nj;
};

/*
 * Mean power of a run, W: its energy divided by its time. For several devices, run_ns is that of the device
 * with the longest run. NAN: energy or time is unknown.
 */
static inline double kwhy_run_power_w(double run_nj, double run_ns)
{
	return run_ns > 0 ? run_nj / run_ns : NAN;
}

struct kwhy_run_energy kwhy_run_energy_of(const struct kwhy_device_ledger *device_ledger);

#endif
