/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TEXT_FIRST_SCREEN_H
#define KWHY_REPORT_TEXT_FIRST_SCREEN_H

#include "report/text_context.h"

/*
 * Parts of the first screen, which follow kwhy_section_cost(). Each begins with a blank line and writes
 * nothing if it has no content. kwhy_first_screen_where() writes the largest accounts in at most `rows` rows.
 */
void kwhy_first_screen_where(const struct kwhy_text_context *context, size_t rows);
/*
 * Writes the first `limit` kinds of findings (struct kwhy_finding_kinds) that have a saving. Unless
 * `is_whole`, paragraphs are cut, and only the first clause of a cure is written.
 */
void kwhy_first_screen_advice(const struct kwhy_text_context *context, size_t limit, bool is_whole);
/* At most `limit` sentences on what the recording leaves unknown. Writes nothing if nothing is unknown. */
void kwhy_first_screen_unknown(const struct kwhy_text_context *context, size_t limit);

/* Calls `add` with each sentence on what is not known, the most serious first. */
void kwhy_unknown_each(const struct kwhy_text_context *context,
	void (*add)(void *target, const char *sentence), void *target);

/* The accounts of the run, without what was drawn before and after it, and what their shares are of. */
struct kwhy_where {
	struct kwhy_totals totals; /* its rows are the accounts of the run or, if random windows of it were
				      recorded, their estimates for the whole run; borrowed */
	double sum_nj;		   /* energy of all rows, which is 100 % in their shares; NAN: unknown */
	/*
	 * Time that is 100 % in the rows' shares if no energy is known: the sum of the rows' times, or the
	 * devices' time if that is longer.
	 */
	int64_t shared_ns;
	/* the rows' times overlap: their sum is more than 0.1 % longer than the devices' time */
	bool is_overlapping;
};

struct kwhy_where kwhy_where_of(const struct kwhy_totals *totals);
/* Share of a row in sum_nj or, if sum_nj is NAN, in shared_ns. NAN: unknown. */
double kwhy_where_share(const struct kwhy_where *where, const struct kwhy_total *row);
/* Name of a row for readers: "idle while the host launches work", or the row's own name. */
const char *kwhy_where_words(const struct kwhy_total *row);

/* Writes the first screen. It has at most 23 lines, unless even its shortest layout is longer. */
void kwhy_first_screen_write(const struct kwhy_text_context *context);

#endif
