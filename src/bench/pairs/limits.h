/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_LIMITS_H
#define KWHY_BENCH_PAIRS_LIMITS_H

#include "model/pairs.h"

/*
 * What joins each two of the pairs' GPUs, and how fast it can be at most: pairs->routes, as NVML reports it
 * by their PCI addresses. Where it does not, routes stay unknown and pairs->route_missing says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_limits_read(struct kwhy_pairs *pairs, struct kwhy_error *error);

/* Bytes a second of this many lanes one way, line coding taken off; NAN: a generation that is not known. */
double kwhy_pcie_bytes_per_s(unsigned generation, unsigned lanes);

#endif
