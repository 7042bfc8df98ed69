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

/* Makes a side of a comparison from the objects of a run. The side does not refer to them. */
KWHY_MUST_USE enum kwhy_status kwhy_side_of_report(struct kwhy_side *side, const char *label,
	const struct kwhy_report *report, struct kwhy_error *error);

/* The work of a side that is counted in `unit`; NULL: the side has none. */
const struct kwhy_side_work *kwhy_side_work_of(const struct kwhy_side *side, const char *unit);

/* An account that either report has; a or b is NULL where the side lacks the account. */
struct kwhy_account_pair {
	const char *category, *name;
	const struct kwhy_side_account *a, *b;
	/*
	 * energy of B less that of A, where a missing account counts as 0; KWHY_UNKNOWN_NJ unless both sides'
	 * energies are known
	 */
	int64_t change_nj;
	int64_t change_ns;
	/* half of the 90 % interval of change_nj; the intervals of both sides are taken as independent */
	int64_t half_width_nj;
	bool significant; /* whether |change_nj| is larger than half_width_nj */
};

struct kwhy_projection_check;

struct kwhy_comparison {
	const struct kwhy_side *a, *b;
	struct kwhy_account_pair *pairs; /* sorted by change, largest first */
	size_t pair_count;
	const struct kwhy_projection_check
		/* an earlier projection of B from A (report/projection_check.h); NULL: no projection */
		*check;
};

KWHY_MUST_USE enum kwhy_status kwhy_compare(struct kwhy_comparison *comparison, const struct kwhy_side *a,
	const struct kwhy_side *b, struct kwhy_error *error);
void kwhy_comparison_done(struct kwhy_comparison *comparison);

/* The figures in the summary of a comparison, by whose names --fail-if refers to them. NAN: unknown. */
enum kwhy_figure {
	KWHY_FIGURE_ENERGY, /* metered energy, J */
	KWHY_FIGURE_RUN,    /* energy of the run, J */
	KWHY_FIGURE_TIME,   /* longest span of any device, s */
	KWHY_FIGURE_POWER,  /* mean power, W */
	KWHY_FIGURE_BUSY_RATIO,
	KWHY_FIGURE_IDLE, /* energy metered in the run while the devices idled, J */
	KWHY_FIGURE_COUNT
};

const char *kwhy_figure_name(enum kwhy_figure figure);
const char *kwhy_figure_unit(enum kwhy_figure figure); /* unit of the figure; "" for a ratio */
double kwhy_figure_of(const struct kwhy_side *side, enum kwhy_figure figure);

enum kwhy_condition_kind {
	KWHY_CONDITION_FIGURE,
	KWHY_CONDITION_ACCOUNT, /* energy of the account with the given name, J */
	KWHY_CONDITION_EACH	/* energy a unit of the work whose unit is given, J */
};

/*
 * A condition that --fail-if states: "energy>+3%", "power>300W", "account:gemm>+1J", "each:tokens>20mJ".
 */
struct kwhy_condition {
	const char *text;
	enum kwhy_condition_kind kind;
	enum kwhy_figure figure; /* the figure that is compared, for KWHY_CONDITION_FIGURE */
	char name[200];		 /* name of the account or of the unit of work, for the other kinds */
	bool above;		 /* true for '>', false for '<' */
	/* true: the change from A to B is compared with the limit; false: the value of B is */
	bool change;
	bool relative; /* true: `limit` is a ratio of A's value */
	double limit;  /* limit in J, s or W, or as a ratio */
};

/* Result of evaluating a condition. */
struct kwhy_verdict {
	double value; /* value that is compared with the limit; infinite for a relative change from 0 */
	bool exceeded;
};

/*
 * Reads a condition. KWHY_E_USAGE: it does not follow the grammar, which the error describes. `text` must
 * outlive the condition.
 */
KWHY_MUST_USE enum kwhy_status kwhy_condition_parse(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error);

/*
 * Evaluates a condition. KWHY_E_INPUT: a figure that it needs is unknown. KWHY_E_USAGE: no account or work
 * has the name in it.
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
