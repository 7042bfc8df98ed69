/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SUMS_SUMS_H
#define KWHY_LEDGER_SUMS_SUMS_H

#include "ledger/ledger_new.h"

/* The parts of kwhy_ledger_sums(). Each fills one table of the ledger. */
typedef enum kwhy_status kwhy_sums_part(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error);

KWHY_MUST_USE kwhy_sums_part kwhy_sums_api;    /* calls summed by name, the longest first */
KWHY_MUST_USE kwhy_sums_part kwhy_sums_ranges; /* ranges, the longest first, and steps, in order of time */
KWHY_MUST_USE kwhy_sums_part
	kwhy_sums_ranks; /* devices with work, each with its rank, in the order of the recording */
KWHY_MUST_USE kwhy_sums_part kwhy_sums_streams; /* streams with work, in the order of the recording */
KWHY_MUST_USE kwhy_sums_part kwhy_sums_memory;	/* peaks and changes of the memory in use on each device */
KWHY_MUST_USE kwhy_sums_part kwhy_sums_hosts;	/* energies of meters of the host */
KWHY_MUST_USE kwhy_sums_part
	kwhy_sums_overhead; /* overhead of the measurement; called after the energies are written */

#endif
