/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TEXT_FIRST_SCREEN_H
#define KWHY_REPORT_TEXT_FIRST_SCREEN_H

#include "report/text_context.h"

/*
 * Parts of the first screen after the section on the cost, from top to bottom. Each begins with a blank
 * line. kwhy_first_screen_where() writes the largest accounts in at most `rows` rows.
 */
void kwhy_first_screen_where(const struct kwhy_text_context *context, size_t rows);
/*
 * Writes the `limit` kinds of findings that save most. Unless `is_whole`, only the first clause of a cure is
 * written.
 */
void kwhy_first_screen_advice(const struct kwhy_text_context *context, size_t limit, bool is_whole);
/* At most `limit` sentences on what the recording leaves unknown. Writes nothing if nothing is unknown. */
void kwhy_first_screen_unknown(const struct kwhy_text_context *context, size_t limit);

/* Calls `add` with each sentence on what is not known, the most serious first. */
void kwhy_unknown_each(const struct kwhy_text_context *context,
	void (*add)(void *target, const char *sentence), void *target);

/* The accounts of the run, without the energy that was drawn before and after it. */
struct kwhy_where {
	struct kwhy_totals
		totals; /* totals of the whole run, if random windows are samples of it; rows are borrowed */
	double sum_nj;	/* energy of all rows, which is 100 % in their shares; NAN: unknown */
	/*
	 * Time that is 100 % in the rows' shares if no energy is known: the devices' time or, if activities
	 * of several streams overlap and their sum is longer, the sum of the rows.
	 */
	int64_t shared_ns;
	bool is_overlapping; /* shared_ns is the sum of the rows */
};

struct kwhy_where kwhy_where_of(const struct kwhy_totals *totals);
/* Share of a row in sum_nj or, if sum_nj is unknown, in shared_ns; at most 1. NAN: unknown. */
double kwhy_where_share(const struct kwhy_where *where, const struct kwhy_total *row);
/* Name of a row for readers: "idle while the host launches work", or the row's own name. */
const char *kwhy_where_words(const struct kwhy_total *row);

/* Writes the first screen. It has at most 24 lines, unless its parts cannot be shortened that far. */
void kwhy_first_screen_write(const struct kwhy_text_context *context);

#endif
