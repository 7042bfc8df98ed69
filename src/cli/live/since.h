/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_SINCE_H
#define KWHY_CLI_LIVE_SINCE_H

#include "base/status.h"

#include <stdint.h>

/*
 * Reads a time and gives it as a Unix time. The text is a duration before now ("90m", "2h", "7d") or a UTC
 * time ("2026-11-29", "2026-11-29T14:30"). KWHY_E_USAGE: the text is none of these.
 */
KWHY_MUST_USE enum kwhy_status kwhy_since_read(
	const char *text, int64_t now_unix_ns, int64_t *out_unix_ns, struct kwhy_error *error);

#endif
