/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader brings data to the device in chunks. Threads of the loader read chunks ahead (loader_read.c). The
 * caller's thread queues the copies in a stream of the loader, and makes the engine's stream, in which the
 * program's work on the chunks runs, wait for each copy.
 */
#include "transfer/loader.h"

#include "transfer/convert.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4, SLOTS_MAX = 1024, THREADS_MAX = 64 };

#define CHUNK_BYTES (UINT64_C(4) << 20)
/*
 * assumed fixed cost of a chunk in s, by which chunk sizes are chosen: five driver calls; estimated, not
 * measured on this machine
 */
#define OVERHEAD_S 8e-6

static uint64_t chunk_bytes_of(const struct kwhy_transfer_loader_options *options)
{
	uint64_t bytes = options->chunk_bytes;

	if (!bytes && options->copy_s > 0 && options->compute_s > 0)
		bytes = kwhy_transfer_chunk_bytes(
			options->bytes, options->copy_s, options->compute_s, OVERHEAD_S);
	if (!bytes)
		bytes = CHUNK_BYTES;
	return bytes < options->bytes ? bytes : options->bytes;
}

/* Bytes that a chunk of `bytes` bytes has after conversion to options.format. */
static size_t converted_bytes_of(const struct kwhy_transfer_loader *loader, size_t bytes)
{
	return bytes / sizeof(float) * kwhy_transfer_format_bytes(loader->options.format) +
		bytes % sizeof(float);
}

static uint64_t slot_address(const struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	return loader->device + chunk % loader->slots * loader->stride;
}

static enum kwhy_status make_events(struct kwhy_transfer_loader *loader, struct kwhy_error *error)
{
	struct kwhy_transfer *transfer = loader->transfer;
	enum kwhy_status status = KWHY_OK;

	loader->copied = calloc(loader->slots, sizeof(struct kwhy_gpu_event *));
	loader->done = calloc(loader->slots, sizeof(struct kwhy_gpu_event *));
	if (!loader->copied || !loader->done)
		return kwhy_fail_memory(error, "a loader");
	for (uint32_t i = 0; i < loader->slots && !status; i++) {
		status = transfer->ops->event_new(transfer->gpu, false, &loader->copied[i], error);
		if (!status)
			status = transfer->ops->event_new(transfer->gpu, false, &loader->done[i], error);
	}
	return status;
}

static enum kwhy_status make_memory(struct kwhy_transfer_loader *loader, struct kwhy_error *error)
{
	struct kwhy_transfer *transfer = loader->transfer;
	const struct kwhy_transfer_loader_options *options = &loader->options;
	enum kwhy_status status;

	status = transfer->ops->memory_new(
		transfer->gpu, loader->slots * loader->stride, &loader->device, error);
	if (!status && !options->pinned)
		status = transfer->ops->host_new(transfer->gpu, KWHY_GPU_HOST_PINNED,
			loader->slots * loader->stride, transfer->nodes.node[0], &loader->slab, error);
	return status ? status : kwhy_transfer_loader_prepare_converting(loader, error);
}

static enum kwhy_status set_up(struct kwhy_transfer_loader *loader, struct kwhy_error *error)
{
	struct kwhy_transfer *transfer = loader->transfer;
	enum kwhy_status status = transfer->ops->enter(transfer->gpu, error);

	if (!status)
		status = make_events(loader, error);
	if (!status)
		status = make_memory(loader, error);
	if (!status)
		status = transfer->ops->stream_new(transfer->gpu, &loader->stream, error);
	return status ? status : kwhy_transfer_loader_start_reading(loader, error);
}

static void join_list(struct kwhy_transfer_loader *loader)
{
	struct kwhy_transfer *transfer = loader->transfer;

	pthread_mutex_lock(&transfer->loaders_lock);
	loader->next_loader = transfer->loaders;
	transfer->loaders = loader;
	pthread_mutex_unlock(&transfer->loaders_lock);
}

static void leave_list(struct kwhy_transfer_loader *loader)
{
	struct kwhy_transfer_loader **place = &loader->transfer->loaders;

	pthread_mutex_lock(&loader->transfer->loaders_lock);
	while (*place && *place != loader)
		place = &(*place)->next_loader;
	if (*place)
		*place = loader->next_loader;
	pthread_mutex_unlock(&loader->transfer->loaders_lock);
}

void kwhy_transfer_loaders_wake(struct kwhy_transfer *transfer)
{
	pthread_mutex_lock(&transfer->loaders_lock);
	for (struct kwhy_transfer_loader *loader = transfer->loaders; loader; loader = loader->next_loader) {
		pthread_mutex_lock(&loader->lock);
		pthread_cond_broadcast(&loader->changed);
		pthread_mutex_unlock(&loader->lock);
	}
	pthread_mutex_unlock(&transfer->loaders_lock);
}

