/* SPDX-License-Identifier: Apache-2.0 */
#include "record/bursts.h"

#include "recording/block_reader.h"
#include "recording/bundle.h"

enum { DIFFERENT = 2 }; /* as a recording numbers it (docs/formats/recording.md) */

static void take_bursts(struct kwhy_record_bursts *sums, const struct kwhy_block *block)
{
	struct kwhy_wire_burst scratch;

	for (size_t i = 0; i < block->record_count; i++) {
		const struct kwhy_wire_burst *burst = kwhy_block_record(block, i, &scratch, sizeof(scratch));

		sums->bursts++;
		sums->repeats += burst->repeats;
		sums->different += burst->check == DIFFERENT;
		sums->spent_ns += burst->end_mono_ns - burst->start_mono_ns;
	}
}

static enum kwhy_status walk(struct kwhy_record_bursts *sums, const char *path, struct kwhy_error *error)
{
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	enum kwhy_status status = kwhy_block_reader_open(&reader, path, error);
	int item = 0;

	if (status)
		return status;
	while ((item = kwhy_block_reader_next(&reader, &block, error)) == 0)
		if (!block.damage && block.kind == KWHY_WIRE_BURST)
			take_bursts(sums, &block);
	kwhy_block_reader_close(&reader);
	return item < 0 ? error->status : KWHY_OK;
}

enum kwhy_status kwhy_record_bursts_read(
	const char *path, struct kwhy_record_bursts *out, struct kwhy_error *error)
{
	struct kwhy_record_bursts sums = {0};
	struct kwhy_bundle bundle;
	enum kwhy_status status = kwhy_bundle_open(&bundle, path, error);

	if (status)
		return status;
	for (size_t i = 0; !status && i < bundle.count; i++)
		status = walk(&sums, bundle.paths[i], error);
	kwhy_bundle_done(&bundle);
	if (!status)
		*out = sums;
	return status;
}
