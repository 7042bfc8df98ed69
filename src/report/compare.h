/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_H
#define KWHY_REPORT_COMPARE_H

#include "base/status.h"
#include "base/text.h"
#include "model/side.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>

/* Comparison of two runs, A before and B after. Each is a run analysed now or a report.json. */

/* The side of a run's objects; nothing of it refers to them. */
KWHY_MUST_USE enum kwhy_status kwhy_side_of_report(struct kwhy_side *side, const char *label,
	const struct kwhy_report *report, struct kwhy_error *error);

/* NULL: the side has no work of that unit. */
const struct kwhy_side_work *kwhy_side_work_of(const struct kwhy_side *side, const char *unit);

/* An account of either report; NULL on the side that lacks it. */
struct kwhy_account_pair {
	const char *category, *name;
	const struct kwhy_side_account *a, *b;
	int64_t change_nj; /* KWHY_UNKNOWN_NJ unless both energies are known; a missing account counts as 0 */
	int64_t change_ns;
	int64_t half_width_nj; /* half of the 90 % interval of change_nj; the sides' intervals are taken as
				  independent */
	bool significant;      /* |change_nj| exceeds half_width_nj */
};

struct kwhy_projection_check;

struct kwhy_comparison {
	const struct kwhy_side *a, *b;
	struct kwhy_account_pair *pairs; /* largest change first */
	size_t pair_count;
	const struct kwhy_projection_check
		*check; /* a projection of B from A (report/projection_check.h); NULL: no projection */
};

KWHY_MUST_USE enum kwhy_status kwhy_compare(struct kwhy_comparison *comparison, const struct kwhy_side *a,
	const struct kwhy_side *b, struct kwhy_error *error);
void kwhy_comparison_done(struct kwhy_comparison *comparison);

/* The figures of the summary; --fail-if takes their names. NAN where unknown. */
enum kwhy_figure {
	KWHY_FIGURE_ENERGY, /* J, metered */
	KWHY_FIGURE_RUN,    /* J, of the run */
	KWHY_FIGURE_TIME,   /* s, longest span of a device */
	KWHY_FIGURE_POWER,  /* W */
	KWHY_FIGURE_BUSY_RATIO,
	KWHY_FIGURE_IDLE, /* J, metered in the run while idle */
	KWHY_FIGURE_COUNT
};

const char *kwhy_figure_name(enum kwhy_figure figure);
const char *kwhy_figure_unit(enum kwhy_figure figure); /* "" for a ratio */
double kwhy_figure_of(const struct kwhy_side *side, enum kwhy_figure figure);

enum kwhy_condition_kind {
	KWHY_CONDITION_FIGURE,
	KWHY_CONDITION_ACCOUNT, /* J, of one account by name */
	KWHY_CONDITION_EACH	/* J a unit of work, by the unit's name */
};

/* A condition of --fail-if: "energy>+3%", "power>300W", "account:gemm>+1J", "each:tokens>20mJ". */
struct kwhy_condition {
	const char *text;
	enum kwhy_condition_kind kind;
	enum kwhy_figure figure; /* for KWHY_CONDITION_FIGURE */
	char name[200];		 /* for the other kinds: name of the account or unit */
	bool above;		 /* '>' */
	bool change;		 /* compares the change from A to B, not B's value */
	bool relative;		 /* `limit` is a ratio of A's value */
	double limit;		 /* in J, s or W, or a ratio */
};

/* Outcome of a condition. */
struct kwhy_verdict {
	double value; /* value compared with the limit; infinite for a relative change from 0 */
	bool exceeded;
};

/* Reads a condition. KWHY_E_USAGE describes the grammar. `text` must outlive the condition. */
KWHY_MUST_USE enum kwhy_status kwhy_condition_parse(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error);

/*
 * Evaluates a condition. KWHY_E_INPUT: a figure that it needs is unknown. KWHY_E_USAGE: no account or work
 * has that name.
 */
KWHY_MUST_USE enum kwhy_status kwhy_condition_check(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, struct kwhy_verdict *out, struct kwhy_error *error);

struct kwhy_conditions {
	const struct kwhy_condition *items;
	const struct kwhy_verdict *verdicts;
	size_t count;
};

KWHY_MUST_USE enum kwhy_status kwhy_compare_text(const struct kwhy_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_compare_json(const struct kwhy_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error);

#endif
