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

/* All inputs of a report; they are borrowed. */
struct kwhy_report {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
	const struct kwhy_profile *profile;	    /* NULL: no profile */
	const struct kwhy_power_curve *model_power; /* [device_count]; NULL: not computed */
	const struct kwhy_plan *plan;		    /* projections of changes; NULL: not computed */
	const char *
		no_plan; /* why a requested plan is unavailable; NULL: it is available or was not requested */
	const struct kwhy_probing
		*probing;	    /* launches that kwhy probe repeated; NULL: kwhy probe did not run */
	const char *command;	    /* command line that made the report */
	double price_per_kwh;	    /* NAN: not given */
	const char *currency;	    /* "EUR"; NULL: not given */
	double intensity_g_per_kwh; /* NAN: not given */
	const char *place; /* place whose mean of carbon_year the intensity is; NULL: the intensity was given
			      as a number */
	int carbon_year;
	double own_seconds; /* run time of kwhy itself, s; NAN: unknown */
};

struct kwhy_text_style {
	size_t columns; /* 80 unless the terminal is wider */
	bool color;
	bool verbose;	   /* shows every account and finding, not only the top ones */
	bool first_screen; /* shows the cost, the largest accounts and the advice; no details */
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
