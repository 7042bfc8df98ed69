/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_ROOFLINE_H
#define KWHY_FIT_ROOFLINE_H

#include "base/status.h"

#include <stdbool.h>

/*
 * Least time and energy on a machine for work of F FLOP and B bytes of memory traffic (Williams et al. 2009;
 * Choi et al. 2013): time = max(F / flop_per_s, B / byte_per_s), energy = F * joules_per_flop + B *
 * joules_per_byte + constant_w * time. NAN: unknown; results that depend on an unknown value are NAN.
 */
struct kwhy_roofline_machine {
	double flop_per_s, byte_per_s;
	double joules_per_flop, joules_per_byte;
	double constant_w;
};

struct kwhy_roofline_work {
	double flop, bytes;
	double seconds, joules; /* measured time and energy of the work */
};

struct kwhy_roofline {
	double flop_per_byte;
	double time_balance;   /* FLOP per byte of work for which B / byte_per_s equals F / flop_per_s */
	double energy_balance; /* FLOP per byte at which memory and arithmetic take equal energy; the energy
				  of constant_w is not counted */
	bool is_memory_bound;
	double least_s, least_j;
	double roof_flop_per_s,
		roof_flop_per_joule; /* highest rates that are possible for work of this flop_per_byte */
	/*
	 * time_ratio: least time divided by measured time; energy_ratio: least energy divided by measured
	 * energy. Errors of measurement can make both exceed 1. A time_ratio above 1.02 is an error
	 * (KWHY_E_INPUT), energy_ratio has no such limit.
	 */
	double time_ratio, energy_ratio;
};

/*
 * KWHY_E_INPUT: a negative value, no peak or bandwidth, work of neither FLOP nor bytes, or a measured time
 * more than 2 % below the least time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_roofline_of(const struct kwhy_roofline_machine *machine,
	const struct kwhy_roofline_work *work, struct kwhy_roofline *out, struct kwhy_error *error);

#endif
