/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_PAGE_H
#define KWHY_SERVE_PAGE_H

#include "base/text.h"
#include "live/snapshot.h"

/*
 * Writes an HTML page that shows the snapshot and reloads itself without a script. Processes are not on it,
 * only in /metrics. Unknown values are n/a.
 */
void kwhy_page_write(const struct kwhy_live_snapshot *snapshot, const char *version, struct kwhy_text *out);

#endif
