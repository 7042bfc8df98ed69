/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_PAIR_TRACES_H
#define KWHY_IMPORT_KINETO_PAIR_TRACES_H

#include "model/pairs.h"

/*
 * This module reads the times of transfers between GPUs from a folder of torch.profiler traces of another
 * program: files rank_N.pt.trace.json (plain, .gz, .zst) with a range named p2p_cfg%04d_s%dd%d_sz%d_r%d
 * (configuration, sender, receiver, bytes, repetition) around each transfer. Sender and receiver both launch
 * kernels in their range. The time of a transfer is the shorter time of the two sides' kernels, because the
 * side that starts first waits for the other. If no trace has such kernels, it is the length of the sender's
 * range by the host's clock.
 */

/* Whether the folder has a file rank_0.pt.trace.json, plain or compressed. */
bool kwhy_pair_traces_is_one(const char *folder);

/*
 * Sets *out to the samples of all configurations; the medians are not computed here. KWHY_E_INPUT: the folder
 * or a trace cannot be read, no trace has a range of a transfer, or two transfers with one configuration
 * number differ. End with kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_pair_traces(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

#endif
