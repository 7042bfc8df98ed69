/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_READER_H
#define KWHY_IMPORT_READER_H

#include "import/import.h"

/* Advice in errors about files that contain no work of a device: how to make a file that does. */
#define KWHY_TRACE_CURE                                                                                  \
	"give a trace with the device's kernels: of PyTorch, profile(activities=[ProfilerActivity.CPU, " \
	"ProfilerActivity.CUDA]); of JAX, jax.profiler.trace(); or kwhy CSV (docs/formats/csv.md)"

/* A trace format: a function that tests whether a file has it, and a function that reads the file. */
struct kwhy_trace_reader {
	/* `head` holds the first `length` bytes of the file after decompression, at most 4 KiB. */
	bool (*probe)(const char *path, const unsigned char *head, size_t length);
	enum kwhy_status (*read)(struct kwhy_recording *recording, const char *path,
		const struct kwhy_import_options *options, struct kwhy_error *error);
};

/*
 * The status of reading a row: with `partial`, an unusable row is counted and skipped, and the result is
 * KWHY_OK. Any other failure is returned unchanged.
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
