/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_BURSTS_H
#define KWHY_RECORD_BURSTS_H

#include "base/status.h"

#include <stdint.h>

/* What the processes of a command have written of kernels that were repeated. */
struct kwhy_record_bursts {
	uint64_t bursts, repeats;
	uint64_t different; /* after which device memory was not what it had been */
	int64_t spent_ns;
};

/* Of a recording that is complete. */
KWHY_MUST_USE enum kwhy_status kwhy_record_bursts_read(
	const char *path, struct kwhy_record_bursts *out, struct kwhy_error *error);

#endif
