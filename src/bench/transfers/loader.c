/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/strategy.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Loaders: transfers from a file to the device, in chunks. In the strategy loader, one thread reads a chunk,
 * then copies it, then reads the next. In loader-ahead, a second thread reads ahead into page-locked slots
 * while the main thread copies filled ones. The file has just been written, so it is read from the page
 * cache. The time to page-lock memory is measured here, too, for comparison with the time that page-locked
 * memory saves.
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)
#define MIN_BYTES (UINT64_C(1) << 18)
#define MAX_BYTES (UINT64_C(256) << 20)

enum { SLOTS = 4, PAGE_BYTES = 4096 };
#define CHUNK_BYTES (UINT64_C(1) << 20)

/* State shared by the thread that reads and the thread that copies. */
struct ahead {
	const struct kwhy_bench_work *work;
	uint8_t *slots; /* SLOTS chunks in page-locked memory */
	sem_t filled, empty;
	atomic_int error; /* errno of a read that failed; 0: no read failed */
};

static uint64_t chunk_at(const struct kwhy_bench_work *work, uint64_t done)
{
	return work->bytes - done < CHUNK_BYTES ? work->bytes - done : CHUNK_BYTES;
}

/*
 * Reads exactly `bytes` bytes from offset `place` of the file. Returns 0 or an errno; EIO: the file ends
 * before.
 */
static int read_chunk(int file, void *to, uint64_t bytes, uint64_t place)
{
	while (bytes > 0) {
		ssize_t got = pread(file, to, bytes, (off_t)place);

		if (got <= 0)
			return got < 0 ? errno : EIO;
		to = (char *)to + got;
		place += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
	return 0;
}

static enum kwhy_status cannot_read(int why, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO,
		"the file for the loaders cannot be read: %s; free space in TMPDIR", strerror(why));
}

/*
 * Writes `bytes` bytes of the pattern to the file, in pieces of 4 KiB to save memory. false: errno says why.
 */
static bool write_pattern(FILE *file, uint64_t bytes, uint32_t seed)
{
	uint8_t piece[4096];

	for (uint64_t done = 0; done < bytes; done += sizeof(piece)) {
		size_t length = bytes - done < sizeof(piece) ? bytes - done : sizeof(piece);

		kwhy_bench_pattern_write(piece, length, seed, done);
		if (fwrite(piece, 1, length, file) != length)
			return false;
	}
	return fflush(file) == 0;
}

static enum kwhy_status write_file(struct kwhy_bench_buffers *buffers, struct kwhy_error *error)
{
	uint64_t bytes = buffers->capacity < MAX_BYTES ? buffers->capacity : MAX_BYTES;

	buffers->file = tmpfile();
	if (!buffers->file || !write_pattern(buffers->file, bytes, buffers->seed))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a file for the loaders cannot be written: %s; free space in TMPDIR",
			strerror(errno));
	return KWHY_OK;
}

/* Prepares a loader; work->strategy->variant is the kind of host memory into which it reads. */
static enum kwhy_status prepare(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu_host staging;
	enum kwhy_status status = work->buffers->file ? KWHY_OK : write_file(work->buffers, error);

	if (!status)
		status = kwhy_bench_host(work->buffers, (enum kwhy_bench_memory)work->strategy->variant,
			KWHY_BENCH_STAGING, &staging, error);
	if (!status)
		status = kwhy_bench_device(work->buffers, KWHY_BENCH_SINK, &work->to_device.to, error);
	if (!status)
		work->own = staging.memory;
	return status;
}

static enum kwhy_status issue_plain(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	enum kwhy_status status = KWHY_OK;

	for (uint64_t done = 0; !status && done < work->bytes; done += CHUNK_BYTES) {
		struct kwhy_gpu_copy copy = {
			work->to_device.to + done, kwhy_gpu_address(work->own), chunk_at(work, done)};
		int why = read_chunk(fileno(work->buffers->file), work->own, copy.bytes, done);

		if (why)
			return cannot_read(why, error);
		status = gpu->ops->copy_host_now(gpu, &copy, error);
	}
	return status ? status : gpu->ops->synchronize(gpu, NULL, error);
}

