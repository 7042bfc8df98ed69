/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_VIEW_H
#define KWHY_WATCH_VIEW_H

#include "live/snapshot.h"
#include "watch/screen.h"

/*
 * Draws a snapshot: a title, three lines a device, one line a CPU domain or wall meter, the processes with
 * the most memory, and the cost of reading. Pure. Four devices fit 80 columns by 24 lines. With fewer than 80
 * columns the first line of a device starts with what matters: whether it is lost, its power and limit, its
 * energy. At least KWHY_VIEW_COLUMNS_MIN columns.
 */
enum { KWHY_VIEW_COLUMNS_MIN = 32 };

struct kwhy_view {
	size_t processes_most;
	/*
	 * Lines that sentences about absent sources may take in total beyond one each. Sentences that do not
	 * fit are cut. SIZE_MAX: none is cut.
	 */
	size_t more_lines;
};

void kwhy_view_draw(
	const struct kwhy_live_snapshot *snapshot, const struct kwhy_view *view, struct kwhy_screen *out);

#endif
