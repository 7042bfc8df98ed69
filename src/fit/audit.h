/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_AUDIT_H
#define KWHY_FIT_AUDIT_H

#include "fit/formula.h"

/*
 * Checks the figures of claims against each other (docs/formats/claims.md). A printed figure stands for the
 * interval of all values that would be printed with its digits, so rounding is never an error. A finding is
 * a difference that rounding does not explain.
 */
struct kwhy_claim {
	const char *id;	    /* name of the claim in formulas: letters, digits, _; begins with a letter */
	const char *source; /* where the claim is printed: "report.md:57" */
	const char *value;  /* figure as printed: "1,832", "~6.3", "25-35", "<5" */
	const char *unit;   /* unit of the figure: "mJ/B" */
	const char *window; /* name of the measurement that the figure is from; "": no measurement */
	const char *from; /* formula that the figure must equal, or bound such as "<= ..."; "": no formula */
	const char *same; /* any word that several claims share if they state the same quantity; "": no other
			     claim states it */
	const char *role; /* what the figure is in its window: "measured_power", "power", "duration" or
			     "energy"; "": none of these */
};

enum kwhy_audit_kind {
	KWHY_AUDIT_SLIP, /* the figure is wrong by a factor of a power of 1000 (of bytes also times or divided
			    by 1.048576) */
	KWHY_AUDIT_MEBI, /* the figure is in MB where MiB is stated, or vice versa */
	KWHY_AUDIT_ARITHMETIC, /* the figure differs from the value of its formula */
	KWHY_AUDIT_BOUND, /* the figure violates the bound of its formula, or the formula's value the printed
			     bound */
	KWHY_AUDIT_LOOSE, /* the printed bound holds, but is more than ten times away from the formula's value
			   */
	KWHY_AUDIT_UNLIKE, /* the formula adds figures of different units, or its result has another unit than
			      the figure */
	KWHY_AUDIT_WINDOW, /* the formula adds or divides amounts of different measurements */
	KWHY_AUDIT_OVERLAP, /* the windows of a sum's parts are together longer than the window of the sum */
	KWHY_AUDIT_ENERGY,  /* the energy exceeds the highest power times the duration */
	KWHY_AUDIT_POWER,   /* the power exceeds the highest measured power */
	KWHY_AUDIT_CONTRADICTION, /* the figure differs from another claim about the same thing */
	KWHY_AUDIT_DEPENDS, /* the figure depends on a wrong one: its formula names a claim with a finding */
	KWHY_AUDIT_KIND_COUNT
};

const char *kwhy_audit_kind_name(enum kwhy_audit_kind kind); /* "unit slip" */

struct kwhy_audit_finding {
	enum kwhy_audit_kind kind;
	size_t claim; /* index of the claim */
	struct kwhy_formula_figure noted;
	struct kwhy_formula_figure should; /* expected figure; its `low` is NAN if the figure is unknown */
	double factor;			   /* printed figure divided by the expected one; NAN: unknown */
	size_t other; /* index of the claim that this one contradicts; for other kinds, `claim` itself */
};

struct kwhy_audit {
	struct kwhy_audit_finding *findings; /* in the order of the claims and, for one claim, of the kinds */
	size_t finding_count, capacity;
	size_t checked_count; /* number of claims with a formula, a role or a word `same` */
	size_t failed_claim;  /* index of the claim that a KWHY_E_INPUT is about */
};

/*
 * Checks all claims. KWHY_E_INPUT: a claim cannot be read; the message names it and what to do. Call
 * kwhy_audit_done() also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_audit_of(
	const struct kwhy_claim *claims, size_t count, struct kwhy_audit *out, struct kwhy_error *error);
void kwhy_audit_done(struct kwhy_audit *out);

/*
 * Reads a printed figure as an interval: "1,832" as 1831.5 to 1832.5. False: it is no figure. *out_bound is
 * its leading '<' or '>', or 0 if it has none.
 */
bool kwhy_audit_value_parse(const char *text, double *out_low, double *out_high, char *out_bound);

#endif
