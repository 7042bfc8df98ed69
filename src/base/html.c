/* SPDX-License-Identifier: Apache-2.0 */
#include "base/html.h"

void kwhy_html_add(struct kwhy_text *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		switch (text[i]) {
		case '&':
			kwhy_text_add(out, "&amp;");
			break;
		case '<':
			kwhy_text_add(out, "&lt;");
			break;
		case '>':
			kwhy_text_add(out, "&gt;");
			break;
		case '"':
			kwhy_text_add(out, "&quot;");
			break;
		default:
			kwhy_text_add_bytes(out, &text[i], 1);
		}
}
