/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_POTENTIAL_H
#define KWHY_REPORT_POTENTIAL_H

#include "model/finding.h"
#include "model/ledger.h"

enum kwhy_potential { KWHY_POTENTIAL_NONE, KWHY_POTENTIAL_LOW, KWHY_POTENTIAL_MEDIUM, KWHY_POTENTIAL_HIGH };

/*
 * The largest saving in a category of accounts that the cure of a single finding could bring. A finding's
 * saving is a share of the energy whole_nj or, if an energy is unknown, of the time whole_ns. Of this share
 * only a part counts for the category: the share of the finding's time that is of the category. High: 10 % or
 * more; medium: 3 % or more; low: 0.1 % or more.
 */
enum kwhy_potential kwhy_potential_of(
	const struct kwhy_findings *findings, enum kwhy_category category, double whole_nj, int64_t whole_ns);

/* name of the potential: "none found", "low", ... */
const char *kwhy_potential_name(enum kwhy_potential potential);

#endif
