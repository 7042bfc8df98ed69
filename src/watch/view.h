/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WATCH_VIEW_H
#define KWHY_WATCH_VIEW_H

#include "live/snapshot.h"
#include "watch/screen.h"

/*
 * kwhy_view_draw() appends to the screen: a title; for each device up to three lines, with power and energy,
 * gauges, and a curve of its power; one line for each CPU or board domain and wall meter; the processes that
 * hold the most device memory; the cost of reading the meters; and why meters are missing. It changes nothing
 * but the screen. Four devices fit into 80 columns and 24 lines. With fewer than 80 columns the first line of
 * a device has its power, limit and energy, or that it is lost, before its name. The screen needs at least
 * KWHY_VIEW_COLUMNS_MIN columns.
 */
enum { KWHY_VIEW_COLUMNS_MIN = 32 };

struct kwhy_view {
	size_t processes_most;
	/*
	 * Each sentence about a missing source of readings gets one line. more_lines: number of further lines
	 * for all sentences together; a sentence that would need more than are left is cut after its first
	 * line. SIZE_MAX: none is cut.
	 */
	size_t more_lines;
};

void kwhy_view_draw(
	const struct kwhy_live_snapshot *snapshot, const struct kwhy_view *view, struct kwhy_screen *out);

#endif
