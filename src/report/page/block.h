/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_BLOCK_H
#define KWHY_REPORT_PAGE_BLOCK_H

#include "base/status.h"
#include "base/text.h"

/*
 * Appends the bytes, compressed with gzip and encoded as base64, as <script id="ID"
 * type="application/octet-stream">...</script>.
 */
KWHY_MUST_USE enum kwhy_status kwhy_page_block(
	const char *id, const void *bytes, size_t length, struct kwhy_text *out, struct kwhy_error *error);

#endif
