/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_METRICS_H
#define KWHY_SERVE_METRICS_H

#include "live/snapshot.h"
#include "owners/keeper.h"
#include "serve/exposition.h"

/*
 * Writes a whole scrape: all known values of a snapshot in base units and, unless `owners` is NULL, the
 * energy of each owner. An unknown value has no sample; kwhy_source_available 0 gives the reason why a source
 * has none. If memory runs out, out->failed is set.
 */
void kwhy_metrics_write(const struct kwhy_live_snapshot *snapshot, const struct kwhy_keeper_state *owners,
	enum kwhy_exposition_form form, const char *version, struct kwhy_text *out);

#endif
