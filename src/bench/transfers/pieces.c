/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/strategy.h"

#include <string.h>

/*
 * Transfers of many separate pieces: one copy for each piece; a batch of copies in one call; a graph of
 * copies; or packed pieces. In a transfer of packed pieces to the device, the host packs them into one packet
 * and a kernel unpacks it; in one to the host, a kernel packs them and the host unpacks. The packet is
 * copied, or the kernel accesses it in host memory. A further strategy has a kernel that accesses each piece
 * in host memory.
 */

#define H2D KWHY_BENCH_BIT(KWHY_TRANSFER_H2D)
#define D2H KWHY_BENCH_BIT(KWHY_TRANSFER_D2H)
#define HOST KWHY_BENCH_BIT(KWHY_TRANSFER_BY_HOST)

enum { GRAPH_PIECES_MAX = 1024, THREADS_FEW = 32, THREADS_MANY = 256, PART_BYTES = 4096, PARTS_MAX = 16 };

/* Variants of the strategies that pack pieces; the comments describe transfers to the device. */
enum packing {
	PACK_AND_COPY,	 /* the host packs the pieces, a copy moves the packet, a kernel unpacks it */
	PACK_AND_REACH,	 /* the host packs the pieces; a kernel reads the packet over the link and unpacks it
			  */
	REACH_EACH_PIECE /* a kernel reads each piece over the link at its place in host memory */
};

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

static bool to_host(const struct kwhy_bench_work *work)
{
	return work->direction == KWHY_TRANSFER_D2H;
}

/*
 * Prepares work->to_device or work->to_host as the copy of the first piece; piece i is i * stride bytes
 * further in source and sink.
 */
static enum kwhy_status prepare_ends(
	struct kwhy_bench_work *work, enum kwhy_bench_memory memory, struct kwhy_error *error)
{
	return kwhy_bench_copy_prepare(work, memory, to_host(work), work->piece_bytes, error);
}

static struct kwhy_gpu_copy piece_copy(const struct kwhy_bench_work *work, uint32_t which)
{
	struct kwhy_gpu_copy copy = to_host(work) ? work->to_host : work->to_device;

	copy.from += which * work->stride;
	copy.to += which * work->stride;
	return copy;
}

static enum kwhy_status prepare_copies(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	return prepare_ends(work, KWHY_BENCH_PINNED, error);
}

static enum kwhy_status issue_copies(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < work->pieces; i++) {
		struct kwhy_gpu_copy copy = piece_copy(work, i);

		status = gpu->ops->copy(gpu, work->buffers->streams[0], &copy, error);
	}
	return status;
}

/*
 * Prepares a batch. The list of copies is in pageable memory, and the time to build it is part of the
 * transfer's time.
 */
static enum kwhy_status prepare_batch(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu_host staging;
	enum kwhy_status status;

	if (!work->buffers->gpu->ops->copy_batch)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the driver has no call for batches of copies (CUDA 12.8 brought it)");
	status = kwhy_bench_host(work->buffers, KWHY_BENCH_PAGEABLE, KWHY_BENCH_STAGING, &staging, error);
	work->own = staging.memory;
	return status ? status : prepare_ends(work, KWHY_BENCH_PINNED, error);
}

static enum kwhy_status issue_batch(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_copy *copies = work->own;

	for (uint32_t i = 0; i < work->pieces; i++)
		copies[i] = piece_copy(work, i);
	return gpu->ops->copy_batch(gpu, work->buffers->streams[0], copies, work->pieces, error);
}

static enum kwhy_status prepare_graph(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	enum kwhy_status status = prepare_copies(work, error);

	return status ? status : kwhy_bench_capture(work, issue_copies, error);
}

/*
 * A packet in page-locked memory: descriptors of the pieces, then their data, each piece at a multiple of 16
 * bytes.
 */
struct packet {
	struct kwhy_bench_piece *pieces;
	uint8_t *data;
	uint64_t head_bytes, bytes; /* head_bytes: size of the descriptors; bytes: size of the whole packet */
	uint64_t mapped;	    /* address by which kernels access the packet */
	uint64_t device;	    /* address of a buffer on the device to which the packet is copied */
};

