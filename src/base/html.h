/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_HTML_H
#define KWHY_BASE_HTML_H

#include "base/text.h"

/*
 * Adds `length` bytes of text to HTML, escaped so that they may stand as content of an element or inside an
 * attribute's double quotes.
 */
void kwhy_html_add(struct kwhy_text *out, const char *text, size_t length);

#endif
