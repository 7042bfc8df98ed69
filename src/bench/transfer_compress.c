/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfer_compress.h"

#include "base/file.h"
#include "bench/transfer_strategy.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

/*
 * Data that was compressed beforehand, in chunks of LZ4 blocks, goes over the link and is expanded by a
 * kernel, a block of threads a chunk. What is sent is a file of the user's, repeated to the size, or the
 * pattern, which cannot be compressed.
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define BACK_TO_BACK KWHY_BENCH_BIT(KWHY_TRANSFER_BACK_TO_BACK)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)

enum { CHUNK_BYTES = 1 << 16, THREADS = 32, DATA_MAX_BYTES = 1 << 30 };
#define COMPRESS_MOST_BYTES (UINT64_C(16) << 20) /* a CPU takes a second for a gigabyte */

struct kwhy_bench_packet {
	struct kwhy_gpu *gpu;
	uint8_t *data; /* as it was before */
	struct kwhy_gpu_host host;
	struct kwhy_bench_chunk *chunks; /* at the head of `host` */
	uint8_t *compressed;		 /* behind them */
	uint64_t head_bytes;
	uint32_t chunk_count;
};

void kwhy_bench_packet_free(struct kwhy_bench_packet *packet)
{
	if (!packet)
		return;
	if (packet->host.memory)
		packet->gpu->ops->host_free(packet->gpu, &packet->host);
	free(packet->data);
	free(packet);
}

static enum kwhy_status read_data(
	const struct kwhy_bench_room *room, uint8_t *data, uint64_t bytes, struct kwhy_error *error)
{
	struct kwhy_text file = {0};
	enum kwhy_status status;

	if (!room->data_path) {
		kwhy_bench_pattern_write(data, bytes, room->seed, 0);
		return KWHY_OK;
	}
	status = kwhy_file_read(room->data_path, DATA_MAX_BYTES, &file, error);
	if (!status && file.length < CHUNK_BYTES)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s has less than 64 KiB, and repeating it would flatter compression; name a larger "
			"file for --data",
			room->data_path);
	for (uint64_t done = 0; !status && done < bytes; done += file.length)
		memcpy(data + done, file.data, bytes - done < file.length ? bytes - done : file.length);
	kwhy_text_done(&file);
	return status;
}

static void compress_all(struct kwhy_bench_packet *packet)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < packet->chunk_count; i++) {
		int bytes = LZ4_compress_default((const char *)packet->data + (size_t)i * CHUNK_BYTES,
			(char *)packet->compressed + place, CHUNK_BYTES, LZ4_COMPRESSBOUND(CHUNK_BYTES));

		packet->chunks[i] = (struct kwhy_bench_chunk){
			place, (uint32_t)bytes, i * CHUNK_BYTES, CHUNK_BYTES};
		place += (uint32_t)bytes;
	}
}

static enum kwhy_status fill_packet(
	struct kwhy_bench_room *room, struct kwhy_bench_packet *packet, struct kwhy_error *error)
{
	uint64_t chunks = packet->chunk_count, data_bytes = chunks * CHUNK_BYTES;
	enum kwhy_status status;

	packet->data = malloc(data_bytes + 1);
	if (!packet->data)
		return kwhy_fail_memory(error, "data to compress");
	status = read_data(room, packet->data, data_bytes, error);
	if (!status)
		status = room->gpu->ops->host_new(room->gpu, KWHY_GPU_HOST_PINNED,
			packet->head_bytes + chunks * LZ4_COMPRESSBOUND(CHUNK_BYTES), -1, &packet->host,
			error);
	if (status)
		return status;
	packet->chunks = packet->host.memory;
	packet->compressed = (uint8_t *)packet->host.memory + packet->head_bytes;
	compress_all(packet);
	return KWHY_OK;
}

/* The room has a whole one or none: the next strategy that needs it tries again. */
static enum kwhy_status make_packet(struct kwhy_bench_room *room, struct kwhy_error *error)
{
	struct kwhy_bench_packet *packet = calloc(1, sizeof(*packet));
	enum kwhy_status status;

	if (!packet)
		return kwhy_fail_memory(error, "data to compress");
	packet->gpu = room->gpu;
	packet->chunk_count = (uint32_t)(room->capacity / CHUNK_BYTES);
	packet->head_bytes = packet->chunk_count * sizeof(*packet->chunks);
	status = fill_packet(room, packet, error);
	if (status)
		kwhy_bench_packet_free(packet);
	else
		room->packet = packet;
	return status;
}

/* Behind the chunks' table, on the device too. */
static uint64_t compressed_bytes(const struct kwhy_bench_work *work)
{
	const struct kwhy_bench_chunk *last = &work->room->packet->chunks[work->bytes / CHUNK_BYTES - 1];

	return last->from + last->compressed_bytes;
}

