/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_H
#define KWHY_REPORT_COMPARE_H

#include "base/statistics.h"
#include "base/status.h"
#include "base/text.h"
#include "model/side.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Comparison of runs: side A before and side B after a change. Each side is one run or several runs of one
 * program. The figures of a run come from an analysis in this process or from a
 * report.json.
 */

/* Makes a run of a comparison from a report. The run does not refer to the objects of the report. */
KWHY_MUST_USE enum kwhy_status kwhy_side_of_report(struct kwhy_side *side, const char *label,
	const struct kwhy_report *report, struct kwhy_error *error);

/* The runs of one side; borrowed. */
struct kwhy_side_runs {
	const struct kwhy_side *items;
	size_t count; /* 1 to KWHY_RUNS_MAX */
};
enum { KWHY_RUNS_MAX = 256 };

/* The unit for which counts, times and energies of accounts are compared. */
enum kwhy_unit_kind {
	KWHY_FOR_STEP, /* the run divided by its number of steps; all runs have steps */
	KWHY_FOR_WORK, /* one unit of work that all runs state */
	KWHY_FOR_RUN,  /* the whole run */
};

/* What a run's throughput counts: units of work, steps, or launches of a kernel. */
enum kwhy_rate_kind { KWHY_RATE_UNKNOWN, KWHY_RATE_WORK, KWHY_RATE_STEPS, KWHY_RATE_LAUNCHES };

struct kwhy_rate {
	enum kwhy_rate_kind kind;
	const char *name;     /* unit of the work, "steps", or name of the kernel's account; NULL: unknown */
	const char *category; /* category of the kernel's account; NULL unless launches are counted */
};

/*
 * A figure of both sides, and B minus A. If a side has several runs, its estimate is the mean of the runs'
 * own figures, unknown if one of them is, and the interval of the difference is the 95 % interval by Welch's
 * t. With one run on each side, energies of accounts have the 90 % interval of the meters' uncertainty; other
 * figures have none (NAN).
 */
struct kwhy_change {
	struct kwhy_estimate a, b; /* unknown if its mean is NAN */
	struct kwhy_difference difference;
};

/* Whether the interval of a difference is known, and whether it excludes 0. */
bool kwhy_difference_is_known(const struct kwhy_difference *difference);
bool kwhy_difference_is_significant(const struct kwhy_difference *difference);

/* An account that one or both sides have; a or b is NULL where the side lacks it. */
struct kwhy_account_pair {
	const char *category, *name;
	const struct kwhy_side_account *a, *b; /* sums over the runs of a side */
	/*
	 * gross energy in B minus that in A, each summed over the side's runs, where an account that one side
	 * lacks counts as 0; KWHY_UNKNOWN_NJ unless the energies of both sides are known
	 */
	int64_t change_nj;
	int64_t change_ns;
	/*
	 * half-width of the 90 % interval of change_nj, with the errors of both sides taken as independent;
	 * KWHY_UNKNOWN_NJ: unknown
	 */
	int64_t half_width_nj;
	bool significant; /* whether |change_nj| is larger than half_width_nj; false if that is unknown */
	/*
	 * count, time in s and energy in J for one unit of the comparison, as means over the runs of a side
	 */
	double counts[2];
	struct kwhy_change time, energy;
};

struct kwhy_projection_check;

struct kwhy_comparison {
	const struct kwhy_side *a, *b; /* the two sides; a side of several runs is their sum */
	struct kwhy_side_runs runs[2];
	struct kwhy_side sums[2]; /* sums to which a and b point; zero for a side of one run */
	enum kwhy_unit_kind unit;
	const char *unit_name; /* unit of the comparison: "step", the unit of work, or "run" */
	double unit_counts[2]; /* number of units in all runs of a side */
	struct kwhy_rate rate;
	struct kwhy_account_pair *pairs; /* sorted by the absolute change of energy for one unit of the
					    comparison, then by that of time, largest first */
	size_t pair_count;
	const struct kwhy_projection_check
		/*
		 * check of an earlier projection of B from A (report/projection_check.h); NULL: there is no
		 * projection
		 */
		*check;
};

