/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/compress.h"

#include "base/file.h"
#include "bench/transfers/strategy.h"

#include <lz4.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compressed transfers. The data was compressed beforehand in chunks, each an LZ4 block. It is copied to the
 * device, where a kernel expands it, with a block of threads for each chunk. Either everything is expanded
 * after the copy, or one group of chunks is expanded while the next is copied. The data is a file that the
 * user names, repeated to the size of the transfer. Without a file the data is the pattern, which cannot be
 * compressed.
 * The number n of groups is chosen for the shortest time. The copy of all groups takes T seconds on the link,
 * each group adds o seconds to that, and after the copy the last group remains to be expanded, which takes
 * about T / n. The extra time n o + T / n is least at n = sqrt(T / o); the code assumes o = 10 us and a link
 * of 50 GB/s. A chunk is expanded by few threads and takes long, so groups are expanded concurrently on
 * several streams. When transfers run back to back, the copy of the next one overwrites compressed bytes on
 * the device that the expansion of the one before still reads. It writes equal bytes, so results are right,
 * but a thread sanitizer reports it.
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define BACK_TO_BACK KWHY_BENCH_BIT(KWHY_TRANSFER_BACK_TO_BACK)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)

enum { CHUNK_BYTES = 1 << 16, THREADS = 32, DATA_MAX_BYTES = 1 << 30 };
#define STRETCH_BYTES 500e3 /* bytes that a link of 50 GB/s moves in 10 us (o above) */
/* largest size for which compression alone is measured, since a CPU thread compresses only about 1 GB/s */
#define COMPRESS_MAX_BYTES (UINT64_C(16) << 20)

struct kwhy_bench_packet {
	struct kwhy_gpu *gpu;
	uint8_t *data; /* the data before compression */
	struct kwhy_gpu_host host;
	struct kwhy_bench_chunk *chunks; /* table of chunks at the start of the memory `host` */
	uint8_t *compressed;		 /* the compressed chunks, which follow the table */
	uint64_t head_bytes;
	uint32_t chunk_count;
	uint64_t device; /* device address of a copy of table and compressed chunks */
	struct kwhy_gpu_event *copied;
};

void kwhy_bench_packet_free(struct kwhy_bench_packet *packet)
{
	if (!packet)
		return;
	if (packet->host.memory)
		packet->gpu->ops->host_free(packet->gpu, &packet->host);
	packet->gpu->ops->memory_free(packet->gpu, packet->device);
	packet->gpu->ops->event_free(packet->gpu, packet->copied);
	free(packet->data);
	free(packet);
}

static enum kwhy_status read_data(
	const struct kwhy_bench_buffers *buffers, uint8_t *data, uint64_t bytes, struct kwhy_error *error)
{
	struct kwhy_text file = {0};
	enum kwhy_status status;

	if (!buffers->data_path) {
		kwhy_bench_pattern_write(data, bytes, buffers->seed, 0);
		return KWHY_OK;
	}
	status = kwhy_file_read(buffers->data_path, DATA_MAX_BYTES, &file, error);
	if (!status && file.length < CHUNK_BYTES)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s has less than 64 KiB, and repeating it would flatter compression; name a larger "
			"file for --data",
			buffers->data_path);
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
	struct kwhy_bench_buffers *buffers, struct kwhy_bench_packet *packet, struct kwhy_error *error)
{
	uint64_t chunks = packet->chunk_count, data_bytes = chunks * CHUNK_BYTES;
	enum kwhy_status status;

	packet->data = malloc(data_bytes + 1);
	if (!packet->data)
		return kwhy_fail_memory(error, "data to compress");
	status = read_data(buffers, packet->data, data_bytes, error);
	if (!status)
		status = buffers->gpu->ops->host_new(buffers->gpu, KWHY_GPU_HOST_PINNED,
			packet->head_bytes + chunks * LZ4_COMPRESSBOUND(CHUNK_BYTES), -1, &packet->host,
			error);
	if (status)
		return status;
	packet->chunks = packet->host.memory;
	packet->compressed = (uint8_t *)packet->host.memory + packet->head_bytes;
	compress_all(packet);
	return KWHY_OK;
}

