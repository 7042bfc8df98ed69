/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_OPERATIONS_H
#define KWHY_IMPORT_RESULTS_OPERATIONS_H

#include "base/status.h"

#include <stddef.h>

/* Two rows of the results of `kwhy bench ops`, by their ids: "fp32", "memory-copy". */
struct kwhy_read_ops {
	double flop_per_s, byte_per_s;
	double joules_per_flop, joules_per_byte; /* above the context idle level; NAN: unknown */
	double constant_w;			 /* context idle level, mean of the two rows; NAN: unknown */
};

/*
 * Reads the two rows from the JSON of `kwhy bench ops`, or from a machine profile that contains it.
 * KWHY_E_INPUT: the text is neither, or a row is missing or was not measured.
 */
KWHY_MUST_USE enum kwhy_status kwhy_read_ops_of(struct kwhy_read_ops *out, const char *label,
	const char *json, size_t length, const char *arithmetic, const char *memory,
	struct kwhy_error *error);

#endif
