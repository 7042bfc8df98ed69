/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/builder.h"

#include "base/column.h"

/* Turns rows of the recording into work of the replay. */

static const struct kwhy_activities *rows_of(const struct kwhy_replay_builder *builder)
{
	return &builder->recording->activities;
}

static enum kwhy_replay_group natural_group(const struct kwhy_replay_builder *builder, uint32_t row)
{
	const struct kwhy_activities *rows = rows_of(builder);

	if (rows->kind[row] == KWHY_ACTIVITY_COLLECTIVE)
		return KWHY_REPLAY_COLLECTIVES;
	if (rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == KWHY_COPY_H2D)
		return KWHY_REPLAY_SENDS;
	return KWHY_REPLAY_MAIN;
}

/*
 * The group to which a row belongs, which decides in which stream it is replayed: its natural group if that
 * group got a stream of its own, else the main group.
 */
static enum kwhy_replay_group group_of(const struct kwhy_replay_builder *builder, uint32_t row)
{
	enum kwhy_replay_group group = natural_group(builder, row);

	return builder->apart[rows_of(builder)->stream[row]] & 1 << group ? group : KWHY_REPLAY_MAIN;
}

/*
 * Handles a row that no longer follows `before`, the replayed row before it in its recorded stream, because a
 * change moved one of them. The natural group of `row` gets a stream of its own or, if that is the main
 * group, the natural group of `before`. If both are in the main group, a lost order is counted instead.
 */
static void part(struct kwhy_replay_builder *builder, uint32_t before, uint32_t row)
{
	uint8_t *apart = &builder->apart[rows_of(builder)->stream[row]];

	if (natural_group(builder, row) != KWHY_REPLAY_MAIN)
		*apart |= (uint8_t)(1 << natural_group(builder, row));
	else if (natural_group(builder, before) != KWHY_REPLAY_MAIN)
		*apart |= (uint8_t)(1 << natural_group(builder, before));
	else
		builder->pattern->left.orders++;
}

void kwhy_replay_part_streams(struct kwhy_replay_builder *builder, uint32_t *last_of_stream)
{
	for (size_t s = 0; s < builder->recording->stream_count; s++)
		last_of_stream[s] = KWHY_NONE;
	for (uint32_t row = 0; row < builder->graph->activity_count; row++) {
		uint32_t *last = &last_of_stream[rows_of(builder)->stream[row]];

		if (!kwhy_replay_is_played(builder, row)) {
			builder->pattern->left.other_devices += !kwhy_whatif_is_dropped(builder->graph, row);
			continue;
		}
		if (*last != KWHY_NONE &&
			kwhy_replay_left_of(builder, builder->graph->nodes[row].from[KWHY_LINK_ORDER]) !=
				*last)
			part(builder, *last, row);
		builder->pattern->left.overlaps += (builder->graph->nodes[row].flags & KWHY_NODE_OVERLAPS) !=
			0;
		*last = row;
	}
}

static enum kwhy_status find_replay_stream(
	struct kwhy_replay_builder *builder, uint32_t row, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = builder->pattern;
	uint32_t *replay_stream =
		&builder->replay_stream_of[KWHY_REPLAY_GROUPS * rows_of(builder)->stream[row] +
			group_of(builder, row)];
	enum kwhy_status status = KWHY_OK;

	if (*replay_stream == KWHY_NONE) {
		status = kwhy_column_reserve((void **)&pattern->replay_streams,
			&pattern->replay_stream_capacity, pattern->replay_stream_count + 1,
			sizeof(*pattern->replay_streams), "streams", error);
		if (status)
			return status;
		*replay_stream = (uint32_t)pattern->replay_stream_count++;
		pattern->replay_streams[*replay_stream] = (struct kwhy_replay_stream){KWHY_NONE};
	}
	*out = *replay_stream;
	return status;
}

static uint64_t threads_of(const struct kwhy_replay_grid *grid)
{
	return (uint64_t)grid->blocks * grid->threads_per_block;
}

/*
 * Index of the pattern's grid with the closest total number of threads. It replaces a grid for which the
 * table of KWHY_REPLAY_GRIDS_MAX grids has no space.
 */
