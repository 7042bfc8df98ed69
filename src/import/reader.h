/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_READER_H
#define KWHY_IMPORT_READER_H

#include "import/import.h"

/* How to make what can be read, for files that hold no work of a device. */
#define KWHY_TRACE_CURE                                                                                  \
	"give a trace with the device's kernels: of PyTorch, profile(activities=[ProfilerActivity.CPU, " \
	"ProfilerActivity.CUDA]); of JAX, jax.profiler.trace(); or kwhy CSV (docs/formats/csv.md)"

/* A trace format: a test whether a file has it, and its reader. */
struct kwhy_trace_reader {
	/* `head`: the first `length` bytes of the file after decompression, at most 4 KiB */
	bool (*probe)(const char *path, const unsigned char *head, size_t length);
	enum kwhy_status (*read)(struct kwhy_recording *recording, const char *path,
		const struct kwhy_import_options *options, struct kwhy_error *error);
};

/* kwhy_reader_<format> of each format, in import/<format>/ */
#define X(format, reader, text, words) extern const struct kwhy_trace_reader kwhy_reader_##reader;
#include "model/trace_formats.def"
#undef X

#endif
