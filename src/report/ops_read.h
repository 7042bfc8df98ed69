/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_OPS_READ_H
#define KWHY_REPORT_OPS_READ_H

#include "base/status.h"

#include <stddef.h>

/* Two rows of what `kwhy bench ops` measured, by their ids: "fp32", "memory-copy". */
struct kwhy_read_ops {
	double flop_per_s, byte_per_s;
	double joules_per_flop, joules_per_byte; /* above the idle level with a context; NAN: not known */
	double constant_w;			 /* that level, as the two rows have it: their mean; NAN */
};

/*
 * From the JSON of `kwhy bench ops`, or a machine profile that has it. KWHY_E_INPUT: it is neither, or a row
 * is not there or was not measured.
 */
KWHY_MUST_USE enum kwhy_status kwhy_read_ops_of(struct kwhy_read_ops *out, const char *label,
	const char *json, size_t length, const char *arithmetic, const char *memory,
	struct kwhy_error *error);

#endif
