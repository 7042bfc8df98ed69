/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_RANKS_H
#define KWHY_REPORT_PAIRS_RANKS_H

#include "model/pairs.h"
#include "report/json/writer.h"
#include "report/report.h"

/*
 * kwhy_pairs_write_collectives() writes the results of collectives over all GPUs, kwhy_pairs_write_ranks()
 * the ranks of a run with several processes. Each writes nothing if there is nothing of the kind.
 */
void kwhy_pairs_write_collectives(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_pairs_write_ranks(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);

/* Writes a rank as a JSON object, an element of an array. */
void kwhy_pairs_rank_json(const struct kwhy_pairs *pairs, uint32_t rank, struct kwhy_json *json);

#endif
