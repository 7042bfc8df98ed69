/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/engine.h"

#include "transfer/kernels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 4096, PIECES_MAX = 1 << 20 };

#define SLOT_BYTES_MAX (UINT64_C(1) << 30)

static const struct kwhy_transfer_options defaults = {
	.slot_bytes = 256 << 10,
	.slots = 8,
	.pieces = 4096,
	/* limits in bytes, measured on an H200: see docs/transfer.md */
	.limits = {.put_packed_bytes = 64 << 10,
		.get_packed_bytes = 64 << 10,
		.batch_bytes = 128 << 10,
		.inline_bytes = 4 << 10},
};

_Static_assert(KWHY_TRANSFER_E_INPUT == (int)KWHY_E_INPUT && KWHY_TRANSFER_E_IO == (int)KWHY_E_IO &&
		KWHY_TRANSFER_E_MEMORY == (int)KWHY_E_MEMORY &&
		KWHY_TRANSFER_E_UNSUPPORTED == (int)KWHY_E_UNSUPPORTED,
	"statuses");
_Static_assert(KWHY_TRANSFER_CUDA == (int)KWHY_GPU_CUDA && KWHY_TRANSFER_HIP == (int)KWHY_GPU_HIP &&
		KWHY_TRANSFER_HOST == (int)KWHY_GPU_HOST,
	"back ends");
_Static_assert(sizeof(((struct kwhy_error *)NULL)->text) == KWHY_TRANSFER_MESSAGE_BYTES, "messages");

int kwhy_transfer_code_of(enum kwhy_status status)
{
	if (status == KWHY_E_LOST)
		return KWHY_TRANSFER_E_DEVICE;
	return status == KWHY_E_USAGE ? KWHY_TRANSFER_E_INPUT : (int)status;
}

int kwhy_transfer_fail(struct kwhy_transfer *transfer, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(transfer->error.text, sizeof(transfer->error.text), format, arguments);
	va_end(arguments);
	return code;
}

int kwhy_transfer_check(struct kwhy_transfer *transfer, enum kwhy_status status)
{
	if (status)
		transfer->failed = KWHY_TRANSFER_E_DEVICE;
	return transfer->failed;
}

int kwhy_transfer_check_unlocked(
	struct kwhy_transfer *transfer, enum kwhy_status status, const struct kwhy_error *error)
{
	if (!status)
		return KWHY_TRANSFER_OK;
	kwhy_transfer_lock_take(&transfer->lock);
	if (!transfer->failed)
		transfer->error = *error;
	transfer->failed = KWHY_TRANSFER_E_DEVICE;
	kwhy_transfer_lock_give(&transfer->lock);
	return KWHY_TRANSFER_E_DEVICE;
}

int kwhy_transfer_begin(struct kwhy_transfer *transfer)
{
	int code;

	kwhy_transfer_lock_take(&transfer->lock);
	code = transfer->failed;
	if (code)
		kwhy_transfer_lock_give(&transfer->lock);
	return code;
}

void kwhy_transfer_end(struct kwhy_transfer *transfer)
{
	kwhy_transfer_lock_give(&transfer->lock);
}

int kwhy_transfer_enter(struct kwhy_transfer *transfer)
{
	return kwhy_transfer_check(transfer, transfer->ops->enter(transfer->gpu, &transfer->error));
}

void kwhy_transfer_message(struct kwhy_transfer *transfer, char *message, size_t message_bytes)
{
	kwhy_transfer_lock_take(&transfer->lock);
	if (message_bytes > 0)
		snprintf(message, message_bytes, "%s", transfer->error.text);
	kwhy_transfer_lock_give(&transfer->lock);
}

/*
 * Copies the options from the caller's struct, which states its own size and may be older or newer than this
 * version's. A size of at most that of a pointer is refused, because the caller then took sizeof of a pointer
 * by mistake. Options that are 0 get defaults.
 */
