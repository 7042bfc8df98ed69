/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_POTENTIAL_H
#define KWHY_REPORT_POTENTIAL_H

#include "model/finding.h"
#include "model/ledger.h"

enum kwhy_potential { KWHY_POTENTIAL_NONE, KWHY_POTENTIAL_LOW, KWHY_POTENTIAL_MEDIUM, KWHY_POTENTIAL_HIGH };

/*
 * How much the cure of one finding could save in a category of accounts, of the finding with which that is
 * most. A finding saves a share of the energy whole_nj or, if an energy is unknown, of the time whole_ns; of
 * this share, the part counts that the category has of the time of the waste. High: 10 % or more; medium: 3 %
 * or more; low: 0.1 % or more.
 */
enum kwhy_potential kwhy_potential_of(
	const struct kwhy_findings *findings, enum kwhy_category category, double whole_nj, int64_t whole_ns);

/* name of the potential: "none found", "low", ... */
const char *kwhy_potential_name(enum kwhy_potential potential);

#endif