static bool is_sensible(const struct kwhy_transfer_loader_options *options)
{
	uint64_t chunk_bytes = chunk_bytes_of(options);
	bool converts = options->format != KWHY_TRANSFER_F32;

	return options->bytes > 0 && (options->from != NULL) != (options->read != NULL) &&
		options->slots <= SLOTS_MAX && options->threads <= (options->read ? 1 : THREADS_MAX) &&
		kwhy_transfer_can_convert(options->format, options->scale) &&
		!(options->pinned && ((converts && !options->on_device) || !options->from)) &&
		!(converts && (chunk_bytes % sizeof(float) != 0 || options->bytes % sizeof(float) != 0));
}

static enum kwhy_status take_options(struct kwhy_transfer_loader_options *out,
	const struct kwhy_transfer_loader_options *options, struct kwhy_error *error)
{
	if (options->size <= sizeof(options->size))
		return kwhy_fail(error, KWHY_E_INPUT,
			"struct kwhy_transfer_loader_options: size is %zu; set it to sizeof(struct "
			"kwhy_transfer_loader_options)",
			options->size);
	memset(out, 0, sizeof(*out));
	memcpy(out, options, options->size < sizeof(*out) ? options->size : sizeof(*out));
	if (!is_sensible(out))
		return kwhy_fail(error, KWHY_E_INPUT,
			"a loader needs bytes, either data or a reader, at most %d slots, and whole numbers "
			"where it converts them, which page-locked data cannot be; see kwhy/transfer.h",
			(int)SLOTS_MAX);
	return KWHY_OK;
}

static int refuse(struct kwhy_transfer *transfer, const struct kwhy_error *error)
{
	int code = kwhy_transfer_begin(transfer);

	if (code)
		return code;
	transfer->error = *error;
	kwhy_transfer_end(transfer);
	return kwhy_transfer_code_of(error->status);
}

/*
 * Stores the message of a loader that could not be opened, and returns its code. The engine becomes failed
 * only if the device is lost.
 */
static int explain(struct kwhy_transfer *transfer, enum kwhy_status status, const struct kwhy_error *error)
{
	if (status == KWHY_E_LOST)
		return kwhy_transfer_check_unlocked(transfer, status, error);
	kwhy_transfer_lock_take(&transfer->lock);
	transfer->error = *error;
	kwhy_transfer_lock_give(&transfer->lock);
	return kwhy_transfer_code_of(status);
}

static struct kwhy_transfer_loader *loader_new(
	struct kwhy_transfer *transfer, const struct kwhy_transfer_loader_options *options)
{
	struct kwhy_transfer_loader *loader = calloc(1, sizeof(*loader));

	if (!loader)
		return NULL;
	loader->transfer = transfer;
	loader->options = *options;
	loader->cancels = atomic_load(&transfer->cancels);
	loader->slots = options->slots ? options->slots : SLOTS;
	loader->chunk_bytes = chunk_bytes_of(options);
	loader->count = (options->bytes + loader->chunk_bytes - 1) / loader->chunk_bytes;
	loader->stride = (loader->chunk_bytes + 255) / 256 * 256;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->changed, NULL);
	join_list(loader);
	return loader;
}

int kwhy_transfer_loader_open(struct kwhy_transfer *transfer,
	const struct kwhy_transfer_loader_options *options, struct kwhy_transfer_loader **out)
{
	struct kwhy_transfer_loader_options taken;
	struct kwhy_transfer_loader *loader;
	struct kwhy_error error;
	enum kwhy_status status;

	if (take_options(&taken, options, &error))
		return refuse(transfer, &error);
	loader = loader_new(transfer, &taken);
	status = loader ? set_up(loader, &error) : kwhy_fail_memory(&error, "a loader");
	if (!status) {
		*out = loader;
		return KWHY_TRANSFER_OK;
	}
	kwhy_transfer_loader_close(loader);
	return explain(transfer, status, &error);
}

static int check(struct kwhy_transfer_loader *loader, enum kwhy_status status, const struct kwhy_error *error)
{
	return kwhy_transfer_check_unlocked(loader->transfer, status, error);
}

/*
 * Queues the copy of a chunk that has been read. On the device the copy waits for the program's work on the
 * chunk that had the slot before.
 */