static enum kwhy_status take_options(struct kwhy_transfer_options *out,
	const struct kwhy_transfer_options *options, struct kwhy_error *error)
{
	if (options && options->size <= sizeof(options->size))
		return kwhy_fail(error, KWHY_E_INPUT,
			"struct kwhy_transfer_options: size is %zu; set it to sizeof(struct "
			"kwhy_transfer_options)",
			options->size);
	memset(out, 0, sizeof(*out));
	if (options)
		memcpy(out, options, options->size < sizeof(*out) ? options->size : sizeof(*out));
	out->slot_bytes = out->slot_bytes ? out->slot_bytes : defaults.slot_bytes;
	out->slots = out->slots ? out->slots : defaults.slots;
	out->pieces = out->pieces ? out->pieces : defaults.pieces;
	if (!out->limits.put_packed_bytes)
		out->limits.put_packed_bytes = defaults.limits.put_packed_bytes;
	if (!out->limits.get_packed_bytes)
		out->limits.get_packed_bytes = defaults.limits.get_packed_bytes;
	if (!out->limits.batch_bytes)
		out->limits.batch_bytes = defaults.limits.batch_bytes;
	if (!out->limits.inline_bytes)
		out->limits.inline_bytes = defaults.limits.inline_bytes;
	return KWHY_OK;
}

static enum kwhy_status check_options(const struct kwhy_transfer_options *options, struct kwhy_error *error)
{
	if (options->backend < 0 || options->backend >= KWHY_GPU_BACKEND_COUNT ||
		options->way < KWHY_TRANSFER_CHOOSE || options->way > KWHY_TRANSFER_INLINE ||
		options->numa < 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a transfer engine cannot have back end %d, method %d and numa %d; give constants of "
			"kwhy/transfer.h",
			options->backend, options->way, options->numa);
	if (options->slot_bytes < KWHY_TRANSFER_SLOT_BYTES_MIN || options->slot_bytes > SLOT_BYTES_MAX ||
		options->slots > SLOTS_MAX || options->slots < 2 || options->pieces > PIECES_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a transfer engine cannot have %u slots of %llu bytes and %u pieces; give 2 to %d "
			"slots of %d bytes to 1 GiB and up to %d pieces",
			options->slots, (unsigned long long)options->slot_bytes, options->pieces,
			(int)SLOTS_MAX, (int)KWHY_TRANSFER_SLOT_BYTES_MIN, (int)PIECES_MAX);
	return KWHY_OK;
}

/*
 * Whether the inline method is possible: it needs kernels that can read an argument of 4 KiB by its address.
 * CUDA has that from Volta on; AMD's GPUs are left out, because it is unknown whether they accept such
 * arguments.
 */
static bool takes_packets(const struct kwhy_transfer *transfer)
{
	enum { VOLTA = 70 };

	return transfer->options.backend == KWHY_TRANSFER_HOST ||
		(transfer->options.backend == KWHY_TRANSFER_CUDA &&
			transfer->gpu->facts.architecture >= VOLTA);
}

static enum kwhy_status find_kernels(struct kwhy_transfer *transfer, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = transfer->ops;
	enum kwhy_status status = ops->module_new(
		transfer->gpu, &kwhy_transfer_kernels, &transfer->module, error);

	if (!status)
		status = ops->kernel_find(
			transfer->gpu, transfer->module, "kwhy_transfer_move", &transfer->move, error);
	if (!status)
		status = ops->kernel_find(transfer->gpu, transfer->module, "kwhy_transfer_move_in_order",
			&transfer->move_in_order, error);
	if (!status && takes_packets(transfer))
		status = ops->kernel_find(transfer->gpu, transfer->module, "kwhy_transfer_move_packet",
			&transfer->move_packet, error);
	if (!status && takes_packets(transfer))
		status = ops->kernel_find(transfer->gpu, transfer->module, "kwhy_transfer_move_packet_2k",
			&transfer->move_short_packet, error);
	if (!status && transfer->options.backend == KWHY_TRANSFER_HOST)
		status = ops->kernel_find(
			transfer->gpu, transfer->module, "kwhy_transfer_call", &transfer->call, error);
	return status;
}

