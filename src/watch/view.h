/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_VIEW_H
#define KWHY_WATCH_VIEW_H

#include "live/snapshot.h"
#include "watch/screen.h"

/*
 * Draws a snapshot: a title, three lines a device, one a CPU domain or wall meter, the processes with the
 * most memory, and what the reading itself took. Pure. Four devices fit 80 columns by 24 lines.
 */
struct kwhy_view {
	size_t processes_most;
	bool whole; /* sentences of what is absent in full, on several lines; else one line each, cut */
};

void kwhy_view_draw(
	const struct kwhy_live_snapshot *snapshot, const struct kwhy_view *view, struct kwhy_screen *out);

#endif
