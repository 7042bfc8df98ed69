/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_LIMITS_H
#define KWHY_BENCH_PAIRS_LIMITS_H

#include "model/pairs.h"

/*
 * Reads what connects every two of the pairs' GPUs and the highest rate of that connection into
 * pairs->routes, from NVML by PCI address. Where NVML does not report them, routes stay unknown and
 * pairs->route_missing says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_limits_read(struct kwhy_pairs *pairs, struct kwhy_error *error);

/* Bytes a second of `lanes` PCIe lanes in one direction, after line coding; NAN: unknown generation. */
double kwhy_pcie_bytes_per_s(unsigned generation, unsigned lanes);

#endif
