/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_LIMITS_H
#define KWHY_BENCH_PAIRS_LIMITS_H

#include "model/pairs.h"

/*
 * Finds what connects each pair of GPUs, and the highest rate of that connection, and stores it in
 * pairs->routes. The source is NVML, which identifies GPUs by PCI address. Routes that NVML does not report
 * stay unknown, and pairs->route_missing says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_limits_read(struct kwhy_pairs *pairs, struct kwhy_error *error);

/*
 * Rate of `lanes` PCIe lanes in one direction, in bytes per second, after line coding and before packet
 * headers; NAN: the generation is unknown, or `lanes` is 0.
 */
double kwhy_pcie_bytes_per_s(unsigned generation, unsigned lanes);

#endif
