/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PRECISION_H
#define KWHY_MODEL_PRECISION_H

#include <stdbool.h>

/*
 * Precisions of floating-point operations. A device has a peak rate for each of them; its highest can be 50
 * times its lowest.
 */
enum kwhy_precision {
	KWHY_PRECISION_FP64,
	KWHY_PRECISION_FP32,
	KWHY_PRECISION_TF32,
	KWHY_PRECISION_BF16,
	KWHY_PRECISION_FP16,
	KWHY_PRECISION_FP8,
	KWHY_PRECISION_COUNT
};

/* "fp64", "fp32", "tf32", ... */
const char *kwhy_precision_name(enum kwhy_precision precision);

/*
 * Whether a unit of work counts arithmetic, that is, whether its name begins with "flop" in any case: "flop",
 * "flop_fp32", "flop_int4", "FLOPs".
 */
bool kwhy_unit_is_flop(const char *unit);

/*
 * Finds the precision in the name of a unit, "flop_" and a name of kwhy_precision_name(), such as
 * "flop_bf16"; false: the unit has no such name.
 */
bool kwhy_unit_precision(const char *unit, enum kwhy_precision *out);

#endif
