/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_COMPAT_H
#define KWHY_REPORT_PAIRS_COMPAT_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Writes what another benchmark would print, computed from the samples of `pairs` by that benchmark's
 * definitions. `peer`: "nvbandwidth" (0.8), "nccl-tests" (2.19: sendrecv_perf and five collectives) or "p2p"
 * (p2pBandwidthLatencyTest of CUDA's samples 13.0). Also writes how the benchmark's method differs from
 * kwhy's and how far apart the numbers are. KWHY_E_USAGE: `peer` is none of these, or nothing that it
 * measures was measured.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_compat(
	const struct kwhy_pairs *pairs, const char *peer, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Checks the name of the other benchmark, before minutes are spent on measuring. KWHY_E_USAGE: the name is
 * unknown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_compat_check(const char *peer, struct kwhy_error *error);

#endif
