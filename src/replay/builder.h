/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_BUILDER_H
#define KWHY_REPLAY_BUILDER_H

#include "replay/pattern.h"

/* State that the steps of kwhy_replay_pattern_new() share. Times are as played. */
struct kwhy_replay_builder {
	const struct kwhy_whatif *whatif;
	const struct kwhy_whatif_graph *graph;
	const struct kwhy_recording *recording;
	const struct kwhy_replay_changes *changes;
	struct kwhy_replay_pattern *pattern;
	int64_t origin_ns; /* start of the first call that issues work, or of the first work without a call */
	size_t *first_row; /* [calls + 3] first index in `rows` of the rows that a call issues now; last come
			      the rows without a call */
	uint32_t *rows;	   /* [activities] sorted by the call that issues them, then by start */
	bool *is_followed; /* [calls] whether a call of another thread waits for the call */
	uint32_t *op_of;   /* [calls] op of the call; KWHY_NONE: the call is not replayed */
	uint32_t *work_of; /* [activities] work of the row; KWHY_NONE: the row is not replayed */
	uint32_t *row_of;  /* [works] row of the work; KWHY_NONE: a packing kernel, which has no row */
	size_t row_capacity;	    /* of row_of */
	uint32_t *replay_stream_of; /* [3 * streams] stream of the replay; KWHY_NONE: not made yet */
	uint8_t *apart; /* [streams] bits of enum kwhy_replay_group: groups with streams of their own */
};

/* Groups of a stream's work: changes may move all but the first to other streams. */
enum kwhy_replay_group { KWHY_REPLAY_MAIN, KWHY_REPLAY_SENDS, KWHY_REPLAY_COLLECTIVES, KWHY_REPLAY_GROUPS };

/* Whether a row is work of the replayed device that is not dropped. */
bool kwhy_replay_is_played(const struct kwhy_replay_builder *builder, uint32_t row);
/*
 * The row itself, or if it is dropped, the closest earlier row of its stream that is not; KWHY_NONE: no such
 * row.
 */
uint32_t kwhy_replay_left_of(const struct kwhy_replay_builder *builder, uint32_t row);

/* The steps of kwhy_replay_pattern_new(), in order. */

/*
 * Finds the groups of work that changes moved out of their streams. `last_of_stream` is scratch: [streams].
 */
void kwhy_replay_part_streams(struct kwhy_replay_builder *builder, uint32_t *last_of_stream);
/* Lists rows by the call that issues them now, in the order of their starts. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_list_rows(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/* Reads the calls of all threads with their work. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_read_threads(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/* Appends the work of one row, in the stream of `replay_stream_row`. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_add_row(struct kwhy_replay_builder *builder, uint32_t row,
	uint32_t replay_stream_row, struct kwhy_error *error);
/* Finds what each call waits for and what each work follows, in the order in which calls begin. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_order(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/* Makes launches of the same sequence of work share a graph. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_share_graphs(
	struct kwhy_replay_pattern *pattern, struct kwhy_error *error);

#endif