static uint32_t nearest_grid(const struct kwhy_replay_pattern *pattern, const struct kwhy_replay_grid *wanted)
{
	uint64_t least = UINT64_MAX;
	uint32_t best = 0;

	for (uint32_t i = 0; i < pattern->grid_count; i++) {
		uint64_t have = threads_of(&pattern->grids[i]), want = threads_of(wanted);
		uint64_t apart = have > want ? have - want : want - have;

		if (apart < least) {
			least = apart;
			best = i;
		}
	}
	return best;
}

static enum kwhy_status find_grid(struct kwhy_replay_pattern *pattern, struct kwhy_replay_grid wanted,
	uint32_t *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	for (uint32_t i = 0; i < pattern->grid_count; i++)
		if (pattern->grids[i].blocks == wanted.blocks &&
			pattern->grids[i].threads_per_block == wanted.threads_per_block) {
			*out = i;
			return KWHY_OK;
		}
	if (pattern->grid_count == KWHY_REPLAY_GRIDS_MAX) {
		*out = nearest_grid(pattern, &wanted);
		return KWHY_OK;
	}
	status = kwhy_column_reserve((void **)&pattern->grids, &pattern->grid_capacity,
		pattern->grid_count + 1, sizeof(*pattern->grids), "grids", error);
	if (status)
		return status;
	*out = (uint32_t)pattern->grid_count;
	pattern->grids[pattern->grid_count++] = wanted;
	return KWHY_OK;
}

enum { UNKNOWN_THREADS = 128, THREADS_MAX = 1024 };

/*
 * The grid of a row. An unknown number of blocks becomes one for each of the GPU's multiprocessors, or one if
 * their number is unknown, too; an unknown number of threads per block becomes UNKNOWN_THREADS.
 */
static struct kwhy_replay_grid grid_of(const struct kwhy_replay_builder *builder, uint32_t row)
{
	uint32_t blocks = builder->changes->blocks[row], threads = rows_of(builder)->threads_per_block[row];
	uint32_t sms = builder->recording->devices[builder->pattern->device].sm_count;

	if (blocks == KWHY_UNKNOWN_BLOCKS || !blocks)
		blocks = sms ? sms : 1;
	if (threads == KWHY_UNKNOWN_U16 || !threads)
		threads = UNKNOWN_THREADS;
	return (struct kwhy_replay_grid){blocks, threads > THREADS_MAX ? THREADS_MAX : threads};
}

/* Kind of the host memory of a copy, as recorded or as changed. Unknown memory counts as pageable. */
static enum kwhy_gpu_host_kind host_kind(struct kwhy_replay_builder *builder, uint8_t memory)
{
	switch (memory) {
	case KWHY_MEMORY_PAGEABLE:
		return builder->changes->pinned ? KWHY_GPU_HOST_PINNED : KWHY_GPU_HOST_PAGEABLE;
	case KWHY_MEMORY_PINNED:
		return KWHY_GPU_HOST_PINNED;
	default:
		builder->pattern->left.guessed_memory++;
		return KWHY_GPU_HOST_PAGEABLE;
	}
}

/*
 * Makes the work a copy if its size and direction are known. Otherwise the work stays a kernel of the same
 * length, and left.unknown counts it.
 */
static void read_copy(struct kwhy_replay_builder *builder, uint32_t row, struct kwhy_replay_work *work)
{
	const struct kwhy_activities *rows = rows_of(builder);

	if (work->bytes == KWHY_UNKNOWN_BYTES || !work->bytes) {
		builder->pattern->left.unknown++;
		return;
	}
	switch (rows->copy_kind[row]) {
	case KWHY_COPY_H2D:
		work->way = KWHY_REPLAY_H2D;
		work->host = (uint8_t)host_kind(builder, rows->src_memory[row]);
		break;
	case KWHY_COPY_D2H:
		work->way = KWHY_REPLAY_D2H;
		work->host = (uint8_t)host_kind(builder, rows->dst_memory[row]);
		break;
	case KWHY_COPY_P2P:
		builder->pattern->left.peer_copies++;
		__attribute__((fallthrough));
	case KWHY_COPY_D2D:
		work->way = KWHY_REPLAY_D2D;
		break;
	default:
		builder->pattern->left.unknown++;
		return;
	}
	work->kind = KWHY_REPLAY_COPY;
}

