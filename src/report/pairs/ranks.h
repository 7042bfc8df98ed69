/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_RANKS_H
#define KWHY_REPORT_PAIRS_RANKS_H

#include "model/pairs.h"
#include "report/json/writer.h"
#include "report/report.h"

/*
 * Write the results of collectives over all GPUs, and of runs with several processes. Each writes nothing if
 * there are no such results.
 */
void kwhy_pairs_write_collectives(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_pairs_write_ranks(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);

/* Writes the JSON object of one rank, without a key. */
void kwhy_pairs_rank_json(const struct kwhy_pairs *pairs, uint32_t rank, struct kwhy_json *json);

#endif
