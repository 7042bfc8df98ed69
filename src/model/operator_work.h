/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_OPERATOR_WORK_H
#define KWHY_MODEL_OPERATOR_WORK_H

#include "model/precision.h"

#include <stdbool.h>

/*
 * The arithmetic and memory traffic of one call of a PyTorch operator, computed from the shapes of its
 * inputs, as if every input were read once and every output written once. This is a lower bound, since
 * kernels that read data again move more bytes.
 */
struct kwhy_operator_work {
	double flop;  /* 0: the operator is no matrix product, convolution or attention */
	double bytes; /* bytes of device memory read and written */
	/* precision of the inputs, which decides the units that can do the arithmetic */
	enum kwhy_precision precision;
};

/* Whether the work of operators of this name can be computed. */
bool kwhy_operator_is_known(const char *name);

/*
 * The work of an operator. `shape` is three parts of JSON, each ended by ";", as in PyTorch's traces: "Input
 * Dims", "Input type" and "Concrete Inputs" (empty where the trace has none). False: the operator is unknown,
 * or the shape does not determine the work.
 */
bool kwhy_operator_work(const char *name, const char *shape, struct kwhy_operator_work *out);

#endif