/*
 * Whether a stream is one of the handles that stand for default streams (CU_STREAM_LEGACY is 1,
 * CU_STREAM_PER_THREAD and hipStreamPerThread are 2), in which batched copies are not possible.
 */
static bool is_default_stream(const void *stream)
{
	return (uintptr_t)stream == 1 || (uintptr_t)stream == 2;
}

/*
 * Takes the stream of the options or, if they have none, makes a stream that the engine frees at the end.
 * Also sets has_batch.
 */
static enum kwhy_status take_stream(struct kwhy_transfer *transfer, struct kwhy_error *error)
{
	enum kwhy_status status;

	transfer->has_batch = transfer->ops->copy_batch && !is_default_stream(transfer->options.stream);
	if (transfer->options.stream) {
		transfer->stream = transfer->options.stream;
		return KWHY_OK;
	}
	status = transfer->ops->stream_new(transfer->gpu, &transfer->stream, error);
	transfer->made_stream = !status;
	return status;
}

static enum kwhy_status set_up(struct kwhy_transfer *transfer, struct kwhy_error *error)
{
	const struct kwhy_transfer_options *options = &transfer->options;
	enum kwhy_status status = kwhy_gpu_open(
		(enum kwhy_gpu_backend)options->backend, options->device, &transfer->gpu, error);

	if (status)
		return status;
	transfer->ops = transfer->gpu->ops;
	if (!transfer->nodes.count)
		status = kwhy_transfer_nodes_find(
			&transfer->nodes, "/sys", transfer->gpu->facts.numa_node, options->numa, error);
	if (!status)
		status = transfer->ops->enter(transfer->gpu, error);
	if (!status)
		status = find_kernels(transfer, error);
	if (!status)
		status = take_stream(transfer, error);
	if (!status)
		status = kwhy_transfer_mark_new(transfer, error);
	if (!status)
		status = kwhy_transfer_rings_new(transfer, error);
	return status;
}

static void destroy(struct kwhy_transfer *transfer)
{
	if (transfer->gpu) {
		kwhy_transfer_rings_free(transfer);
		kwhy_transfer_mark_free(transfer);
		kwhy_transfer_memory_free_all(transfer);
		if (transfer->made_stream)
			transfer->ops->stream_free(transfer->gpu, transfer->stream);
		transfer->ops->module_free(transfer->gpu, transfer->module);
		transfer->ops->close(transfer->gpu);
	}
	pthread_mutex_destroy(&transfer->loaders_lock);
	free(transfer);
}

int kwhy_transfer_open(const struct kwhy_transfer_options *options, struct kwhy_transfer **out, char *message,
	size_t message_bytes)
{
	return kwhy_transfer_open_on(options, NULL, out, message, message_bytes);
}

int kwhy_transfer_open_on(const struct kwhy_transfer_options *options,
	const struct kwhy_transfer_nodes *nodes, struct kwhy_transfer **out, char *message,
	size_t message_bytes)
{
	struct kwhy_transfer *transfer = calloc(1, sizeof(*transfer));
	struct kwhy_error error;
	enum kwhy_status status;

	if (!transfer) {
		status = kwhy_fail_memory(&error, "a transfer engine");
	} else {
		transfer->lock = (struct kwhy_transfer_lock){0};
		pthread_mutex_init(&transfer->loaders_lock, NULL);
		if (nodes)
			transfer->nodes = *nodes;
		status = take_options(&transfer->options, options, &error);
		if (!status)
			status = check_options(&transfer->options, &error);
		if (!status)
			status = set_up(transfer, &error);
		if (status)
			destroy(transfer);
	}
	if (!status) {
		*out = transfer;
		return KWHY_TRANSFER_OK;
	}
	if (message && message_bytes > 0)
		snprintf(message, message_bytes, "%s", error.text);
	return kwhy_transfer_code_of(status);
}

