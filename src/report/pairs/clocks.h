/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_CLOCKS_H
#define KWHY_REPORT_PAIRS_CLOCKS_H

#include "model/pairs.h"
#include "report/report.h"

/*
 * Writes by how much the clocks of a run drift against each other, with a grade for each clock. Writes
 * nothing if no clocks were compared.
 */
void kwhy_pairs_write_clocks(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);

#endif
