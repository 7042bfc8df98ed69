/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_METER_H
#define KWHY_LEDGER_ENERGY_ENERGY_METER_H

#include "ledger/energy/coverage.h"
#include "ledger/ledger_new.h"

/* Power and energy meters of one device: those with two readings or more; else NULL. */
struct kwhy_device_meters {
	const struct kwhy_power_series *series[KWHY_METER_COUNT];
};

/* A stretch of time whose energy a meter tells. */
struct kwhy_metered_interval {
	int64_t start_ns, end_ns;
	int64_t energy_nj;
};

/*
 * What the ledger must meet: the intervals of one meter that lie inside the hull of the coverage, in order.
 * Where nothing ran, the ledger are of the hull to the nanosecond: of intervals across its ends the part
 * inside counts, at their mean power. Else what ran there says more of how they are to be divided.
 */
struct kwhy_metered_total {
	uint32_t meter; /* enum kwhy_meter */
	struct kwhy_metered_interval *intervals;
	size_t count;
	int64_t sum_nj, sum_ns;
	double sampling_ratio; /* half of the 90 % interval of sum_nj over it: what came and went between
				  readings, and what is not known of the recording's ends */
	int64_t hole_ns;       /* between readings of a power too far apart for a line between them */
	size_t hole_count;
	int64_t longest_step_ns;       /* longer from one reading to the next is such a hole */
	bool starts_sharp, ends_sharp; /* the first begins with the recording, the last ends with it: none of
					  what was drawn outside is in them (energy_ends.h) */
	bool is_deconvolved; /* intervals are on the clock of the activities (energy_deconvolve.h) */
	size_t wrapped_count, fallen_count; /* readings of a counter that fell: undone, left out */
};

/* KWHY_E_INPUT for what no int64 of nanojoules holds; `whose` as "readings of one device come to". */
KWHY_MUST_USE enum kwhy_status kwhy_energy_refuse(const char *whose, struct kwhy_error *error);

/* Refuses a power that is negative or more than any device draws. */
KWHY_MUST_USE enum kwhy_status kwhy_device_meters_find(struct kwhy_device_meters *meters,
	const struct kwhy_recording *recording, uint32_t device, struct kwhy_error *error);

/* Its counter; NULL: none. */
const struct kwhy_power_series *kwhy_device_meters_counter(const struct kwhy_device_meters *meters);

/*
 * Energy of a power meter between readings i - 1 and i: what is left of the division of those so far, `rest`,
 * goes into this one. False: no int64_t holds it.
 */
bool kwhy_power_trapezoid_nj(
	const struct kwhy_power_series *series, size_t i, int64_t *rest, int64_t *out_nj);

/*
 * Intervals of one meter; of powers, the trapezoid between readings, rounded so that the sum is exact. None
 * where they lie more than ten times as far apart as usual, and 0.25 s: what was drawn there nobody saw.
 */
KWHY_MUST_USE enum kwhy_status kwhy_metered_total_init(struct kwhy_metered_total *total,
	const struct kwhy_power_series *series, const struct kwhy_covered *covered, struct kwhy_error *error);
void kwhy_metered_total_done(struct kwhy_metered_total *total);

/*
 * Whether a reading is taken for the mean of the time before it. AMD's socket power is the average of a time
 * that no document states, or the power now: as a mean it tells least.
 */
static inline bool kwhy_meter_is_mean(uint32_t meter)
{
	return meter == KWHY_METER_NVML_AVERAGE || meter == KWHY_METER_ROCM_POWER;
}

#endif
