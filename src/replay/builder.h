/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_BUILDER_H
#define KWHY_REPLAY_BUILDER_H

#include "replay/pattern.h"

/* What the steps of kwhy_replay_pattern_new() share. Times are as played. */
struct kwhy_replay_builder {
	const struct kwhy_whatif *whatif;
	const struct kwhy_whatif_graph *graph;
	const struct kwhy_recording *recording;
	const struct kwhy_replay_changes *changes;
	struct kwhy_replay_pattern *pattern;
	int64_t origin_ns;   /* start of the first call, or of the first work without one */
	size_t *first_row;   /* [calls + 3] rows that a call issues now, in `rows`; the last: without one */
	uint32_t *rows;	     /* [activities] */
	bool *is_followed;   /* [calls] a call of another thread waits for it */
	uint32_t *op_of;     /* [calls] KWHY_NONE: none of its own */
	uint32_t *work_of;   /* [activities] KWHY_NONE: is not asked for again */
	uint32_t *row_of;    /* [works] KWHY_NONE: there is none */
	size_t row_capacity; /* of row_of */
	uint32_t *replay_stream_of; /* [3 * streams] KWHY_NONE: not yet one */
	uint8_t *apart; /* [streams] bits of enum kwhy_replay_group that have lanes of their own */
};

/* Work of a stream that a change may move out of it. */
enum kwhy_replay_group { KWHY_REPLAY_MAIN, KWHY_REPLAY_SENDS, KWHY_REPLAY_COLLECTIVES, KWHY_REPLAY_GROUPS };

/* Whether a row is work of the device that is left. */
bool kwhy_replay_is_played(const struct kwhy_replay_builder *builder, uint32_t row);
/* The row itself, or what it stood behind in its stream where it was dropped; KWHY_NONE: nothing. */
uint32_t kwhy_replay_left_of(const struct kwhy_replay_builder *builder, uint32_t row);

/* The steps, in order. */

/* Groups of streams that changes moved out of them. */
void kwhy_replay_part_streams(struct kwhy_replay_builder *builder, uint32_t *last_of_stream);
/* Rows by the call that issues them now, as they start. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_list_rows(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/* The threads' calls, with their work. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_read_threads(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/* One row behind the work that there is; `replay_stream_row`: in the lane of that row. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_add_row(struct kwhy_replay_builder *builder, uint32_t row,
	uint32_t replay_stream_row, struct kwhy_error *error);
/* What each call waits for and each work follows, in the order in which calls begin. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_order(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/* Launches of one sequence share a graph. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_share_graphs(
	struct kwhy_replay_pattern *pattern, struct kwhy_error *error);

#endif
