/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_cell.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static void add_quoted(struct kwhy_text *out, const char *text)
{
	for (; *text; text++)
		kwhy_text_add_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	kwhy_text_add(out, "\"");
}

/* Whether the text begins or ends with a blank, which readers of CSV drop unless the cell is quoted. */
static bool has_outer_blank(const char *text)
{
	const size_t length = strlen(text);

	return length > 0 && (isspace((unsigned char)text[0]) || isspace((unsigned char)text[length - 1]));
}

void kwhy_csv_add_text(struct kwhy_text *out, const char *text)
{
	text = text ? text : "";
	if (!strpbrk(text, ",\"\n\r") && !has_outer_blank(text)) {
		kwhy_text_add(out, text);
		return;
	}
	kwhy_text_add(out, "\"");
	add_quoted(out, text);
}

void kwhy_csv_add_shown_text(struct kwhy_text *out, const char *text)
{
	if (!text || !*text || !strchr("=+-@", *text)) {
		kwhy_csv_add_text(out, text);
		return;
	}
	kwhy_text_add(out, "\"'");
	add_quoted(out, text);
}

void kwhy_csv_add_real(struct kwhy_text *out, double value)
{
	kwhy_text_add(out, ",");
	if (isfinite(value))
		kwhy_text_addf(out, "%.9g", value);
}
