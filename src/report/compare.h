/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_H
#define KWHY_REPORT_COMPARE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "model/ledger.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>

/* Two reports side by side: A before, B after. Both are read from report.json. */

struct kwhy_side_account {
	const char *category, *name; /* borrowed from the side */
	uint64_t count;
	int64_t time_ns;
	int64_t gross_nj, low_nj, high_nj; /* KWHY_UNKNOWN_NJ unless known on every device that has it */
};

struct kwhy_side_finding {
	const char *id, *title;
	int64_t time_ns, energy_nj; /* of the saving */
};

struct kwhy_side_work {
	const char *unit;
	double count;
	double each_j; /* of the run, first start to last end; of a stat.json of the whole command; NAN */
};

/* One report, summed over its devices. */
struct kwhy_side {
	struct kwhy_arena arena;
	const char *label;		   /* its file */
	const char *device;		   /* name of the first device; "" unknown */
	int64_t energy_nj;		   /* metered; KWHY_UNKNOWN_NJ where unknown, as below */
	int64_t run_nj;			   /* of the run, first start to last end, with the unmetered part */
	int64_t idle_nj;		   /* metered, of the run while devices idled */
	double run_below_nj, run_above_nj; /* how far its 90 % interval reaches; NAN unknown */
	int64_t seen_run_nj;		   /* run_nj, where a meter saw half of each device's run or more */
	/* Of that: above what the devices drew on average while they idled, else with a context alone.
	 */
	int64_t net_nj, net_low_nj, net_high_nj;
	int64_t span_ns;	    /* of the device that took longest */
	int64_t first_ns, last_ns;  /* of the work of all devices; both 0: there is none */
	int64_t idle_ns;	    /* sum over devices */
	double power_w, busy_ratio; /* NAN unknown */
	double launch_ns;	    /* mean of a call that launches a kernel; NAN: fewer than 1000 */
	bool modelled;
	struct kwhy_side_account *accounts; /* by category, then name */
	struct kwhy_side_finding *findings; /* by id, then title */
	struct kwhy_side_work *work;
	size_t account_count, finding_count, work_count;
};

/* KWHY_E_INPUT when `json` is no report of a version that is known. */
KWHY_MUST_USE enum kwhy_status kwhy_side_read(
	struct kwhy_side *side, const char *label, const char *json, size_t length, struct kwhy_error *error);
void kwhy_side_done(struct kwhy_side *side);

/* NULL: the side has no work of that unit. */
const struct kwhy_side_work *kwhy_side_work_of(const struct kwhy_side *side, const char *unit);

/* An account in either report; NULL on the side that has none. */
struct kwhy_account_pair {
	const char *category, *name;
	const struct kwhy_side_account *a, *b;
	int64_t change_nj; /* KWHY_UNKNOWN_NJ unless both energies are known; none counts as 0 */
	int64_t change_ns;
	int64_t half_width_nj; /* 90 %, of the change: both sides' intervals are independent */
	bool significant;      /* the change is larger than that */
};

struct kwhy_projection_check;

struct kwhy_comparison {
	const struct kwhy_side *a, *b;
	struct kwhy_account_pair *pairs; /* largest change first */
	size_t pair_count;
	const struct kwhy_projection_check
		*check; /* a projection of B from A (report/projection_check.h); NULL: none */
};

KWHY_MUST_USE enum kwhy_status kwhy_compare(struct kwhy_comparison *comparison, const struct kwhy_side *a,
	const struct kwhy_side *b, struct kwhy_error *error);
void kwhy_comparison_done(struct kwhy_comparison *comparison);

/* The figures of the summary, by the names that --fail-if takes too. NAN where unknown. */
enum kwhy_figure {
	KWHY_FIGURE_ENERGY, /* joules metered */
	KWHY_FIGURE_RUN,    /* joules of the run */
	KWHY_FIGURE_TIME,   /* seconds: longest span */
	KWHY_FIGURE_POWER,  /* watts */
	KWHY_FIGURE_BUSY_RATIO,
	KWHY_FIGURE_IDLE, /* metered joules of the run while idle */
	KWHY_FIGURE_COUNT
};

const char *kwhy_figure_name(enum kwhy_figure figure);
const char *kwhy_figure_unit(enum kwhy_figure figure); /* "" for a ratio */
double kwhy_figure_of(const struct kwhy_side *side, enum kwhy_figure figure);

enum kwhy_condition_kind {
	KWHY_CONDITION_FIGURE,
	KWHY_CONDITION_ACCOUNT, /* joules of one, by name */
	KWHY_CONDITION_EACH	/* joules for each unit of work, by unit */
};

/* A condition of --fail-if: "energy>+3%", "power>300W", "account:gemm>+1J", "each:tokens>20mJ". */
struct kwhy_condition {
	const char *text;
	enum kwhy_condition_kind kind;
	enum kwhy_figure figure; /* of KWHY_CONDITION_FIGURE */
	char name[200];		 /* of the others: account or unit */
	bool above;		 /* '>' */
	bool change;		 /* of the change from A to B, not of B's value */
	bool relative;		 /* `limit` is a ratio of A's value */
	double limit;		 /* in joules, seconds, watts or as a ratio */
};

/* Outcome of a condition. */
struct kwhy_verdict {
	double value; /* what was compared with the limit; infinite when it came out of nothing */
	bool exceeded;
};

/* KWHY_E_USAGE with the grammar in words. `text` must outlive the condition. */
KWHY_MUST_USE enum kwhy_status kwhy_condition_parse(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error);

/* KWHY_E_INPUT when a figure that is needed is unknown, KWHY_E_USAGE when no account or work has that name.
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
