/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_PARTS_H
#define KWHY_REPORT_COMPARE_PARTS_H

#include "base/quantity.h"
#include "report/compare.h"
#include "report/json/writer.h"
#include "report/table.h"
#include "report/text_context.h"

/*
 * Functions that several comparisons share: of runs, of results of `kwhy stat`, and of results of `kwhy llm`.
 */

/* A figure that both sides have. */
struct kwhy_figure_change {
	const char *name; /* name of the figure: "energy", "joules per token" */
	const char *of;	  /* what the figure describes: the domain "gpu 0", the load "8 concurrent"; "": the
			     whole run */
	const char *unit;
	struct kwhy_estimate a, b;
	/* B minus A with its 95 % interval; low and high are NAN if the interval is unknown */
	struct kwhy_difference difference;
};

/*
 * kwhy_compare_changes_text() writes the figures as a table, kwhy_compare_changes_json() as the JSON member
 * "figures". `with_of`: the table has a column with what each figure describes (`of`). `of_key`: name of the
 * JSON member that holds `of`.
 */
void kwhy_compare_changes_text(const struct kwhy_figure_change *changes, size_t count, bool with_of,
	const struct kwhy_text_context *context);
void kwhy_compare_changes_json(
	struct kwhy_json *json, const struct kwhy_figure_change *changes, size_t count, const char *of_key);

/* Adds a relative change as "+12.3 %", or "new" where A's value is 0 and B's is not. */
void kwhy_compare_add_ratio(struct kwhy_table *table, double a, double b);

/*
 * Writes a value with its unit and `digits` significant digits: a rate as "227 /s", a ratio (unit "") in
 * percent with as many decimals as kwhy_quantity_percent() gives. Returns NULL if the value is not finite.
 */
const char *kwhy_compare_value(char out[KWHY_QUANTITY_BYTES], double value, const char *unit, int digits);

/*
 * Writes a count for one unit of the comparison: "53,899"; a count below 999.5 that is no integer with four
 * significant digits: "13.25".
 */
const char *kwhy_compare_count(char out[KWHY_QUANTITY_BYTES], double count);

/*
 * Adds a change with its unit: "+1.20 J". The change of a ratio, whose unit is "", is in percentage points.
 */
void kwhy_compare_add_change(struct kwhy_table *table, double change, const char *unit);

/*
 * Adds two cells: the interval of a change, "-12.7 to -11.9", in percent of A's value or, with in_points, in
 * percentage points; and whether the change is significant, "yes" or "no". A cell is empty if its interval is
 * unknown.
 */
void kwhy_compare_add_interval(
	struct kwhy_table *table, const struct kwhy_difference *difference, bool in_points);

/* Write which conditions of --fail-if hold: in text under a heading, in JSON as the member "conditions". */
void kwhy_compare_conditions_text(
	const struct kwhy_text_context *context, const struct kwhy_conditions *conditions);
void kwhy_compare_conditions_json(struct kwhy_json *json, const struct kwhy_conditions *conditions);

/*
 * Writes the accounts of a comparison, largest change of energy first: count, time and energy for one unit of
 * the comparison, eight accounts unless --verbose asks for all. If no energy is known, a table with the time
 * of each category comes first.
 */
void kwhy_compare_accounts_text(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context);

/*
 * Writes the unit for which accounts are compared: "a step (run over steps)" (values of the run divided by
 * its number of steps), "one of tokens" (divided by the amount of the work "tokens") or "the run". Returns
 * `out`.
 */
const char *kwhy_compare_unit_words(char out[80], const struct kwhy_comparison *comparison);

#endif
