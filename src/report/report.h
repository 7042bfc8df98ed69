/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_REPORT_H
#define KWHY_REPORT_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "model/finding.h"
#include "model/ledger.h"
#include "model/probing.h"
#include "model/profile.h"
#include "model/projection.h"

#include <stdio.h>

/* Everything a renderer shows; it owns nothing. */
struct kwhy_report {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
	const struct kwhy_profile *profile;	    /* NULL: none */
	const struct kwhy_power_curve *model_power; /* [device_count]; NULL: not computed */
	const struct kwhy_plan *plan;		    /* what changes would bring; NULL: not computed */
	const char *no_plan;			    /* why it was asked for and cannot be had; NULL */
	const struct kwhy_probing *probing;	    /* what kwhy probe repeated; NULL: it did not run */
	const char *command;			    /* command line that made it */
	double price_per_kwh;			    /* NAN: not given */
	const char *currency;			    /* "EUR"; NULL: none named */
	double intensity_g_per_kwh;		    /* NAN: not given */
	const char *place; /* whose mean of a year that is; NULL: given as a number */
	int carbon_year;
	double own_seconds; /* time kwhy itself took; NAN unknown */
};

struct kwhy_text_style {
	size_t columns; /* 80 unless the terminal is wider */
	bool color;
	bool verbose;	   /* every account and finding, not the top ones */
	bool first_screen; /* what it cost, where it went, what to do; no details */
};

KWHY_MUST_USE enum kwhy_status kwhy_report_text(const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_json(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_accounts_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_findings_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);

#endif
