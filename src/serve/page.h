/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_PAGE_H
#define KWHY_SERVE_PAGE_H

#include "base/text.h"
#include "live/snapshot.h"

/*
 * Writes an HTML page with a table of devices, domains of the host and wall meters; a meta tag makes the
 * browser reload it every 2 s. The list of processes is in /metrics only. Unknown values are shown as "n/a".
 */
void kwhy_page_write(const struct kwhy_live_snapshot *snapshot, const char *version, struct kwhy_text *out);

/*
 * Content-Security-Policy header of every answer: only the style sheet in the page is allowed, whose SHA-256
 * this is, and no script, frame or form. Change it when the style in page.c changes.
 */
#define KWHY_PAGE_POLICY                                                                                 \
	"default-src 'none'; style-src 'sha256-0r7istYttEESbsWtAFmthob+LRIySWRy3TC+fSQdGLE='; base-uri " \
	"'none'; "                                                                                       \
	"form-action 'none'; frame-ancestors 'none'"

#endif