/* Compares two runs. */
KWHY_MUST_USE enum kwhy_status kwhy_compare(struct kwhy_comparison *comparison, const struct kwhy_side *a,
	const struct kwhy_side *b, struct kwhy_error *error);
/* Compares the runs of two sides. They must outlive the comparison. */
KWHY_MUST_USE enum kwhy_status kwhy_compare_runs(
	struct kwhy_comparison *comparison, const struct kwhy_side_runs runs[2], struct kwhy_error *error);
void kwhy_comparison_done(struct kwhy_comparison *comparison);

/* Whether a side has several runs. */
bool kwhy_comparison_is_repeated(const struct kwhy_comparison *comparison);

/* Whether an account is that of kernels, judged by its category. */
bool kwhy_pair_is_kernel(const struct kwhy_account_pair *pair);

/* The figures in the summary of a comparison. --fail-if refers to them by their names. NAN: unknown. */
enum kwhy_figure {
	KWHY_FIGURE_ENERGY, /* all metered or modelled energy, that before and after the run included, J */
	KWHY_FIGURE_RUN,    /* energy of all devices from the first start to the last end of their work,
			       estimates for unmetered time included, J */
	KWHY_FIGURE_TIME,   /* time from the first start to the last end of work on a device, of the device on
			       which it is longest, s */
	KWHY_FIGURE_POWER,  /* mean power of all devices together, W */
	KWHY_FIGURE_BUSY_RATIO,
	KWHY_FIGURE_IDLE,	 /* energy metered in the run while the devices idled, J */
	KWHY_FIGURE_THROUGHPUT,	 /* steps, units of work or launches of a kernel per second (see `rate`) */
	KWHY_FIGURE_STEP,	 /* time of a step, s */
	KWHY_FIGURE_STEP_ENERGY, /* energy of the devices in a step, J */
	KWHY_FIGURE_IDLE_RATIO, /* idle time within the runs, divided by the time from first start to last end
				   of work; both are sums over the devices */
	KWHY_FIGURE_COUNT
};

const char *kwhy_figure_name(enum kwhy_figure figure);
const char *kwhy_figure_unit(enum kwhy_figure figure); /* unit of the figure; "" for a ratio */

/*
 * Functions that give a figure of both sides: kwhy_change_of_figure() one of the enum above,
 * kwhy_change_of_rate() the throughput of some work or of steps, kwhy_change_of_each() the joules per unit of
 * a work, kwhy_change_of_account() the energy of an account in the whole run.
 */
struct kwhy_change kwhy_change_of_figure(const struct kwhy_comparison *comparison, enum kwhy_figure figure);
struct kwhy_change kwhy_change_of_rate(
	const struct kwhy_comparison *comparison, const struct kwhy_rate *rate);
struct kwhy_change kwhy_change_of_each(const struct kwhy_comparison *comparison, const char *unit);
struct kwhy_change kwhy_change_of_account(
	const struct kwhy_comparison *comparison, const struct kwhy_account_pair *pair);
/*
 * Number of the comparison's units (steps, units of work, or 1 run) in one run, by which the times and
 * energies of its accounts are divided. If the unit is a step, these quotients thus include what the run did
 * outside of steps, which KWHY_FIGURE_STEP and KWHY_FIGURE_STEP_ENERGY do not. NAN: the run does not state
 * the work.
 */
double kwhy_compare_units_of(const struct kwhy_comparison *comparison, const struct kwhy_side *run);
/* Sets `counts`, `time` and `energy` of a pair from its other members. */
void kwhy_pair_set_changes(struct kwhy_account_pair *pair, const struct kwhy_comparison *comparison);

