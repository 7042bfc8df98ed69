/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_POTENTIAL_H
#define KWHY_REPORT_POTENTIAL_H

#include "model/finding.h"
#include "model/ledger.h"

enum kwhy_potential { KWHY_POTENTIAL_NONE, KWHY_POTENTIAL_LOW, KWHY_POTENTIAL_MEDIUM, KWHY_POTENTIAL_HIGH };

/*
 * How much the best finding could save of the time or energy in a category. The saving is taken as a share of
 * the energy whole_nj or, if whole_nj is NAN, of the time whole_ns: high from 10 %, medium from 3 %, low from
 * 0.1 %. The savings of a finding are divided among the categories in proportion to the time that its waste
 * takes in each.
 */
enum kwhy_potential kwhy_potential_of(
	const struct kwhy_findings *findings, enum kwhy_category category, double whole_nj, int64_t whole_ns);

/* name of the potential: "none found", "low", ... */
const char *kwhy_potential_name(enum kwhy_potential potential);

#endif