static int issue(struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	const struct kwhy_gpu_ops *ops = loader->transfer->ops;
	struct kwhy_gpu *gpu = loader->transfer->gpu;
	const struct kwhy_transfer_loader_options *options = &loader->options;
	size_t bytes = kwhy_transfer_loader_bytes_of(loader, chunk), slot = chunk % loader->slots;
	struct kwhy_gpu_copy copy = {
		.to = slot_address(loader, chunk),
		.from = options->pinned ? kwhy_gpu_address(options->from) + chunk * loader->chunk_bytes
					: kwhy_gpu_address(kwhy_transfer_loader_slot_memory(loader, chunk)),
		.bytes = kwhy_transfer_loader_converts(loader, true) ? bytes
								     : converted_bytes_of(loader, bytes),
	};
	struct kwhy_error error;
	enum kwhy_status status = KWHY_OK;

	if (chunk >= loader->slots)
		status = ops->stream_wait(gpu, loader->stream, loader->done[slot], &error);
	if (!status)
		status = ops->copy(gpu, loader->stream, &copy, &error);
	if (!status)
		status = ops->event_record(gpu, loader->copied[slot], loader->stream, &error);
	return check(loader, status, &error);
}

/*
 * Whether a chunk can be copied: it has been read, or its source is page-locked memory. The caller holds the
 * loader's lock.
 */
static bool is_filled(const struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	return loader->options.pinned || chunk < loader->issued ||
		loader->filled[chunk % loader->slots] == chunk + 1;
}

/*
 * Queues copies of chunks in order, as long as the next chunk has been read and the caller has finished the
 * chunk that had its slot before.
 */
static int issue_all(struct kwhy_transfer_loader *loader)
{
	int code = KWHY_TRANSFER_OK;

	while (!code) {
		uint64_t chunk;
		bool filled;

		pthread_mutex_lock(&loader->lock);
		chunk = loader->issued;
		filled = chunk < loader->count && is_filled(loader, chunk);
		pthread_mutex_unlock(&loader->lock);
		if (!filled || chunk >= loader->finished + loader->slots)
			break;
		code = issue(loader, chunk);
		if (code)
			break;
		pthread_mutex_lock(&loader->lock);
		loader->issued++;
		pthread_cond_broadcast(&loader->changed);
		pthread_mutex_unlock(&loader->lock);
	}
	return code;
}

static int say(struct kwhy_transfer_loader *loader, int code, const char *words)
{
	kwhy_transfer_lock_take(&loader->transfer->lock);
	if (!loader->transfer->failed)
		code = kwhy_transfer_fail(loader->transfer, code, "%s", words);
	else
		code = loader->transfer->failed;
	kwhy_transfer_lock_give(&loader->transfer->lock);
	return code;
}

/*
 * Returns the code, and sets the message, for a chunk that will not come because its reader or the device
 * failed (`failed` is the code) or because of a cancellation (`failed` is 0).
 */
static int explain_end(struct kwhy_transfer_loader *loader, int failed)
{
	if (failed == KWHY_TRANSFER_E_IO)
		return say(loader, failed, "the reader of a loader failed; see its message");
	if (failed)
		return failed;
	return say(loader, KWHY_TRANSFER_CANCELLED, "the loader was cancelled");
}

/*
 * Waits until a chunk has been read. If it will not be read, or transfers were cancelled, returns the code
 * that says why.
 */
static int wait_for_chunk(struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	bool over;
	int failed;

	pthread_mutex_lock(&loader->lock);
	while (!is_filled(loader, chunk) && !kwhy_transfer_loader_is_over(loader))
		pthread_cond_wait(&loader->changed, &loader->lock);
	over = !is_filled(loader, chunk) || atomic_load(&loader->transfer->cancels) != loader->cancels;
	failed = loader->failed;
	pthread_mutex_unlock(&loader->lock);
	return over ? explain_end(loader, failed) : KWHY_TRANSFER_OK;
}

static int enter(struct kwhy_transfer_loader *loader)
{
	struct kwhy_error error;
	int code = kwhy_transfer_begin(loader->transfer);

	if (code)
		return code;
	kwhy_transfer_end(loader->transfer);
	return check(loader, loader->transfer->ops->enter(loader->transfer->gpu, &error), &error);
}

/*
 * Makes the engine's stream wait for the copy of chunk `number`, and queues the chunk's conversion there if
 * the device converts.
 */
static enum kwhy_status let_stream_wait(
	struct kwhy_transfer_loader *loader, uint64_t number, struct kwhy_error *error)
{
	struct kwhy_transfer *transfer = loader->transfer;
	enum kwhy_status status = transfer->ops->stream_wait(
		transfer->gpu, transfer->stream, loader->copied[number % loader->slots], error);

	if (!status && kwhy_transfer_loader_converts(loader, true))
		status = kwhy_transfer_loader_convert(
			loader, number, kwhy_transfer_loader_bytes_of(loader, number) / sizeof(float), error);
	return status;
}