/* What a condition of --fail-if is about. */
enum kwhy_condition_kind {
	KWHY_CONDITION_FIGURE,
	KWHY_CONDITION_ACCOUNT,	       /* energy of the account in the whole run, J */
	KWHY_CONDITION_ACCOUNT_TIME,   /* time of the account for the comparison's unit, s */
	KWHY_CONDITION_ACCOUNT_ENERGY, /* energy of the account for the comparison's unit, J */
	KWHY_CONDITION_EACH,	       /* energy per unit of the stated work, J */
	KWHY_CONDITION_RATE,	       /* throughput of the stated work */
	KWHY_CONDITION_FINDING,	       /* whether B has a kind of finding that A lacks */
	KWHY_CONDITION_NAMED, /* a figure in a comparison of other results (struct kwhy_named_figure), with
				 its name and possibly a part */
};

/*
 * A condition that --fail-if states: "step>+3%", "power>300W", "account-time:gemm>+5ms", "finding:new".
 */
struct kwhy_condition {
	const char *text;
	enum kwhy_condition_kind kind;
	enum kwhy_figure figure; /* the figure that is compared, for KWHY_CONDITION_FIGURE */
	const char *unit;	 /* unit of the limit; "": a ratio */
	char name[200]; /* name of the account, of the unit of work or, for KWHY_CONDITION_NAMED, of the
			   figure; not used for KWHY_CONDITION_FIGURE and KWHY_CONDITION_FINDING */
	char part[100]; /* for KWHY_CONDITION_NAMED: the part of the comparison, such as a load of kwhy llm;
			   "": all parts */
	bool above;	/* true for '>', false for '<' */
	/* true: `limit` applies to the change from A to B; false: to the value of B */
	bool change;
	bool relative; /* true: `limit` is relative to A's value */
	double limit;  /* limit in `unit`; a ratio if it is relative */
};

/* Result of checking whether a condition holds. */
struct kwhy_verdict {
	double value; /* value that is compared with the limit; infinite if it is a relative change from 0 */
	double a, b;  /* values of both sides; NAN: unknown, or the condition is on findings */
	/*
	 * interval of the change that the condition is about: 95 % if a side has several runs, else that of
	 * the meters; NAN: unknown or not used. If it contains 0, the change may be chance (is_chance), and
	 * the condition does not hold.
	 */
	double low, high;
	bool is_chance;
	bool exceeded;
	const char *part; /* the part of the comparison that has these values, such as a load; NULL: the whole
			     comparison */
};

/*
 * Reads a condition. KWHY_E_USAGE: it does not follow the grammar, which the error message describes.
 * `text` must outlive the condition.
 */
KWHY_MUST_USE enum kwhy_status kwhy_condition_parse(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error);

/* A figure in a comparison of results that are not runs, such as those of `kwhy stat` or `kwhy llm`. */
struct kwhy_named_figure {
	const char *name, *unit;
};

/*
 * Reads a condition "FIGURE>VALUE" or "FIGURE:PART>VALUE", where '<' may stand for '>' and FIGURE is one of
 * the `count` names. KWHY_E_USAGE: another figure, or no limit in a unit of the figure. `text` must outlive
 * the condition.
 */
KWHY_MUST_USE enum kwhy_status kwhy_condition_parse_named(const char *text,
	const struct kwhy_named_figure *figures, size_t count, struct kwhy_condition *out,
	struct kwhy_error *error);

/*
 * Checks a condition on a figure of both sides, whose means that the condition needs must be known.
 * `with_interval`: a condition on a change whose interval is known holds only if that interval excludes 0.
 */
struct kwhy_verdict kwhy_condition_judge(
	const struct kwhy_condition *condition, const struct kwhy_change *change, bool with_interval);

/*
 * Checks a condition. KWHY_E_INPUT: a figure that it needs is unknown. KWHY_E_USAGE: no account has its name
 * or several have, or a side that it needs does not state its work.
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
