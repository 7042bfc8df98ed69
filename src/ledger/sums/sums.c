/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/sums/sums.h"

#include "ledger/parts.h"

enum kwhy_status kwhy_ledger_sums(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	static kwhy_sums_part *const parts[] = {
		kwhy_sums_api,
		kwhy_sums_ranges,
		kwhy_sums_ranks,
		kwhy_sums_streams,
		kwhy_sums_memory,
		kwhy_sums_hosts,
		kwhy_sums_overhead,
	};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(parts) / sizeof(parts[0]); i++)
		status = parts[i](ledger, recording, options, error);
	return status;
}
