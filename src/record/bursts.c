/* SPDX-License-Identifier: Apache-2.0 */
#include "record/bursts.h"

#include "base/column.h"
#include "recording/block_reader.h"
#include "recording/bundle.h"

#include <stdlib.h>
#include <string.h>

typedef enum kwhy_status take_block(
	struct kwhy_record_burst_kernels *kernels, const struct kwhy_block *block, struct kwhy_error *error);

static bool is_there(
	const struct kwhy_record_burst_kernels *kernels, uint64_t writer, const struct kwhy_wire_burst *burst)
{
	for (size_t i = 0; i < kernels->count; i++) {
		const struct kwhy_record_burst_kernel *row = &kernels->rows[i];

		if (row->writer == writer && row->name_id == burst->name && row->blocks == burst->blocks &&
			row->threads_per_block == burst->threads_per_block)
			return true;
	}
	return false;
}

static enum kwhy_status take_bursts(
	struct kwhy_record_burst_kernels *kernels, const struct kwhy_block *block, struct kwhy_error *error)
{
	struct kwhy_wire_burst scratch;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; block->kind == KWHY_WIRE_BURST && !status && i < block->record_count; i++) {
		const struct kwhy_wire_burst *burst = kwhy_block_record(block, i, &scratch, sizeof(scratch));

		if (is_there(kernels, block->writer, burst))
			continue;
		status = kwhy_column_reserve((void **)&kernels->rows, &kernels->capacity, kernels->count + 1,
			sizeof(*kernels->rows), "kernels that were repeated", error);
		if (!status)
			kernels->rows[kernels->count++] = (struct kwhy_record_burst_kernel){
				block->writer, burst->name, burst->blocks, burst->threads_per_block, NULL};
	}
	return status;
}

static enum kwhy_status take_names(
	struct kwhy_record_burst_kernels *kernels, const struct kwhy_block *block, struct kwhy_error *error)
{
	const char *bytes;
	size_t at = 0, length;
	uint32_t id;

	while (block->kind == KWHY_WIRE_NAME && kwhy_block_name(block, &at, &id, &bytes, &length))
		for (size_t i = 0; i < kernels->count; i++) {
			struct kwhy_record_burst_kernel *row = &kernels->rows[i];

			if (row->writer != block->writer || row->name_id != id || row->name)
				continue;
			row->name = kwhy_arena_printf(&kernels->arena, "%.*s", (int)length, bytes);
			if (!row->name)
				return kwhy_fail_memory(error, "names of kernels");
		}
	return KWHY_OK;
}

static enum kwhy_status walk_file(struct kwhy_record_burst_kernels *kernels, const char *path,
	take_block *take, struct kwhy_error *error)
{
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	enum kwhy_status status = kwhy_block_reader_open(&reader, path, error);
	int item = 0;

	if (status)
		return status;
	while (!status && (item = kwhy_block_reader_next(&reader, &block, error)) == 0)
		if (!block.damage)
			status = take(kernels, &block, error);
	kwhy_block_reader_close(&reader);
	return item < 0 ? error->status : status;
}

enum kwhy_status kwhy_record_burst_kernels_read(
	struct kwhy_record_burst_kernels *kernels, const char *path, struct kwhy_error *error)
{
	static take_block *const walks[] = {
		take_bursts, take_names}; /* the files are read twice, names last, because a name may come
					     before or after the records that use it */
	struct kwhy_bundle bundle;
	enum kwhy_status status = kwhy_bundle_open(&bundle, path, error);

	if (status)
		return status;
	for (size_t walk = 0; walk < 2; walk++)
		for (size_t i = 0; !status && i < bundle.count; i++)
			status = walk_file(kernels, bundle.paths[i], walks[walk], error);
	kwhy_bundle_done(&bundle);
	return status;
}

void kwhy_record_burst_kernels_done(struct kwhy_record_burst_kernels *kernels)
{
	free(kernels->rows);
	kwhy_arena_done(&kernels->arena);
	*kernels = (struct kwhy_record_burst_kernels){0};
}
