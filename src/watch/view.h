/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_VIEW_H
#define KWHY_WATCH_VIEW_H

#include "live/snapshot.h"
#include "watch/screen.h"

/*
 * Draws a snapshot: a title, three lines for each device, one line for each CPU domain and wall meter, the
 * processes with the most memory, and the cost of reading the meters. Pure. Four devices fit 80 columns by 24
 * lines. With fewer than 80 columns the first line of a device starts with its state if it is lost, its
 * power, its limit and its energy. The screen needs at least KWHY_VIEW_COLUMNS_MIN columns.
 */
enum { KWHY_VIEW_COLUMNS_MIN = 32 };

struct kwhy_view {
	size_t processes_most;
	/*
	 * Limit of the lines for sentences about missing sources of readings. Each sentence gets one line,
	 * and all of them together get this many additional lines; longer sentences are cut. SIZE_MAX: no
	 * sentence is cut.
	 */
	size_t more_lines;
};

void kwhy_view_draw(
	const struct kwhy_live_snapshot *snapshot, const struct kwhy_view *view, struct kwhy_screen *out);

#endif