void kwhy_transfer_close(struct kwhy_transfer *transfer)
{
	if (!transfer)
		return;
	if (!kwhy_transfer_begin(transfer)) {
		(void)kwhy_transfer_reach(transfer, UINT64_MAX);
		kwhy_transfer_end(transfer);
	}
	/*
	 * Waits also if the engine has failed, because the device may still use the memory that is freed
	 * next.
	 */
	(void)transfer->ops->enter(transfer->gpu, &transfer->error);
	(void)transfer->ops->synchronize(transfer->gpu, transfer->stream, &transfer->error);
	destroy(transfer);
}

int kwhy_transfer_flush(struct kwhy_transfer *transfer, uint64_t *out_ticket)
{
	int code = kwhy_transfer_begin(transfer);

	if (code)
		return code;
	for (int i = 0; i < KWHY_TRANSFER_OPERATION_COUNT && !code; i++)
		code = kwhy_transfer_send(transfer, &transfer->rings[i]);
	if (!code) {
		transfer->flushed++;
		transfer->counts.flushes++;
		transfer->sent_by[transfer->flushed % KWHY_TRANSFER_TICKETS_KEPT] = transfer->sent;
		if (out_ticket)
			*out_ticket = transfer->flushed;
	}
	kwhy_transfer_end(transfer);
	return code;
}

int kwhy_transfer_wait(struct kwhy_transfer *transfer, uint64_t ticket)
{
	unsigned cancels = atomic_load(&transfer->cancels);
	int code = kwhy_transfer_begin(transfer);

	if (code)
		return code;
	if (ticket == 0 || ticket > transfer->flushed)
		code = kwhy_transfer_fail(transfer, KWHY_TRANSFER_E_INPUT,
			"there is no flush %llu to wait for, of %llu so far; give a ticket of "
			"kwhy_transfer_flush()",
			(unsigned long long)ticket, (unsigned long long)transfer->flushed);
	else
		code = kwhy_transfer_reach(transfer, ticket);
	if (!code && atomic_load(&transfer->cancels) != cancels)
		code = kwhy_transfer_fail(
			transfer, KWHY_TRANSFER_CANCELLED, "cancelled while waiting for a flush");
	kwhy_transfer_end(transfer);
	return code;
}

void kwhy_transfer_cancel(struct kwhy_transfer *transfer)
{
	atomic_fetch_add(&transfer->cancels, 1);
	kwhy_transfer_loaders_wake(transfer);
	kwhy_transfer_lock_take(&transfer->lock);
	for (int i = 0; i < KWHY_TRANSFER_OPERATION_COUNT; i++) {
		struct kwhy_transfer_ring *ring = &transfer->rings[i];

		if (ring->open)
			kwhy_transfer_slot_clear(&ring->open->slots[ring->open->at]);
		ring->open = NULL;
	}
	kwhy_transfer_lock_give(&transfer->lock);
}

void *kwhy_transfer_stream(struct kwhy_transfer *transfer)
{
	return transfer->options.backend == KWHY_TRANSFER_HOST ? NULL : transfer->stream;
}

int kwhy_transfer_counts(struct kwhy_transfer *transfer, struct kwhy_transfer_counts *out)
{
	struct kwhy_transfer_counts counts;

	if (out->size < sizeof(out->size))
		return KWHY_TRANSFER_E_INPUT;
	kwhy_transfer_lock_take(&transfer->lock);
	counts = transfer->counts;
	kwhy_transfer_lock_give(&transfer->lock);
	counts.size = out->size < sizeof(counts) ? out->size : sizeof(counts);
	memcpy(out, &counts, counts.size);
	return KWHY_TRANSFER_OK;
}
