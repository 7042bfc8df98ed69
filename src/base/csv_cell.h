/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CSV_CELL_H
#define KWHY_BASE_CSV_CELL_H

#include "base/text.h"

/* Cells of comma-separated files (RFC 4180), as csv_line.h reads them. */

/*
 * Adds a text. It is quoted if it has a comma, a quote or a line end, or begins or ends with white space.
 * NULL: an empty cell.
 */
void kwhy_csv_add_text(struct kwhy_text *out, const char *text);

/*
 * Adds a text as kwhy_csv_add_text() does, with an apostrophe in front if a spreadsheet would take it for a
 * formula.
 */
void kwhy_csv_add_shown_text(struct kwhy_text *out, const char *text);

/*
 * Adds a comma and then the number with nine significant digits. A number that is not finite becomes an empty
 * cell.
 */
void kwhy_csv_add_real(struct kwhy_text *out, double value);

#endif
