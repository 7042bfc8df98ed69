/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TRANSFERS_H
#define KWHY_REPORT_TRANSFERS_H

#include "model/transfers.h"
#include "report/json/writer.h"
#include "report/report.h"

/* Write measured transfers as text, as JSON, and as a C header to compile into a program. */
KWHY_MUST_USE enum kwhy_status kwhy_report_transfers_text(const struct kwhy_transfers *transfers,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_transfers_json(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_transfers_header(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the JSON of the member "transfers" in a machine profile. */
KWHY_MUST_USE enum kwhy_status kwhy_report_transfers_part(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Writes a size: as a whole number of the largest binary unit that divides it, "64 KiB", else in bytes, "100
 * B". Returns `out`.
 */
enum { KWHY_TRANSFER_SIZE_BYTES = 32 };
const char *kwhy_transfer_size_text(char out[KWHY_TRANSFER_SIZE_BYTES], uint64_t bytes);

#endif
