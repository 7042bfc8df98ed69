/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_OPERATIONS_H
#define KWHY_IMPORT_RESULTS_OPERATIONS_H

#include "base/status.h"

#include <stddef.h>

/*
 * Results of `kwhy bench ops` for two operations, one of arithmetic and one of memory, such as "fp32" and
 * "memory-copy".
 */
struct kwhy_read_ops {
	double flop_per_s, byte_per_s;
	double joules_per_flop,
		joules_per_byte; /* net energy, which is above the context idle level; NAN: unknown */
	double constant_w;	 /* power at the context idle level, mean of both operations; NAN: unknown */
};

/*
 * Reads the operations named `arithmetic` and `memory` from the JSON of `kwhy bench ops`, or of a machine
 * profile that contains it. KWHY_E_INPUT: the text is neither, or an operation is missing, was not measured
 * or has another unit than FLOP or B.
 */
KWHY_MUST_USE enum kwhy_status kwhy_read_ops_of(struct kwhy_read_ops *out, const char *label,
	const char *json, size_t length, const char *arithmetic, const char *memory,
	struct kwhy_error *error);

#endif
