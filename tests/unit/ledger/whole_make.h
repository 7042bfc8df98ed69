/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_LEDGER_WHOLE_MAKE_H
#define KWHY_TESTS_UNIT_LEDGER_WHOLE_MAKE_H

#include "unit/ledger/build.h"

#include "model/profile.h"

/*
 * A small random recording with every kind of record that a ledger reads, and the options of its ledger. A
 * seed gives the same recording with all compilers and processors.
 */
struct whole_made {
	struct kwhy_recording *recording; /* not finished */
	struct kwhy_ledger_options options;
	struct kwhy_profile profile;
	struct kwhy_known_power known_powers[2];
	struct kwhy_kind_power kinds[2];
	struct kwhy_learnt_powers learnt;
	struct kwhy_learnt_power learnt_items[4];
	const struct kwhy_learnt_powers *learnt_list[1];
	bool of_program; /* the ledger to make is that of the program without the bursts of kwhy probe */
};

struct whole_random {
	uint64_t state;
};

uint32_t whole_below(struct whole_random *random, uint32_t limit);
/* Returns true once in `times`. */
bool whole_once_in(struct whole_random *random, uint32_t times);
/*
 * Returns one of at most 1,000 evenly spaced values from low to high, so that results do not depend on
 * rounding.
 */
double whole_between(struct whole_random *random, double low, double high);

/*
 * Makes a recording without meters of devices. All times are small multiples of one unit, so that starts and
 * ends are often equal.
 */
void whole_make_timed(struct whole_made *made, uint64_t seed);
/* Make a recording of a device, or of two, with meters, whose readings follow known powers. */
void whole_make_metered(struct whole_made *made, uint64_t seed);
void whole_make_two(struct whole_made *made, uint64_t seed);

#endif
