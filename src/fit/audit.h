/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_AUDIT_H
#define KWHY_FIT_AUDIT_H

#include "fit/formula.h"

/*
 * What somebody's figures say of each other (docs/formats/claims.md). A figure is taken as the interval that
 * its printed digits leave, so that rounding is never an error; only what no rounding explains is found.
 */
struct kwhy_claim {
	const char *id;	    /* letters, digits, _ */
	const char *source; /* where it stands: "report.md:57" */
	const char *value;  /* as printed: "1,832", "~6.3", "25-35", "<5" */
	const char *unit;   /* "mJ/B" */
	const char *window; /* the measurement that it is of; "": none */
	const char *from;   /* what it must equal, or "<= ..."; "": nothing */
	const char *same;   /* claims of one word here are of one thing; "": of none */
	const char *role;   /* "measured_power", "power", "duration", "energy" of its window; "" */
};

enum kwhy_audit_kind {
	KWHY_AUDIT_SLIP,	  /* off by a power of 1000 */
	KWHY_AUDIT_MEBI,	  /* MB for MiB, or vice versa */
	KWHY_AUDIT_ARITHMETIC,	  /* does not follow from what it is made of */
	KWHY_AUDIT_BOUND,	  /* beyond what it is said to be below or above */
	KWHY_AUDIT_LOOSE,	  /* a bound ten times and more from the figure */
	KWHY_AUDIT_UNLIKE,	  /* a ratio or a sum of unlike units */
	KWHY_AUDIT_WINDOW,	  /* amounts of different measurements, added or divided */
	KWHY_AUDIT_OVERLAP,	  /* parts that together last longer than the whole */
	KWHY_AUDIT_ENERGY,	  /* more than the highest power times the time allows */
	KWHY_AUDIT_POWER,	  /* more than any measured */
	KWHY_AUDIT_CONTRADICTION, /* another value for the same thing */
	KWHY_AUDIT_DEPENDS,	  /* is based on a figure that is wrong */
	KWHY_AUDIT_KIND_COUNT
};

const char *kwhy_audit_kind_name(enum kwhy_audit_kind kind); /* "unit slip" */

struct kwhy_audit_finding {
	enum kwhy_audit_kind kind;
	size_t claim; /* its row */
	struct kwhy_formula_figure noted;
	struct kwhy_formula_figure should; /* low NAN: nothing better can be said */
	double factor;			   /* said over should; NAN */
	size_t other;			   /* claim that contradicts it, or its own row */
};

struct kwhy_audit {
	struct kwhy_audit_finding *findings; /* by claim */
	size_t finding_count, capacity;
	size_t checked_count; /* claims that something was compared with */
	size_t failed_claim;  /* row of the one that KWHY_E_INPUT names */
};

/* KWHY_E_INPUT names the claim that cannot be read, and the cure. kwhy_audit_done() also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_audit_of(
	const struct kwhy_claim *claims, size_t count, struct kwhy_audit *out, struct kwhy_error *error);
void kwhy_audit_done(struct kwhy_audit *out);

/* "1,832" as 1831.5 to 1832.5; false: it is no figure. *out_bound: '<' or '>' in front, else 0. */
bool kwhy_audit_value_parse(const char *text, double *out_low, double *out_high, char *out_bound);

#endif
