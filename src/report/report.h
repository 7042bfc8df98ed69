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

/* All inputs of a report. They are borrowed. */
struct kwhy_report {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_findings *findings;
	const struct kwhy_profile *profile; /* machine profile; NULL: no profile */
	/*
	 * [device_count] the power over time that the fitted powers of the accounts give; NULL: not computed
	 */
	const struct kwhy_power_curve *model_power;
	const struct kwhy_plan *plan; /* projections of changes; NULL: not computed */
	const char *
		/* why a requested plan could not be computed; NULL: there is a plan, or none was requested */
		no_plan;
	const struct kwhy_probing
		*probing;	    /* launches that kwhy probe repeated; NULL: kwhy probe did not run */
	const char *command;	    /* command line that made the report */
	double price_per_kwh;	    /* price of energy; NAN: not given */
	const char *currency;	    /* currency of the price, "EUR"; NULL: no price was given */
	double intensity_g_per_kwh; /* carbon intensity, g of CO2 per kWh; NAN: not given */
	/*
	 * place whose mean carbon intensity in the year carbon_year is used; NULL: the intensity was given
	 * as a number
	 */
	const char *place;
	int carbon_year;
	double own_seconds; /* time that kwhy took to analyse the recording, s */
};

struct kwhy_text_style {
	size_t columns; /* width of the text; 80 unless the terminal is wider */
	bool color;
	bool markdown; /* writes Markdown, for a pull request, in place of text for a terminal */
	bool verbose;  /* shows all rows, not only the largest */
	/*
	 * Names of the sections to show, checked by kwhy_report_section_check(). If there are none, the
	 * first screen is shown or, if verbose, all sections.
	 */
	const char *const *sections;
	size_t section_count;
	/*
	 * how to see more, written at the end of the first screen; "": nothing; NULL: the text names the
	 * options of kwhy report
	 */
	const char *more;
};

/*
 * kwhy_report_section_check() fails with KWHY_E_USAGE and names all sections if no section has this name.
 * kwhy_report_section_list() writes a line for each section: its name and what it shows.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_section_check(const char *name, struct kwhy_error *error);
void kwhy_report_section_list(struct kwhy_text *out);

KWHY_MUST_USE enum kwhy_status kwhy_report_text(const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_json(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);
/*
 * The report as JSON of schema "kwhy.brief/1", shortened to at most 4,096 bytes unless its shortest form is
 * longer. `out` must be empty.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_brief(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_accounts_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_findings_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);
/*
 * Writes CSV with the idle time of each device, divided by the host range that ran meanwhile or the reason
 * why there is none.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_waits_csv(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);

#endif
