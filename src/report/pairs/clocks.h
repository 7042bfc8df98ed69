/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_CLOCKS_H
#define KWHY_REPORT_PAIRS_CLOCKS_H

#include "model/pairs.h"
#include "report/report.h"

/*
 * Writes the drift in ppm of each compared clock (of a host against that of rank 0, of a GPU against that of
 * its host), with its grade: excellent, good, investigate or unknown. Writes nothing if no clocks were
 * compared.
 */
void kwhy_pairs_write_clocks(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);

#endif
