/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_COMPAT_H
#define KWHY_REPORT_PAIRS_COMPAT_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Writes the output that nvbandwidth 0.8, nccl-tests 2.19 (sendrecv_perf) or p2pBandwidthLatencyTest of
 * CUDA's samples 13.0 would print, by their definitions from these samples, then the differences to their
 * method and to ours. KWHY_E_USAGE: `peer` is another name, or no sample is of a kind that it measures.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_compat(
	const struct kwhy_pairs *pairs, const char *peer, struct kwhy_text *out, struct kwhy_error *error);

/* KWHY_E_USAGE where `peer` is no known name. Called before minutes of measuring. */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_compat_check(const char *peer, struct kwhy_error *error);

#endif
