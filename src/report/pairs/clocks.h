/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_CLOCKS_H
#define KWHY_REPORT_PAIRS_CLOCKS_H

#include "model/pairs.h"
#include "report/report.h"

/* How the clocks of a run kept to each other, with a grade each. Nothing where none was compared. */
void kwhy_pairs_write_clocks(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);

#endif
