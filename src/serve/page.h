/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_PAGE_H
#define KWHY_SERVE_PAGE_H

#include "base/text.h"
#include "live/snapshot.h"

/*
 * Writes an HTML page that shows the snapshot and reloads itself without a script. Processes are shown only
 * in /metrics. Unknown values are shown as n/a.
 */
void kwhy_page_write(const struct kwhy_live_snapshot *snapshot, const char *version, struct kwhy_text *out);

/* Content-Security-Policy of every answer: it allows only the page's own style. */
#define KWHY_PAGE_POLICY                                                                                 \
	"default-src 'none'; style-src 'sha256-0r7istYttEESbsWtAFmthob+LRIySWRy3TC+fSQdGLE='; base-uri " \
	"'none'; "                                                                                       \
	"form-action 'none'; frame-ancestors 'none'"

#endif
