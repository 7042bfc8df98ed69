/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_BUILDER_H
#define KWHY_REPLAY_BUILDER_H

#include "replay/pattern.h"

/*
 * State that the steps of kwhy_replay_pattern_new() share. In these comments a row is an index in the
 * recorded activities, a call is an index in the recorded calls, an op is a call of the replay, and a work is
 * a piece of device work of the replay. Times are those of the latest simulation of the graph.
 */
struct kwhy_replay_builder {
	const struct kwhy_whatif *whatif;
	const struct kwhy_whatif_graph *graph;
	const struct kwhy_recording *recording;
	const struct kwhy_replay_changes *changes;
	struct kwhy_replay_pattern *pattern;
	/*
	 * time 0 of the pattern: the start of the first call that issues replayed work or, if it is earlier,
	 * of the first replayed work without a recorded call
	 */
	int64_t origin_ns;
	/*
	 * [calls + 3] for each call, the index in `rows` of the first row that the call issues after the
	 * changes; entry [calls] is that of the first row without a call
	 */
	size_t *first_row;
	uint32_t *rows;	   /* [activities] rows, sorted by the call that issues them and then by start */
	bool *is_followed; /* [calls] whether a replayed call of another thread may begin only after the call
			      has ended */
	uint32_t *op_of;   /* [calls] op that replays the call; KWHY_NONE: the call is not replayed */
	uint32_t *work_of; /* [activities] work that replays the row; KWHY_NONE: the row is not replayed */
	uint32_t *row_of; /* [works] row of the work; KWHY_NONE: none, as the work is a kernel that gathers or
			     scatters the data of a packed copy */
	size_t row_capacity; /* number of entries allocated for row_of */
	/*
	 * [KWHY_REPLAY_GROUPS * streams] stream of the replay for each group (enum kwhy_replay_group) of each
	 * recorded stream's work; KWHY_NONE: not made yet
	 */
	uint32_t *replay_stream_of;
	/*
	 * [streams] set of bits 1 << group (enum kwhy_replay_group): the groups of the stream's work that the
	 * changes moved to separate streams
	 */
	uint8_t *apart;
};

/*
 * Groups into which the work of a recorded stream is divided: copies to the device, collectives, and all
 * other work. Changes may move copies to the device and collectives to streams of their own.
 */
enum kwhy_replay_group { KWHY_REPLAY_MAIN, KWHY_REPLAY_SENDS, KWHY_REPLAY_COLLECTIVES, KWHY_REPLAY_GROUPS };

/* Whether a row is replayed: it is work of the replayed device, and no change dropped it. */
bool kwhy_replay_is_played(const struct kwhy_replay_builder *builder, uint32_t row);
/*
 * The row itself or, if a change dropped it, the closest row before it in its stream that no change dropped;
 * KWHY_NONE: there is none.
 */
uint32_t kwhy_replay_left_of(const struct kwhy_replay_builder *builder, uint32_t row);

/* The steps of kwhy_replay_pattern_new(), in the order in which they are called. */

/*
 * Finds the groups of work that changes moved out of their streams. `last_of_stream` is scratch memory with
 * one row for each stream.
 */
void kwhy_replay_part_streams(struct kwhy_replay_builder *builder, uint32_t *last_of_stream);
/* Lists rows by the call that issues them after the changes, in the order of their starts. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_list_rows(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/* Turns the calls of all threads, and their work, into ops and works of the pattern. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_read_threads(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/*
 * Appends the work of one row to a stream of the replay. The stream is that of `replay_stream_row`: the row
 * itself or, if a graph launch issues it, the first row of that launch.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_add_row(struct kwhy_replay_builder *builder, uint32_t row,
	uint32_t replay_stream_row, struct kwhy_error *error);
/*
 * Finds the work that each call waits for, and the work that each piece of work follows. Calls are visited in
 * the order of their starts.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_order(
	struct kwhy_replay_builder *builder, struct kwhy_error *error);
/*
 * Makes all graph launches with the same sequence of work (kinds, sizes, grids, accounts and streams) share
 * one graph.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_share_graphs(
	struct kwhy_replay_pattern *pattern, struct kwhy_error *error);

#endif
