/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_METRICS_H
#define KWHY_SERVE_METRICS_H

#include "live/snapshot.h"
#include "serve/exposition.h"

/*
 * All that a snapshot knows as metrics: base units, one family after the other. What is not known has no
 * series; why, is in kwhy_source_available.
 */
void kwhy_metrics_write(const struct kwhy_live_snapshot *snapshot, enum kwhy_exposition_form form,
	const char *version, struct kwhy_text *out);

#endif