static enum kwhy_status prepare(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	uint64_t staging;
	enum kwhy_status status = work->room->packet ? KWHY_OK : make_packet(work->room, error);

	if (!status)
		status = kwhy_bench_device(work->room, KWHY_BENCH_STAGING, &staging, error);
	if (!status)
		status = kwhy_bench_device(work->room, KWHY_BENCH_SINK, &work->to_device.to, error);
	if (!status)
		work->link_bytes = (double)(compressed_bytes(work) +
			work->bytes / CHUNK_BYTES * sizeof(struct kwhy_bench_chunk));
	return status;
}

static enum kwhy_status send(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_packet *packet = work->room->packet;
	struct kwhy_gpu *gpu = work->room->gpu;
	uint64_t staging = work->room->device[KWHY_BENCH_STAGING];
	struct kwhy_gpu_copy table = {staging, kwhy_gpu_address(packet->chunks),
				     work->bytes / CHUNK_BYTES * sizeof(*packet->chunks)},
			     data = {staging + packet->head_bytes, kwhy_gpu_address(packet->compressed),
				     compressed_bytes(work)};
	enum kwhy_status status = gpu->ops->copy(gpu, work->room->streams[0], &table, error);

	return status ? status : gpu->ops->copy(gpu, work->room->streams[0], &data, error);
}

static enum kwhy_status expand(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_room *room = work->room;
	uint64_t staging = room->device[KWHY_BENCH_STAGING], from = staging + room->packet->head_bytes;
	void *arguments[] = {&staging, &from, &work->to_device.to, &room->counter};
	struct kwhy_gpu_launch launch = {.kernel = room->kernels[KWHY_BENCH_KERNEL_EXPAND],
		.blocks = (uint32_t)(work->bytes / CHUNK_BYTES),
		.threads_per_block = THREADS,
		.arguments = arguments,
		.stream = room->streams[0]};

	return room->gpu->ops->launch(room->gpu, &launch, error);
}

static enum kwhy_status issue(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = send(work, error);

	return status ? status : expand(work, error);
}

/* Expanding alone: what is compressed is on the device already. */
static enum kwhy_status prepare_expand(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = prepare(work, error);

	work->link_bytes = 0;
	if (!status)
		status = send(work, error);
	return status ? status
		      : work->room->gpu->ops->synchronize(work->room->gpu, work->room->streams[0], error);
}

static enum kwhy_status verify(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	struct kwhy_gpu_host sink;
	struct kwhy_gpu_copy back = {.from = work->to_device.to, .bytes = work->bytes};
	enum kwhy_status status = kwhy_bench_host(
		work->room, KWHY_BENCH_PAGEABLE, KWHY_BENCH_SINK, &sink, error);

	if (status)
		return status;
	back.to = kwhy_gpu_address(sink.memory);
	status = work->room->gpu->ops->copy_now(work->room->gpu, &back, error);
	*out_same = !status && memcmp(sink.memory, work->room->packet->data, work->bytes) == 0;
	return status;
}

/* Compressing alone, by one thread of the CPU. */
static enum kwhy_status prepare_compress(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = work->room->packet ? KWHY_OK : make_packet(work->room, error);

	work->link_bytes = 0;
	work->own = malloc(LZ4_COMPRESSBOUND(CHUNK_BYTES));
	return status || work->own ? status : kwhy_fail_memory(error, "data to compress");
}

static enum kwhy_status issue_compress(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	const char *data = (const char *)work->room->packet->data;

	(void)error;
	for (uint64_t done = 0; done < work->bytes; done += CHUNK_BYTES)
		LZ4_compress_default(data + done, work->own, CHUNK_BYTES, LZ4_COMPRESSBOUND(CHUNK_BYTES));
	return KWHY_OK;
}

static void release_compress(struct kwhy_bench_work *work)
{
	free(work->own);
	work->own = NULL;
}

const struct kwhy_bench_strategy kwhy_bench_compression[] = {
	{.id = "compressed",
		.title = "LZ4 blocks made beforehand, expanded on the device",
		.memory = "pinned",
		.directions = H2D,
		.clocks = BACK_TO_BACK | HOST,
		.least_bytes = CHUNK_BYTES,
		.step_bytes = CHUNK_BYTES,
		.prepare = prepare,
		.issue = issue,
		.verify = verify},
	{.id = "expand",
		.title = "the device expanding LZ4 blocks, nothing moved",
		.memory = "none",
		.directions = H2D,
		.clocks = HOST,
		.is_not_a_transfer = true,
		.least_bytes = CHUNK_BYTES,
		.step_bytes = CHUNK_BYTES,
		.prepare = prepare_expand,
		.issue = expand,
		.verify = verify},
	{.id = "compress",
		.title = "one CPU thread making LZ4 blocks, nothing moved",
		.memory = "pageable",
		.directions = H2D,
		.clocks = HOST,
		.is_not_a_transfer = true,
		.least_bytes = CHUNK_BYTES,
		.step_bytes = CHUNK_BYTES,
		.most_bytes = COMPRESS_MOST_BYTES,
		.prepare = prepare_compress,
		.issue = issue_compress,
		.release = release_compress},
	{.id = NULL},
};