static struct packet packet_of(const struct kwhy_bench_work *work)
{
	struct packet packet = {.pieces = work->own, .mapped = work->mapped_packet};

	packet.head_bytes = rounded(work->pieces * sizeof(*packet.pieces));
	packet.data = (uint8_t *)work->own + packet.head_bytes;
	packet.bytes = packet.head_bytes + work->pieces * rounded(work->piece_bytes);
	packet.device = work->buffers->device[KWHY_BENCH_STAGING];
	return packet;
}

static enum kwhy_status prepare_packed(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	bool each = work->strategy->variant == REACH_EACH_PIECE;
	struct kwhy_gpu_host staging;
	uint64_t device;
	enum kwhy_status status = kwhy_bench_mapped(
		work->buffers, KWHY_BENCH_PINNED, KWHY_BENCH_STAGING, &work->mapped_packet, error);

	if (!status)
		status = kwhy_bench_host(
			work->buffers, KWHY_BENCH_PINNED, KWHY_BENCH_STAGING, &staging, error);
	if (!status)
		status = kwhy_bench_device(work->buffers, KWHY_BENCH_STAGING, &device, error);
	if (!status)
		status = prepare_ends(work, each ? KWHY_BENCH_PINNED : KWHY_BENCH_PAGEABLE, error);
	if (!status && each)
		status = kwhy_bench_mapped(work->buffers, KWHY_BENCH_PINNED,
			to_host(work) ? KWHY_BENCH_SINK : KWHY_BENCH_SOURCE, &work->mapped_end, error);
	if (status)
		return status;
	work->own = staging.memory;
	work->link_bytes = (double)packet_of(work).bytes;
	if (each)
		work->link_bytes = (double)(work->bytes + work->pieces * sizeof(struct kwhy_bench_piece));
	return KWHY_OK;
}

/*
 * Writes the descriptors: piece i is at i * stride in its source or sink, and at i * packed in the packet's
 * data or, if pieces are accessed in place, at i * stride in host memory.
 */
static void describe(const struct kwhy_bench_work *work, const struct packet *packet)
{
	uint64_t packed = work->strategy->variant == REACH_EACH_PIECE ? work->stride
								      : rounded(work->piece_bytes);

	for (uint32_t i = 0; i < work->pieces; i++) {
		uint64_t in_packet = i * packed, in_place = i * work->stride;

		packet->pieces[i] = (struct kwhy_bench_piece){
			.from = (uint32_t)(to_host(work) ? in_place : in_packet),
			.to = (uint32_t)(to_host(work) ? in_packet : in_place),
			.bytes = (uint32_t)work->piece_bytes};
	}
}

static void pack(const struct kwhy_bench_work *work, const struct packet *packet)
{
	const uint8_t *source = kwhy_gpu_at(work->to_device.from);

	for (uint32_t i = 0; i < work->pieces; i++)
		memcpy(packet->data + i * rounded(work->piece_bytes), source + i * work->stride,
			work->piece_bytes);
}

static enum kwhy_status launch_pieces(struct kwhy_bench_work *work, uint64_t descriptors, uint64_t to,
	uint64_t from, struct kwhy_error *error)
{
	uint64_t wanted = work->piece_bytes / PART_BYTES;
	uint32_t parts = (uint32_t)(wanted < 1 ? 1 : wanted > PARTS_MAX ? PARTS_MAX : wanted);
	void *arguments[] = {&descriptors, &parts, &to, &from};
	struct kwhy_gpu_launch launch = {.kernel = work->buffers->kernels[KWHY_BENCH_KERNEL_PIECES],
		.blocks = work->pieces * parts,
		.threads_per_block = work->piece_bytes <= 16 * THREADS_FEW ? THREADS_FEW : THREADS_MANY,
		.arguments = arguments,
		.stream = work->buffers->streams[0]};

	return work->buffers->gpu->ops->launch(work->buffers->gpu, &launch, error);
}

static enum kwhy_status send_packet(
	struct kwhy_bench_work *work, const struct packet *packet, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_copy copy = {packet->device, kwhy_gpu_address(packet->pieces), packet->bytes};
	enum kwhy_status status = gpu->ops->copy(gpu, work->buffers->streams[0], &copy, error);

	return status ? status
		      : launch_pieces(work, packet->device, work->to_device.to,
				packet->device + packet->head_bytes, error);
}

