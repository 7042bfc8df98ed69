/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_METRICS_H
#define KWHY_SERVE_METRICS_H

#include "live/snapshot.h"
#include "owners/keeper.h"
#include "serve/exposition.h"

/*
 * Writes all known values of a snapshot as metrics in base units, one family after the other. An unknown
 * value has no sample; the family kwhy_source_available gives the reason. `owners`: NULL if no accounts are
 * kept.
 */
void kwhy_metrics_write(const struct kwhy_live_snapshot *snapshot, const struct kwhy_keeper_state *owners,
	enum kwhy_exposition_form form, const char *version, struct kwhy_text *out);

#endif