static void read_kind(struct kwhy_replay_builder *builder, uint32_t row, struct kwhy_replay_work *work)
{
	if (builder->changes->became[row] == KWHY_REPLAY_FUSED)
		return;
	switch (rows_of(builder)->kind[row]) {
	case KWHY_ACTIVITY_COPY:
		read_copy(builder, row, work);
		break;
	case KWHY_ACTIVITY_MEMSET:
		if (work->bytes != KWHY_UNKNOWN_BYTES && work->bytes)
			work->kind = KWHY_REPLAY_FILL;
		else
			builder->pattern->left.unknown++;
		break;
	case KWHY_ACTIVITY_COLLECTIVE:
		builder->pattern->left.collectives++;
		break;
	default:
		break;
	}
}

static uint32_t account_of(const struct kwhy_replay_builder *builder, uint32_t row)
{
	uint32_t device = builder->pattern->device;

	return builder->pattern->account_count
		? builder->whatif->ledger->devices[device].account_of[row - rows_of(builder)->first[device]]
		: KWHY_NONE;
}

static enum kwhy_status add_work(struct kwhy_replay_builder *builder, uint32_t row,
	const struct kwhy_replay_work *work, struct kwhy_error *error)
{
	struct kwhy_replay_pattern *pattern = builder->pattern;
	enum kwhy_status status = kwhy_column_reserve((void **)&pattern->works, &pattern->work_capacity,
		pattern->work_count + 1, sizeof(*pattern->works), "work of a device", error);

	if (!status)
		status = kwhy_column_reserve((void **)&builder->row_of, &builder->row_capacity,
			pattern->work_count + 1, sizeof(*builder->row_of), "work of a device", error);
	if (status)
		return status;
	builder->row_of[pattern->work_count] = row;
	pattern->works[pattern->work_count++] = *work;
	return KWHY_OK;
}

/*
 * Adds the small kernel of a copy that replaces several (KWHY_REPLAY_PACKED): it gathers their data before a
 * copy from the device, or scatters the data after a copy to the device. It has one block of 256 threads, and
 * its length is 0: as short as possible.
 */
static enum kwhy_status add_packing(
	struct kwhy_replay_builder *builder, const struct kwhy_replay_work *copy, struct kwhy_error *error)
{
	struct kwhy_replay_work kernel = {
		.kind = KWHY_REPLAY_KERNEL,
		.replay_stream = copy->replay_stream,
		.account = KWHY_NONE,
		.after = {KWHY_NONE, KWHY_NONE},
		.mark = KWHY_NONE,
	};
	enum kwhy_status status = find_grid(
		builder->pattern, (struct kwhy_replay_grid){1, 256}, &kernel.grid, error);

	return status ? status : add_work(builder, KWHY_NONE, &kernel, error);
}

enum kwhy_status kwhy_replay_add_row(struct kwhy_replay_builder *builder, uint32_t row,
	uint32_t replay_stream_row, struct kwhy_error *error)
{
	const struct kwhy_whatif_node *node = &builder->graph->nodes[row];
	const int64_t issue_ns = kwhy_whatif_lag_ns(builder->graph, node, KWHY_LINK_ISSUE);
	struct kwhy_replay_work work = {
		.length_ns = builder->graph->end_ns[row] - builder->graph->start_ns[row],
		.bytes = builder->changes->bytes[row],
		.kind = KWHY_REPLAY_KERNEL,
		.account = account_of(builder, row),
		.after = {KWHY_NONE, KWHY_NONE},
		.mark = KWHY_NONE,
	};
	bool is_packed;
	enum kwhy_status status = find_replay_stream(builder, replay_stream_row, &work.replay_stream, error);

	if (node->from[KWHY_LINK_ISSUE] != KWHY_NONE && issue_ns > 0)
		work.issue_ns = issue_ns;
	read_kind(builder, row, &work);
	is_packed = builder->changes->became[row] == KWHY_REPLAY_PACKED && work.kind == KWHY_REPLAY_COPY;
	if (!status && work.kind == KWHY_REPLAY_KERNEL)
		status = find_grid(builder->pattern, grid_of(builder, row), &work.grid, error);
	if (!status && is_packed && work.way == KWHY_REPLAY_D2H)
		status = add_packing(builder, &work, error);
	builder->work_of[row] = (uint32_t)builder->pattern->work_count;
	if (!status)
		status = add_work(builder, row, &work, error);
	if (!status && is_packed && work.way == KWHY_REPLAY_H2D)
		status = add_packing(builder, &work, error);
	return status;
}
