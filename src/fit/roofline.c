/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/roofline.h"

#include <math.h>

/*
 * Largest plausible ratio of least to measured time. It exceeds 1 because peaks are measured with errors of
 * up to 2 %; a larger ratio means that a figure is wrong.
 */
#define ABOVE_ALLOWED 1.02

static enum kwhy_status check(const struct kwhy_roofline_machine *machine,
	const struct kwhy_roofline_work *work, struct kwhy_error *error)
{
	if (!(machine->flop_per_s > 0) || !(machine->byte_per_s > 0))
		return kwhy_fail(error, KWHY_E_INPUT,
			"a roofline needs the machine's FLOP per second and bytes per second, both above 0");
	if (machine->joules_per_flop < 0 || machine->joules_per_byte < 0 || machine->constant_w < 0)
		return kwhy_fail(error, KWHY_E_INPUT, "a machine's joules and watts cannot be negative");
	if (!(work->flop >= 0) || !(work->bytes >= 0) || !(work->flop + work->bytes > 0))
		return kwhy_fail(error, KWHY_E_INPUT, "the work needs its FLOP and its bytes, not both 0");
	if (work->seconds <= 0 || work->joules <= 0)
		return kwhy_fail(error, KWHY_E_INPUT, "measured seconds and joules are above 0");
	return KWHY_OK;
}

enum kwhy_status kwhy_roofline_of(const struct kwhy_roofline_machine *machine,
	const struct kwhy_roofline_work *work, struct kwhy_roofline *out, struct kwhy_error *error)
{
	enum kwhy_status status = check(machine, work, error);
	double arithmetic_s = work->flop / machine->flop_per_s, memory_s = work->bytes / machine->byte_per_s;
	struct kwhy_roofline roof;

	if (status)
		return status;
	roof.flop_per_byte = work->bytes > 0 ? work->flop / work->bytes : INFINITY;
	roof.time_balance = machine->flop_per_s / machine->byte_per_s;
	roof.energy_balance = machine->joules_per_flop > 0
		? machine->joules_per_byte / machine->joules_per_flop
		: NAN;
	roof.is_memory_bound = memory_s > arithmetic_s;
	roof.least_s = fmax(memory_s, arithmetic_s);
	roof.least_j = work->flop * machine->joules_per_flop + work->bytes * machine->joules_per_byte +
		machine->constant_w * roof.least_s;
	roof.roof_flop_per_s = work->flop / roof.least_s;
	roof.roof_flop_per_joule = work->flop / roof.least_j;
	roof.time_ratio = roof.least_s / work->seconds;
	roof.energy_ratio = roof.least_j / work->joules;
	if (roof.time_ratio > ABOVE_ALLOWED)
		return kwhy_fail(error, KWHY_E_INPUT,
			"the work took %.4g s, less than the %.4g s that the machine needs: FLOP, bytes, "
			"peak or time is wrong",
			work->seconds, roof.least_s);
	*out = roof;
	return KWHY_OK;
}