static int hand_out(struct kwhy_transfer_loader *loader, uint64_t number, struct kwhy_transfer_chunk *out)
{
	bool converts = kwhy_transfer_loader_converts(loader, true);
	struct kwhy_transfer_chunk chunk = {
		.size = out->size,
		.offset = number * loader->chunk_bytes,
		.bytes = converted_bytes_of(loader, kwhy_transfer_loader_bytes_of(loader, number)),
		.device = slot_address(loader, number) + (converts ? loader->converted - loader->device : 0),
		.stream = kwhy_transfer_stream(loader->transfer),
	};
	struct kwhy_error error;
	int code = check(loader, let_stream_wait(loader, number, &error), &error);

	if (!code)
		memcpy(out, &chunk, out->size < sizeof(chunk) ? out->size : sizeof(chunk));
	return code;
}

int kwhy_transfer_loader_next(struct kwhy_transfer_loader *loader, struct kwhy_transfer_chunk *out)
{
	uint64_t number = loader->given;
	int code = enter(loader);

	if (code)
		return code;
	if (number == loader->count)
		return KWHY_TRANSFER_END;
	if (number >= loader->finished + loader->slots)
		return say(loader, KWHY_TRANSFER_E_INPUT,
			"all places of a loader are in use; call kwhy_transfer_loader_done() on a chunk "
			"first");
	code = wait_for_chunk(loader, number);
	if (!code)
		code = issue_all(loader);
	if (!code)
		code = hand_out(loader, number, out);
	if (!code)
		loader->given++;
	return code;
}

static enum kwhy_status wait_for_arrival(
	struct kwhy_transfer_loader *loader, uint64_t number, struct kwhy_error *error)
{
	struct kwhy_transfer *transfer = loader->transfer;

	if (kwhy_transfer_loader_converts(loader, true))
		return transfer->ops->synchronize(transfer->gpu, transfer->stream, error);
	return transfer->ops->event_synchronize(transfer->gpu, loader->copied[number % loader->slots], error);
}

int kwhy_transfer_loader_arrived(struct kwhy_transfer_loader *loader, const struct kwhy_transfer_chunk *chunk)
{
	uint64_t number = chunk->offset / loader->chunk_bytes;
	struct kwhy_error error;
	int code = enter(loader);

	if (code)
		return code;
	if (number < loader->finished || number >= loader->given)
		return say(loader, KWHY_TRANSFER_E_INPUT,
			"a chunk is waited for that the loader has not given, or that is done; wait in "
			"between");
	return check(loader, wait_for_arrival(loader, number, &error), &error);
}

int kwhy_transfer_loader_done(struct kwhy_transfer_loader *loader, const struct kwhy_transfer_chunk *chunk)
{
	struct kwhy_transfer *transfer = loader->transfer;
	uint64_t number = loader->finished;
	struct kwhy_error error;
	int code = enter(loader);

	if (code)
		return code;
	if (number >= loader->given || chunk->offset != number * loader->chunk_bytes)
		return say(loader, KWHY_TRANSFER_E_INPUT,
			"a chunk is done that is not the oldest in use; finish chunks in the order they "
			"came");
	code = check(loader,
		transfer->ops->event_record(
			transfer->gpu, loader->done[number % loader->slots], transfer->stream, &error),
		&error);
	if (code)
		return code;
	loader->finished++;
	return issue_all(loader);
}

/*
 * Waits for all work that is queued in the loader's and the engine's streams, so that memory that it uses can
 * be freed; also if the engine has failed, as the device may still be working.
 */
static void wait_for_all(struct kwhy_transfer_loader *loader)
{
	struct kwhy_transfer *transfer = loader->transfer;
	struct kwhy_error error;

	(void)transfer->ops->enter(transfer->gpu, &error);
	if (loader->stream)
		(void)transfer->ops->synchronize(transfer->gpu, loader->stream, &error);
	if (loader->given > loader->finished)
		(void)transfer->ops->synchronize(transfer->gpu, transfer->stream, &error);
	else if (loader->finished > 0)
		(void)transfer->ops->event_synchronize(
			transfer->gpu, loader->done[(loader->finished - 1) % loader->slots], &error);
}

static void free_events(struct kwhy_transfer_loader *loader, struct kwhy_gpu_event **events)
{
	for (uint32_t i = 0; events && i < loader->slots; i++)
		loader->transfer->ops->event_free(loader->transfer->gpu, events[i]);
	free(events);
}

void kwhy_transfer_loader_close(struct kwhy_transfer_loader *loader)
{
	struct kwhy_transfer *transfer;

	if (!loader)
		return;
	transfer = loader->transfer;
	kwhy_transfer_loader_end_reading(loader);
	wait_for_all(loader);
	leave_list(loader);
	kwhy_transfer_loader_end_converting(loader);
	free_events(loader, loader->copied);
	free_events(loader, loader->done);
	transfer->ops->stream_free(transfer->gpu, loader->stream);
	transfer->ops->host_free(transfer->gpu, &loader->slab);
	transfer->ops->memory_free(transfer->gpu, loader->device);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader);
}
