/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PAIR_TRACES_H
#define KWHY_IMPORT_PAIR_TRACES_H

#include "model/pairs.h"

/*
 * Transfers between GPUs from a folder of another program's traces: rank_N.pt.trace.json (plain, .gz, .zst)
 * of torch.profiler, with a range p2p_cfg%04d_s%dd%d_sz%d_r%d around each. A transfer took what the kernels
 * that its range launched took, on the side where that was less: who comes first waits for the other one.
 * Where no trace has such kernels, the range itself, by the host's clock.
 */

/* Whether the folder holds a trace of rank 0 by that name. */
bool kwhy_pair_traces_is_one(const char *folder);

/* Samples are in, medians are not. KWHY_E_INPUT: no trace can be read or none has such a range. End with
 * kwhy_pairs_free(). */
KWHY_MUST_USE enum kwhy_status kwhy_import_pair_traces(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

#endif
