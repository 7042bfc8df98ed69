/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_READER_H
#define KWHY_IMPORT_READER_H

#include "import/import.h"

/* Advice in messages about traces without kernels, copies or memsets: how to make a trace with them. */
#define KWHY_TRACE_CURE                                                                                  \
	"give a trace with the device's kernels: of PyTorch, profile(activities=[ProfilerActivity.CPU, " \
	"ProfilerActivity.CUDA]); of JAX, jax.profiler.trace(); or kwhy CSV (docs/formats/csv.md)"

/* A trace format: `probe` says whether a file has the format, `read` adds the file to the recording. */
struct kwhy_trace_reader {
	/* `head` has the first `length` bytes of the decompressed file, at most KWHY_TRACE_HEAD_BYTES. */
	bool (*probe)(const char *path, const unsigned char *head, size_t length);
	enum kwhy_status (*read)(struct kwhy_recording *recording, const char *path,
		const struct kwhy_import_options *options, struct kwhy_error *error);
};

/*
 * Call it with the status of reading a row. With `partial`, KWHY_E_INPUT, an unusable row, is counted as
 * skipped and becomes KWHY_OK. Any other status is returned unchanged.
 */
static inline enum kwhy_status kwhy_reader_pass(
	struct kwhy_recording *recording, const struct kwhy_import_options *options, enum kwhy_status status)
{
	if (status != KWHY_E_INPUT || !options->partial)
		return status;
	recording->lost.skipped_events++;
	return KWHY_OK;
}

/* Declares kwhy_reader_<name> for each format; it is defined in the format's folder under import/. */
#define X(format, reader, text, words) extern const struct kwhy_trace_reader kwhy_reader_##reader;
#include "model/trace_formats.def"
#undef X

#endif
