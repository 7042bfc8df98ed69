/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_AUDIT_H
#define KWHY_FIT_AUDIT_H

#include "fit/formula.h"

/*
 * Checks printed figures against each other (docs/formats/claims.md). A figure is the interval that its
 * printed digits leave, so that rounding is never an error; a finding is a difference that rounding does not
 * explain.
 */
struct kwhy_claim {
	const char *id;	    /* letters, digits, _ */
	const char *source; /* place of the claim: "report.md:57" */
	const char *value;  /* as printed: "1,832", "~6.3", "25-35", "<5" */
	const char *unit;   /* "mJ/B" */
	const char *window; /* name of its measurement; "": no measurement */
	const char *from;   /* formula that it must equal, or "<= ..."; "": no formula */
	const char *same;   /* claims with the same word are about the same thing; "": no word */
	const char *role;   /* "measured_power", "power", "duration" or "energy" of its window; "": no role */
};

enum kwhy_audit_kind {
	KWHY_AUDIT_SLIP,	  /* off by a power of 1000 */
	KWHY_AUDIT_MEBI,	  /* MB for MiB, or vice versa */
	KWHY_AUDIT_ARITHMETIC,	  /* differs from the value of its formula */
	KWHY_AUDIT_BOUND,	  /* exceeds its bound */
	KWHY_AUDIT_LOOSE,	  /* the bound is ten times or more from the figure */
	KWHY_AUDIT_UNLIKE,	  /* a ratio or a sum of different units */
	KWHY_AUDIT_WINDOW,	  /* amounts of different measurements are added or divided */
	KWHY_AUDIT_OVERLAP,	  /* the parts together last longer than the whole */
	KWHY_AUDIT_ENERGY,	  /* exceeds the highest power times the time */
	KWHY_AUDIT_POWER,	  /* exceeds every measured power */
	KWHY_AUDIT_CONTRADICTION, /* differs from another value of the same thing */
	KWHY_AUDIT_DEPENDS,	  /* depends on a wrong figure */
	KWHY_AUDIT_KIND_COUNT
};

const char *kwhy_audit_kind_name(enum kwhy_audit_kind kind); /* "unit slip" */

struct kwhy_audit_finding {
	enum kwhy_audit_kind kind;
	size_t claim; /* row of the claim */
	struct kwhy_formula_figure noted;
	struct kwhy_formula_figure should; /* expected figure; low is NAN: unknown */
	double factor;			   /* printed over expected figure; NAN: unknown */
	size_t other;			   /* row of the claim that contradicts it, or its own row */
};

struct kwhy_audit {
	struct kwhy_audit_finding *findings; /* in the order of the claims */
	size_t finding_count, capacity;
	size_t checked_count; /* number of claims that were compared with something */
	size_t failed_claim;  /* row of the claim that a KWHY_E_INPUT is about */
};

/*
 * KWHY_E_INPUT: a claim cannot be read; the message names it and the remedy. Call kwhy_audit_done() also
 * after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_audit_of(
	const struct kwhy_claim *claims, size_t count, struct kwhy_audit *out, struct kwhy_error *error);
void kwhy_audit_done(struct kwhy_audit *out);

/* Reads "1,832" as 1831.5 to 1832.5; false: not a figure. *out_bound is a leading '<' or '>', else 0. */
bool kwhy_audit_value_parse(const char *text, double *out_low, double *out_high, char *out_bound);

#endif
