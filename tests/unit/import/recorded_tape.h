/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_IMPORT_RECORDED_TAPE_H
#define TESTS_UNIT_IMPORT_RECORDED_TAPE_H

#include "cmocka_all.h"
#include "import/import.h"
#include "recording/block_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Unix time of CLOCK_MONOTONIC 0 in these recordings: 2026-11-21 12:00:00 UTC. */
#define BOOT_UNIX_NS INT64_C(1795262400000000000)
#define MS INT64_C(1000000)

enum { SHARE_BYTES = 8192 };

struct tape {
	int fd;
	unsigned char *memory;
	struct kwhy_block_writer writer;
	int64_t ended_mono_ns;
};

static inline void tape_init(struct tape *tape, int fd, uint64_t id)
{
	tape->fd = fd;
	tape->ended_mono_ns = 1;
	tape->memory = malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES));
	kwhy_block_writer_init(&tape->writer, fd, id, tape->memory, SHARE_BYTES);
}

static inline void tape_done(struct tape *tape)
{
	kwhy_block_writer_finish(&tape->writer, tape->ended_mono_ns);
	free(tape->memory);
}

static inline void say_name(struct tape *tape, uint32_t id, const char *text)
{
	kwhy_block_writer_add_name(&tape->writer, id, text, strlen(text));
}

#define ADD(tape, kind, record, ...)                                                                       \
	do {                                                                                               \
		struct kwhy_wire_##record *row = kwhy_block_writer_add(&(tape)->writer, KWHY_WIRE_##kind); \
		assert_non_null(row);                                                                      \
		*row = (struct kwhy_wire_##record){__VA_ARGS__};                                           \
	} while (0)

/* Ids of the names in all recordings of these tests. */
enum name {
	NO_NAME,
	GEMM,
	ALL_REDUCE,
	UUID,
	H200,
	HOST,
	LAUNCH,
	ENERGY,
	SAMPLE,
	CLOCKS,
	STEP,
	SECOND,
	PACKAGE,
	START,
	OTHER_START,
	TOKENS
};

static inline void say_names(struct tape *tape)
{
	static const char *const texts[] = {[GEMM] = "gemm",
		[ALL_REDUCE] = "ncclDevKernel_AllReduce_Sum_f16_RING_LL",
		[UUID] = "GPU-1",
		[H200] = "NVIDIA H200",
		[HOST] = "node1",
		[LAUNCH] = "cudaLaunchKernel",
		[ENERGY] = "nvml.energy_mj",
		[SAMPLE] = "nvml.sample_mw",
		[CLOCKS] = "sm_clock_hz",
		[STEP] = "ProfilerStep#1",
		[SECOND] = "GPU-2",
		[PACKAGE] = "rapl.package-N_uj",
		[START] = "cf5d7f1a-d24e-41a3-bc2b-eae1deb18caa",
		[OTHER_START] = "0bd1a2c7-5d33-4b7e-9a0f-62f7a1a0c9d1",
		[TOKENS] = "tokens"};

	for (uint32_t name = GEMM; name <= TOKENS; name++)
		say_name(tape, name, texts[name]);
}

static inline struct kwhy_recording *import(const char *path)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	struct kwhy_error error;

	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	if (kwhy_import_trace(recording, path, &options, &error))
		fail_msg("%s", error.text);
	assert_int_equal(kwhy_recording_finish(recording, &error), KWHY_OK);
	return recording;
}

static inline const char *name_of(const struct kwhy_recording *recording, size_t row)
{
	return kwhy_names_get(&recording->names, recording->activities.name[row]);
}

static inline struct kwhy_recording *import_tape(struct tape *tape)
{
	struct kwhy_recording *recording;
	char path[64];

	tape_done(tape);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tape->fd);
	recording = import(path);
	close(tape->fd);
	return recording;
}

static inline bool has_note(const struct kwhy_recording *recording, const char *id)
{
	for (size_t i = 0; i < recording->note_count; i++)
		if (!strcmp(recording->notes[i].id, id))
			return true;
	return false;
}

#endif