/* Total size of the first `chunks` chunks after compression, in bytes. */
static uint64_t compressed_bytes(const struct kwhy_bench_packet *packet, uint32_t chunks)
{
	return chunks ? packet->chunks[chunks - 1].from + packet->chunks[chunks - 1].compressed_bytes : 0;
}

static enum kwhy_status try_packet(
	struct kwhy_bench_buffers *buffers, uint64_t bytes, struct kwhy_error *error)
{
	struct kwhy_bench_packet *packet = calloc(1, sizeof(*packet));
	struct kwhy_gpu *gpu = buffers->gpu;
	enum kwhy_status status;

	if (!packet)
		return kwhy_fail_memory(error, "data to compress");
	packet->gpu = gpu;
	packet->chunk_count = (uint32_t)(bytes / CHUNK_BYTES);
	packet->head_bytes = packet->chunk_count * sizeof(*packet->chunks);
	status = fill_packet(buffers, packet, error);
	if (!status)
		status = gpu->ops->memory_new(gpu,
			packet->head_bytes + compressed_bytes(packet, packet->chunk_count), &packet->device,
			error);
	if (!status)
		status = gpu->ops->event_new(gpu, false, &packet->copied, error);
	if (status)
		kwhy_bench_packet_free(packet);
	else
		buffers->packet = packet;
	return status;
}

/*
 * Makes buffers->packet (the compressed data) if there is none or it is too small. It holds data of the full
 * capacity or, if memory is short, of the size of the current transfer.
 */
static enum kwhy_status need_packet(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	enum kwhy_status status;

	if (buffers->packet && (uint64_t)buffers->packet->chunk_count * CHUNK_BYTES >= work->bytes)
		return KWHY_OK;
	kwhy_bench_packet_free(buffers->packet);
	buffers->packet = NULL;
	status = try_packet(buffers, buffers->capacity, error);
	return status == KWHY_E_MEMORY && work->bytes < buffers->capacity
		? try_packet(buffers, work->bytes, error)
		: status;
}

static uint32_t chunks_of(const struct kwhy_bench_work *work)
{
	return (uint32_t)(work->bytes / CHUNK_BYTES);
}

static enum kwhy_status prepare(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = need_packet(work, error);

	if (!status)
		status = kwhy_bench_device(work->buffers, KWHY_BENCH_SINK, &work->to_device.to, error);
	if (!status)
		work->link_bytes = (double)(compressed_bytes(work->buffers->packet, chunks_of(work)) +
			chunks_of(work) * sizeof(struct kwhy_bench_chunk));
	return status;
}

/* Queues the copy of the table of chunks, which the expanding kernel reads, to the device. */
static enum kwhy_status send_table(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	const struct kwhy_bench_packet *packet = work->buffers->packet;
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_copy table = {
		packet->device, kwhy_gpu_address(packet->chunks), chunks_of(work) * sizeof(*packet->chunks)};

	return gpu->ops->copy(gpu, work->buffers->streams[0], &table, error);
}

/* Queues the copy of the compressed chunks `first` to end - 1 to the device, on the first stream. */
static enum kwhy_status send_chunks(
	struct kwhy_bench_work *work, uint32_t first, uint32_t end, struct kwhy_error *error)
{
	const struct kwhy_bench_packet *packet = work->buffers->packet;
	uint64_t from = compressed_bytes(packet, first);
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_copy data = {packet->device + packet->head_bytes + from,
		kwhy_gpu_address(packet->compressed) + from, compressed_bytes(packet, end) - from};

	return gpu->ops->copy(gpu, work->buffers->streams[0], &data, error);
}

static enum kwhy_status expand_chunks(struct kwhy_bench_work *work, uint32_t first, uint32_t end,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	uint64_t table = buffers->packet->device + first * sizeof(struct kwhy_bench_chunk),
		 from = buffers->packet->device + buffers->packet->head_bytes;
	void *arguments[] = {&table, &from, &work->to_device.to, &buffers->counter};
	struct kwhy_gpu_launch launch = {.kernel = buffers->kernels[KWHY_BENCH_KERNEL_EXPAND],
		.blocks = end - first,
		.threads_per_block = THREADS,
		.arguments = arguments,
		.stream = stream};

	return buffers->gpu->ops->launch(buffers->gpu, &launch, error);
}

