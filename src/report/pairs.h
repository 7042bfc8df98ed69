/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_H
#define KWHY_REPORT_PAIRS_H

#include "model/pairs.h"
#include "report/report.h"

/* Write measurements between GPUs as text and as JSON (docs/formats/pairs.schema.json). */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_text(const struct kwhy_pairs *pairs,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_json(
	const struct kwhy_pairs *pairs, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Writes a Chrome trace with an event for each sample of the transfers that a rank sent or received, and of
 * all collectives. With `host`, an event lasts from before the call to after the wait by the host's clock;
 * without, it has the measured time of the transfer.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_trace(const struct kwhy_pairs *pairs, uint32_t rank,
	bool host, struct kwhy_text *out, struct kwhy_error *error);

/* Writes facts about a rank's GPU, its links and the run as YAML. */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_metadata(
	const struct kwhy_pairs *pairs, uint32_t rank, struct kwhy_text *out, struct kwhy_error *error);

#endif