static enum kwhy_status fetch_packet(
	struct kwhy_bench_work *work, const struct packet *packet, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = work->buffers->gpu;
	struct kwhy_gpu_copy copy = {kwhy_gpu_address(packet->data), packet->device + packet->head_bytes,
		packet->bytes - packet->head_bytes};
	enum kwhy_status status = launch_pieces(
		work, packet->mapped, packet->device + packet->head_bytes, work->to_host.from, error);

	return status ? status : gpu->ops->copy(gpu, work->buffers->streams[0], &copy, error);
}

static enum kwhy_status issue_packed(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct packet packet = packet_of(work);

	describe(work, &packet);
	if (work->strategy->variant == REACH_EACH_PIECE)
		return to_host(work)
			? launch_pieces(work, packet.mapped, work->mapped_end, work->to_host.from, error)
			: launch_pieces(work, packet.mapped, work->to_device.to, work->mapped_end, error);
	if (!to_host(work))
		pack(work, &packet);
	if (work->strategy->variant == PACK_AND_COPY)
		return to_host(work) ? fetch_packet(work, &packet, error) : send_packet(work, &packet, error);
	return to_host(work) ? launch_pieces(work, packet.mapped, packet.mapped + packet.head_bytes,
				       work->to_host.from, error)
			     : launch_pieces(work, packet.mapped, work->to_device.to,
				       packet.mapped + packet.head_bytes, error);
}

/*
 * Does the host's part of a packed transfer to the host: copies each piece from the packet to its place in
 * the sink.
 */
static enum kwhy_status finish_packed(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	struct packet packet = packet_of(work);
	uint8_t *sink = kwhy_gpu_at(work->to_host.to);

	(void)error;
	if (!to_host(work) || work->strategy->variant == REACH_EACH_PIECE)
		return KWHY_OK;
	for (uint32_t i = 0; i < work->pieces; i++)
		memcpy(sink + i * work->stride, packet.data + i * rounded(work->piece_bytes),
			work->piece_bytes);
	return KWHY_OK;
}

#define PACKED_ROW(name, words, where, kind)                                                              \
	{                                                                                                 \
		.id = name, .title = words, .memory = where, .directions = H2D | D2H, .clocks = HOST,     \
		.is_of_pieces = true, .is_plain = true, .prepare = prepare_packed, .issue = issue_packed, \
		.finish = finish_packed, .verify = kwhy_bench_verify_sinks, .variant = kind               \
	}

const struct kwhy_bench_strategy kwhy_bench_piecewise[] = {
	{.id = "copies",
		.title = "a queued copy for every piece",
		.memory = "pinned",
		.directions = H2D | D2H,
		.clocks = HOST,
		.is_of_pieces = true,
		.is_plain = true,
		.prepare = prepare_copies,
		.issue = issue_copies,
		.verify = kwhy_bench_verify_sinks},
	{.id = "batch",
		.title = "all copies by one call of the driver",
		.memory = "pinned",
		.directions = H2D | D2H,
		.clocks = HOST,
		.is_of_pieces = true,
		.is_plain = true,
		.prepare = prepare_batch,
		.issue = issue_batch,
		.verify = kwhy_bench_verify_sinks},
	{.id = "graph-of-copies",
		.title = "all copies in a graph, launched again",
		.memory = "pinned",
		.directions = H2D | D2H,
		.clocks = HOST,
		.is_of_pieces = true,
		.is_plain = true,
		.most_pieces = GRAPH_PIECES_MAX,
		.prepare = prepare_graph,
		.issue = kwhy_bench_graph_issue,
		.verify = kwhy_bench_verify_sinks,
		.release = kwhy_bench_graph_release},
	PACKED_ROW("packed", "packed, one copy, and a kernel that spreads or gathers",
		"pageable, packed in pinned", PACK_AND_COPY),
	PACKED_ROW("packed-mapped", "packed, and a kernel that reaches the packet over the link",
		"pageable, packed in pinned", PACK_AND_REACH),
	PACKED_ROW("piece-kernel", "a kernel that reaches every piece over the link", "pinned",
		REACH_EACH_PIECE),
	{.id = NULL},
};
