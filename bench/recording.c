/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "import/import.h"
#include "recording/block_reader.h"
#include "recording/block_writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

/*
 * Measures writing and reading a recording: kernels with 500 different names in a file in memory, with and
 * without compression. Prints the processor seconds of each step for a million kernels. Usage:
 * bench_recording [KERNELS]; the default is five million.
 */

enum { SHARE_BYTES = 1 << 20, NAMES = 500 };

static struct kwhy_error error;

static void must(enum kwhy_status status)
{
	if (status == KWHY_OK)
		return;
	fprintf(stderr, "bench_recording: %s\n", error.text);
	exit(1);
}

static size_t pack(void *context, void *packed, size_t space, const void *payload, size_t length)
{
	size_t got = ZSTD_compressCCtx(context, packed, space, payload, length, 1);

	return ZSTD_isError(got) ? 0 : got;
}

static void write_kernels(struct kwhy_block_writer *writer, uint32_t count)
{
	char name[32];

	for (uint32_t i = 1; i <= NAMES; i++)
		kwhy_block_writer_add_name(
			writer, i, name, (size_t)snprintf(name, sizeof(name), "kernel_%u", i));
	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_wire_kernel *kernel = kwhy_block_writer_add(writer, KWHY_WIRE_KERNEL);

		if (!kernel)
			exit(1);
		*kernel = (struct kwhy_wire_kernel){.start_mono_ns = 1000000000 + (int64_t)i * 15000,
			.end_mono_ns = 1000000000 + (int64_t)i * 15000 + 4000 + i % 977,
			.name = i % NAMES + 1,
			.correlation = i,
			.context = 1,
			.stream = 7,
			.blocks = 132 + i % 64,
			.threads_per_block = 256,
			.registers = 64};
	}
	kwhy_block_writer_finish(writer, 1);
}

/*
 * Reads each record of the file and does nothing with it, which is the cost of the format alone. Returns the
 * sum of the kernels' durations, ns.
 */
static int64_t read_blocks(const char *path)
{
	struct kwhy_block_reader reader;
	struct kwhy_wire_kernel scratch;
	struct kwhy_block block;
	int64_t busy_ns = 0;

	must(kwhy_block_reader_open(&reader, path, &error));
	while (kwhy_block_reader_next(&reader, &block, &error) == 0)
		for (size_t i = 0; block.kind == KWHY_WIRE_KERNEL && i < block.record_count; i++) {
			const struct kwhy_wire_kernel *kernel = kwhy_block_record(
				&block, i, &scratch, sizeof(scratch));

			busy_ns += kernel->end_mono_ns - kernel->start_mono_ns;
		}
	kwhy_block_reader_close(&reader);
	return busy_ns;
}

static void import(const char *path)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;

	must(kwhy_recording_new(&recording, &error));
	must(kwhy_import_trace(recording, path, &options, &error));
	kwhy_recording_free(recording);
}

static void say(const char *what, uint32_t count, int64_t since_ns)
{
	double seconds = 1e-9 * (double)(kwhy_clock_thread_cpu_ns() - since_ns);

	printf("  %-28s %8.4f s a million  %6.1f million/s\n", what, seconds * 1e6 / count,
		1e-6 * count / seconds);
}

static void measure(const char *title, uint32_t count, bool packed)
{
	struct kwhy_block_writer writer;
	int fd = memfd_create("recording", 0);
	int64_t since_ns = kwhy_clock_thread_cpu_ns();
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	kwhy_block_writer_init(&writer, fd, 1, malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES)), SHARE_BYTES);
	if (packed) {
		writer.pack = pack;
		writer.pack_context = ZSTD_createCCtx();
		writer.packed = malloc(SHARE_BYTES);
	}
	write_kernels(&writer, count);
	printf("%s: %" PRIu32 " kernels, %.1f bytes each\n", title, count,
		(double)writer.written_bytes / count);
	say("written", count, since_ns);
	since_ns = kwhy_clock_thread_cpu_ns();
	if (!read_blocks(path))
		exit(1);
	say("blocks read", count, since_ns);
	since_ns = kwhy_clock_thread_cpu_ns();
	import(path);
	say("imported into a recording", count, since_ns);
	free(writer.memory);
	free(writer.packed);
	ZSTD_freeCCtx(writer.pack_context);
	close(fd);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 5000000;

	measure("plain", count, false);
	measure("packed", count, true);
	return 0;
}
