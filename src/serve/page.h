/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_PAGE_H
#define KWHY_SERVE_PAGE_H

#include "base/text.h"
#include "live/snapshot.h"

/* A page of HTML for a browser that shows the snapshot and asks for the next one by itself, without a script.
 * Processes are left to /metrics. What is not known is n/a. */
void kwhy_page_write(const struct kwhy_live_snapshot *snapshot, const char *version, struct kwhy_text *out);

#endif
