/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_STAT_H
#define KWHY_REPORT_COMPARE_STAT_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"
#include "base/text.h"
#include "import/results/stat.h"
#include "report/compare/parts.h"

#include <stdbool.h>
#include <stddef.h>

/* Comparison of two results of `kwhy stat --json`, A before and B after. */

/*
 * Joules and seconds from the start of a run until a metric first reached `value`, as means over those runs
 * of each side that reached it; NAN if none did.
 */
struct kwhy_stat_reached {
	double value;
	double joules[2], time_s[2];
	size_t runs[2]; /* number of runs of each side that reached the value */
};

enum { KWHY_STAT_LEVELS = 5 };

struct kwhy_stat_curve_pair {
	const char *name;
	bool rises;
	struct kwhy_stat_reached levels[KWHY_STAT_LEVELS];
	size_t level_count; /* number of values that are compared; 0: no value was reached on both sides */
};

struct kwhy_stat_comparison {
	struct kwhy_arena arena;
	const struct kwhy_read_stat *results[2]; /* borrowed */
	struct kwhy_figure_change *changes;
	struct kwhy_stat_curve_pair *curves;
	size_t change_count, curve_count;
	/*
	 * sides: means of energy, time, power and work over the runs of each side, with the energy and power
	 * of the main domain; figures: the comparison of the two sides, on which conditions are checked
	 */
	struct kwhy_side sides[2];
	struct kwhy_comparison figures;
};

/* Compares two results, which must outlive the comparison. */
KWHY_MUST_USE enum kwhy_status kwhy_compare_stat(struct kwhy_stat_comparison *out,
	const struct kwhy_read_stat *a, const struct kwhy_read_stat *b, struct kwhy_error *error);
void kwhy_compare_stat_done(struct kwhy_stat_comparison *comparison);

KWHY_MUST_USE enum kwhy_status kwhy_compare_stat_text(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_compare_stat_json(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error);

#endif
