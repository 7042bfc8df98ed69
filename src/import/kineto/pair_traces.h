/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PAIR_TRACES_H
#define KWHY_IMPORT_PAIR_TRACES_H

#include "model/pairs.h"

/*
 * Reads transfers between GPUs from a folder of traces of another program: files rank_N.pt.trace.json
 * (plain, .gz, .zst) of torch.profiler, with a range named p2p_cfg%04d_s%dd%d_sz%d_r%d around each
 * transfer. Sender and receiver both record kernels that are launched in their range. The time of a
 * transfer is the shorter time of the two sides' kernels, because the side that starts first waits for the
 * other. If no trace has such kernels, the time of a transfer is the length of its range by the host's
 * clock.
 */

/* Whether the folder holds a trace of rank 0 with a name of this form. */
bool kwhy_pair_traces_is_one(const char *folder);

/*
 * Fills in samples but no medians. KWHY_E_INPUT: no trace can be read, or no trace has a range of a transfer.
 * End with kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_import_pair_traces(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

#endif