static void *read_ahead(void *context)
{
	struct ahead *ahead = context;
	const struct kwhy_bench_work *work = ahead->work;
	uint32_t which = 0;

	for (uint64_t done = 0; done < work->bytes && !ahead->error; done += CHUNK_BYTES, which++) {
		while (sem_wait(&ahead->empty))
			;
		ahead->error = read_chunk(fileno(work->buffers->file),
			ahead->slots + which % SLOTS * CHUNK_BYTES, chunk_at(work, done), done);
		sem_post(&ahead->filled);
	}
	return NULL;
}

/*
 * Copies the slots that the reading thread fills, in order. After the copy of a slot is queued, waits for the
 * copy of the slot before and gives that one back to the reading thread.
 */
static enum kwhy_status send_slots(
	struct kwhy_bench_work *work, struct ahead *ahead, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status = KWHY_OK;
	uint32_t which = 0;

	for (uint64_t done = 0; !status && done < work->bytes; done += CHUNK_BYTES, which++) {
		struct kwhy_gpu_copy copy = {work->to_device.to + done,
			kwhy_gpu_address(ahead->slots + which % SLOTS * CHUNK_BYTES), chunk_at(work, done)};

		while (sem_wait(&ahead->filled))
			;
		if (ahead->error)
			return cannot_read(ahead->error, error);
		status = gpu->ops->copy(gpu, buffers->streams[0], &copy, error);
		if (!status)
			status = gpu->ops->event_record(
				gpu, buffers->joins[which % SLOTS], buffers->streams[0], error);
		if (!status && which > 0)
			status = gpu->ops->event_synchronize(gpu, buffers->joins[(which - 1) % SLOTS], error);
		if (which > 0)
			sem_post(&ahead->empty);
	}
	return status;
}

static enum kwhy_status issue_ahead(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct ahead ahead = {.work = work, .slots = work->own};
	enum kwhy_status status;
	pthread_t thread;

	sem_init(&ahead.filled, 0, 0);
	sem_init(&ahead.empty, 0, SLOTS);
	if (pthread_create(&thread, NULL, read_ahead, &ahead)) {
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "no thread for reading ahead; raise ulimit -u");
	} else {
		status = send_slots(work, &ahead, error);
		for (uint64_t done = 0; status && done < work->bytes; done += CHUNK_BYTES)
			sem_post(&ahead.empty); /* after a failure, lets the reading thread, which may wait
						   for an empty slot, run to its end */
		pthread_join(thread, NULL);
	}
	sem_destroy(&ahead.filled);
	sem_destroy(&ahead.empty);
	return status;
}

static enum kwhy_status prepare_lock(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	(void)error;
	work->link_bytes = 0;
	return KWHY_OK;
}

static enum kwhy_status issue_lock(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_host host;
	enum kwhy_status status = gpu->ops->host_new(
		gpu, KWHY_GPU_HOST_PINNED, work->bytes, -1, &host, error);

	if (!status)
		gpu->ops->host_free(gpu, &host);
	return status;
}

const struct kwhy_bench_strategy kwhy_bench_loaders[] = {
	{.id = "loader",
		.title = "a file is read and copied, chunk by chunk",
		.memory = "pageable",
		.directions = H2D,
		.clocks = HOST,
		.least_bytes = MIN_BYTES,
		.most_bytes = MAX_BYTES,
		.prepare = prepare,
		.issue = issue_plain,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_PAGEABLE},
	{.id = "loader-ahead",
		.title = "a thread reads the file ahead into page-locked slots",
		.memory = "pinned",
		.directions = H2D,
		.clocks = HOST,
		.least_bytes = MIN_BYTES,
		.most_bytes = MAX_BYTES,
		.prepare = prepare,
		.issue = issue_ahead,
		.verify = kwhy_bench_verify_sinks,
		.variant = KWHY_BENCH_PINNED},
	{.id = "page-locking",
		.title = "allocating and freeing page-locked memory, nothing moved",
		.memory = "pinned",
		.directions = H2D,
		.clocks = HOST,
		.is_not_a_transfer = true,
		.least_bytes = PAGE_BYTES,
		.most_bytes = MAX_BYTES,
		.prepare = prepare_lock,
		.issue = issue_lock},
	{.id = NULL},
};
