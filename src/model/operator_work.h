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
	double flop;  /* floating-point operations; 0 unless the operator is a matrix product, convolution or
			 attention */
	double bytes; /* bytes of device memory read and written */
	/* precision of the inputs, which decides the units that can do the arithmetic */
	enum kwhy_precision precision;
};

/* Whether kwhy_operator_work() has a rule for operators of this name, such as "aten::mm". */
bool kwhy_operator_is_known(const char *name);

/*
 * Computes the work of one call of an operator. `shape` has the values of "Input Dims", "Input type" and
 * "Concrete Inputs" of PyTorch's traces, as JSON, each followed by ";"; a value that the trace lacks is
 * empty. False: the operator is unknown, or `shape` does not determine the work.
 */
bool kwhy_operator_work(const char *name, const char *shape, struct kwhy_operator_work *out);

#endif
