/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_POTENTIAL_H
#define KWHY_REPORT_POTENTIAL_H

#include "model/finding.h"
#include "model/ledger.h"

enum kwhy_potential { KWHY_POTENTIAL_NONE, KWHY_POTENTIAL_LOW, KWHY_POTENTIAL_MEDIUM, KWHY_POTENTIAL_HIGH };

/*
 * Share of the whole that the best finding on a category could save: high from 10 %, medium from 3 %, low
 * from 0.1 %. A finding's savings are divided among categories like its time. The share is of energy where
 * `whole_nj` is known, else (NAN) of time, `whole_ns`.
 */
enum kwhy_potential kwhy_potential_of(
	const struct kwhy_findings *findings, enum kwhy_category category, double whole_nj, int64_t whole_ns);

const char *kwhy_potential_name(enum kwhy_potential potential); /* "none found", "low", ... */

#endif
