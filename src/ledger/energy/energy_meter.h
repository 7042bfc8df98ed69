/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_METER_H
#define KWHY_LEDGER_ENERGY_ENERGY_METER_H

#include "ledger/energy/counter_windows.h"
#include "ledger/ledger_new.h"

/*
 * The readings of one device, indexed by enum kwhy_meter; NULL: the meter has fewer than two readings. Where
 * performance counters were enabled, the readings are without the power that this took.
 */
struct kwhy_device_meters {
	const struct kwhy_power_series *series[KWHY_METER_COUNT];
	struct kwhy_power_series
		corrected[KWHY_METER_COUNT]; /* copies of all readings, owned here; `series` points to them if
						`counters` has windows, otherwise they are empty */
	struct kwhy_counter_windows counters;
};

/* An interval, and the energy that a meter shows for it. */
struct kwhy_metered_interval {
	int64_t start_ns, end_ns;
	int64_t energy_nj;
};

/*
 * The metered total of a device, to which its accounts add up: the intervals of one meter inside the hull of
 * the coverage, in order of time. If no activity ran, intervals are cut at the ends of the hull, at their
 * mean power. If activities ran, only intervals wholly in the hull are listed at first, and the ends are
 * added later (energy_ends.h).
 */
struct kwhy_metered_total {
	uint32_t meter; /* enum kwhy_meter */
	struct kwhy_metered_interval *intervals;
	size_t count;
	int64_t sum_nj, sum_ns;
	double sampling_ratio; /* half-width of the 90 % interval of sum_nj, as a share of sum_nj: because of
				  unknown power between readings and of unknown energy at the ends of the
				  recording */
	int64_t hole_ns; /* total time in ns between power readings that are too far apart to interpolate */
	size_t hole_count;
	int64_t longest_step_ns;       /* longest time in ns between two readings that is interpolated */
	bool starts_sharp, ends_sharp; /* Whether the first interval begins with the recording, and whether
					  the last one ends with it. Such an interval contains no energy drawn
					  outside of the recording (energy_ends.h). */
	bool is_deconvolved;	       /* the intervals are on the clock of the activities, not of the meter
					  (energy_deconvolve.h) */
	size_t wrapped_count, fallen_count; /* wrapped_count: readings at which a counter wrapped, which was
					       undone. fallen_count: other readings at which a counter fell;
					       the intervals before them were left out */
	size_t jumped_count; /* number of readings at which a counter jumped, whose intervals were left out */
};

/*
 * Returns KWHY_E_INPUT, with a message that a sum of energies in nJ exceeds an int64_t. `whose` is the
 * beginning of the message, such as "readings of one device come to".
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_refuse(const char *whose, struct kwhy_error *error);

/*
 * Finds the meters of a device that have at least two readings. KWHY_E_INPUT: a power is negative or above
 * KWHY_POWER_MAX_W. `profile` NULL: no machine profile is known. End with kwhy_device_meters_done(), also
 * after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_device_meters_find(struct kwhy_device_meters *meters,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile,
	struct kwhy_error *error);
void kwhy_device_meters_done(struct kwhy_device_meters *meters);

/*
 * Readings of the best meter of the device whose owner is in `owners` and whose role is in `roles` (bit
 * masks), in the order of kwhy_meters_ranked(); NULL: the device has none.
 */
const struct kwhy_power_series *kwhy_device_meters_best(
	const struct kwhy_device_meters *meters, unsigned owners, unsigned roles);

/*
 * Writes the energy in nJ between readings i - 1 and i of a power meter, by the trapezoidal rule. `rest`
 * carries the remainder of the integer division from one call to the next; it begins with 0. False: the
 * energy exceeds an int64_t.
 */
bool kwhy_power_trapezoid_nj(
	const struct kwhy_power_series *series, size_t i, int64_t *rest, int64_t *out_nj);

/*
 * Makes the intervals of one meter inside the hull. Powers are integrated by trapezoids between readings, and
 * rounded so that the sum is exact. Between two power readings that are more than ten times as far apart as
 * the median, and more than 0.25 s, there is no interval; nor where a counter fell, or rose by slightly more
 * than a device can draw. KWHY_E_INPUT: a reading is impossible, or the sum exceeds an int64_t.
 */
KWHY_MUST_USE enum kwhy_status kwhy_metered_total_init(struct kwhy_metered_total *total,
	const struct kwhy_power_series *series, const struct kwhy_covered *covered, struct kwhy_error *error);
void kwhy_metered_total_done(struct kwhy_metered_total *total);

#endif