static enum kwhy_status send(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = send_table(work, error);

	return status ? status : send_chunks(work, 0, chunks_of(work), error);
}

static enum kwhy_status expand(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	return expand_chunks(work, 0, chunks_of(work), work->buffers->streams[0], error);
}

static enum kwhy_status issue(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = send(work, error);

	return status ? status : expand(work, error);
}

static enum kwhy_status prepare_overlap(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	work->stream_count = KWHY_BENCH_STREAMS;
	return prepare(work, error);
}

/*
 * Queues group number `which`, the chunks `first` to end - 1: its copy on the first stream and, when that has
 * ended, its expansion on one of the other streams.
 */
static enum kwhy_status issue_stretch(
	struct kwhy_bench_work *work, uint32_t which, uint32_t first, uint32_t end, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *buffers = work->buffers;
	struct kwhy_gpu_stream *expanding = buffers->streams[1 + which % (KWHY_BENCH_STREAMS - 1)];
	struct kwhy_gpu_event *copied = buffers->packet->copied;
	enum kwhy_status status = send_chunks(work, first, end, error);

	if (!status)
		status = buffers->gpu->ops->event_record(buffers->gpu, copied, buffers->streams[0], error);
	if (!status)
		status = buffers->gpu->ops->stream_wait(buffers->gpu, expanding, copied, error);
	return status ? status : expand_chunks(work, first, end, expanding, error);
}

static enum kwhy_status issue_overlap(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	uint32_t chunks = chunks_of(work), stretches = (uint32_t)sqrt(work->link_bytes / STRETCH_BYTES);
	uint32_t each;
	enum kwhy_status status = send_table(work, error);

	if (stretches < 2)
		stretches = 2;
	each = (chunks + stretches - 1) / stretches;
	for (uint32_t first = 0, which = 0; !status && first < chunks; first += each, which++)
		status = issue_stretch(
			work, which, first, chunks - first < each ? chunks : first + each, error);
	return status;
}

/* Prepares the measurement of expansion alone: the compressed data is copied to the device now, untimed. */
static enum kwhy_status prepare_expand(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = prepare(work, error);

	work->link_bytes = 0;
	if (!status)
		status = send(work, error);
	return status
		? status
		: work->buffers->gpu->ops->synchronize(work->buffers->gpu, work->buffers->streams[0], error);
}

static enum kwhy_status verify(struct kwhy_bench_work *work, bool *out_same, struct kwhy_error *error)
{
	struct kwhy_gpu_host sink;
	struct kwhy_gpu_copy back = {.from = work->to_device.to, .bytes = work->bytes};
	enum kwhy_status status = kwhy_bench_host(
		work->buffers, KWHY_BENCH_PAGEABLE, KWHY_BENCH_SINK, &sink, error);

	if (status)
		return status;
	back.to = kwhy_gpu_address(sink.memory);
	status = work->buffers->gpu->ops->copy_now(work->buffers->gpu, &back, error);
	*out_same = !status && memcmp(sink.memory, work->buffers->packet->data, work->bytes) == 0;
	return status;
}

/* Prepares the measurement of compression alone, by one CPU thread. */
static enum kwhy_status prepare_compress(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = need_packet(work, error);

	work->link_bytes = 0;
	work->own = malloc(LZ4_COMPRESSBOUND(CHUNK_BYTES));
	return status || work->own ? status : kwhy_fail_memory(error, "data to compress");
}

static enum kwhy_status issue_compress(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	const char *data = (const char *)work->buffers->packet->data;

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
	{.id = "compressed-overlap",
		.title = "LZ4 blocks, some expanded while the next are copied",
		.memory = "pinned",
		.directions = H2D,
		.clocks = BACK_TO_BACK | HOST,
		.least_bytes = 2 * CHUNK_BYTES,
		.step_bytes = CHUNK_BYTES,
		.prepare = prepare_overlap,
		.issue = issue_overlap,
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
		.most_bytes = COMPRESS_MAX_BYTES,
		.prepare = prepare_compress,
		.issue = issue_compress,
		.release = release_compress},
	{.id = NULL},
};
