/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_STAT_H
#define KWHY_REPORT_COMPARE_STAT_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"
#include "base/text.h"
#include "report/compare.h"

#include <stdbool.h>
#include <stddef.h>

/* Comparison of two results of `kwhy stat --json`, A before and B after. */

/* A figure of both results. */
struct kwhy_stat_change {
	const char *name;   /* "energy", "joules per token" */
	const char *domain; /* "gpu 0"; "": the whole run */
	const char *unit;
	struct kwhy_estimate a, b;
	struct kwhy_difference difference; /* 95 %; low and high NAN: unknown */
};

/* Mean energy and time that the runs of each side took until a metric first reached a value. */
struct kwhy_stat_reached {
	double value;
	double joules[2], time_s[2];
	size_t runs[2]; /* runs that reached the value */
};

enum { KWHY_STAT_LEVELS = 5 };

struct kwhy_stat_curve_pair {
	const char *name;
	bool rises;
	struct kwhy_stat_reached levels[KWHY_STAT_LEVELS];
	size_t level_count; /* 0: no value was reached on both sides */
};

struct kwhy_stat_comparison {
	struct kwhy_arena arena;
	const char *labels[2], *commands[2];
	size_t runs[2]; /* number of runs of each side */
	struct kwhy_stat_change *changes;
	struct kwhy_stat_curve_pair *curves;
	size_t change_count, curve_count;
	struct kwhy_side sides[2]; /* energy of the main domain, time and power, for conditions */
	struct kwhy_comparison figures;
};

/* KWHY_E_INPUT: one of the texts is no result of a known version. */
KWHY_MUST_USE enum kwhy_status kwhy_compare_stat(struct kwhy_stat_comparison *out,
	const char *const labels[2], const struct kwhy_text *const json[2], struct kwhy_error *error);
void kwhy_compare_stat_done(struct kwhy_stat_comparison *comparison);

/* Whether the difference exceeds the intervals of both sides; false where these are unknown. */
bool kwhy_stat_is_significant(const struct kwhy_stat_change *change);

KWHY_MUST_USE enum kwhy_status kwhy_compare_stat_text(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_compare_stat_json(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error);

#endif
