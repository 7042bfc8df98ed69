/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_SINCE_H
#define KWHY_CLI_LIVE_SINCE_H

#include "base/status.h"

#include <stdint.h>

/*
 * Reads a time: a duration before now_unix_ns in s, m, h, d or w ("90m", "2h", "7d"), or a UTC time
 * ("2026-11-29", "2026-11-29T14:30"). Writes it as a Unix time in ns. KWHY_E_USAGE: the text is neither.
 */
KWHY_MUST_USE enum kwhy_status kwhy_since_read(
	const char *text, int64_t now_unix_ns, int64_t *out_unix_ns, struct kwhy_error *error);

#endif
