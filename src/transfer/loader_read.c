/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a loader that read chunks ahead into page-locked slots. A slot is filled again once the copy of
 * the chunk that was in it has ended.
 */
#include "transfer/convert.h"
#include "transfer/loader.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

size_t kwhy_transfer_loader_bytes_of(const struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	uint64_t left = loader->options.bytes - chunk * loader->chunk_bytes;

	return left < loader->chunk_bytes ? left : loader->chunk_bytes;
}

static void fail(struct kwhy_transfer_loader *loader, int code)
{
	pthread_mutex_lock(&loader->lock);
	if (!loader->failed)
		loader->failed = code;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

/*
 * Waits until the copy of the chunk that had the slot of `chunk` before has been queued. false: no more
 * chunks are to be read.
 */
static bool wait_for_slot(struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	bool over;

	pthread_mutex_lock(&loader->lock);
	while (chunk >= loader->issued + loader->slots && !kwhy_transfer_loader_is_over(loader))
		pthread_cond_wait(&loader->changed, &loader->lock);
	over = kwhy_transfer_loader_is_over(loader);
	pthread_mutex_unlock(&loader->lock);
	return !over;
}

/*
 * Reads a chunk from its source (memory or the program's function) into its slot, converted if the host
 * converts. KWHY_TRANSFER_E_IO: the program's function failed.
 */
static int read_chunk(struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	const struct kwhy_transfer_loader_options *options = &loader->options;
	bool converts = kwhy_transfer_loader_converts(loader, false);
	uint64_t offset = chunk * loader->chunk_bytes;
	size_t bytes = kwhy_transfer_loader_bytes_of(loader, chunk);
	char *to = kwhy_transfer_loader_slot_memory(loader, chunk);
	const void *from = options->from ? (const char *)options->from + offset : loader->numbers;

	if (!options->from && options->read(options->context, converts ? loader->numbers : to, offset, bytes))
		return KWHY_TRANSFER_E_IO;
	if (converts)
		kwhy_transfer_convert_numbers(to, from, bytes / sizeof(float), options->format,
			kwhy_transfer_inverse(options->format, options->scale));
	else if (options->from)
		memcpy(to, from, bytes);
	return KWHY_TRANSFER_OK;
}

static int refill(struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	struct kwhy_transfer *transfer = loader->transfer;
	struct kwhy_error error;
	int code = KWHY_TRANSFER_OK;

	if (chunk >= loader->slots)
		code = kwhy_transfer_check_unlocked(transfer,
			transfer->ops->event_synchronize(
				transfer->gpu, loader->copied[chunk % loader->slots], &error),
			&error);
	return code ? code : read_chunk(loader, chunk);
}

static int read_one(struct kwhy_transfer_loader *loader, uint64_t chunk)
{
	int code = refill(loader, chunk);

	if (code)
		return code;
	pthread_mutex_lock(&loader->lock);
	loader->filled[chunk % loader->slots] = chunk + 1;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	return KWHY_TRANSFER_OK;
}

static void *read_ahead(void *context)
{
	const struct kwhy_transfer_loader_reader *reader = context;
	struct kwhy_transfer_loader *loader = reader->loader;
	struct kwhy_error error;
	int code = kwhy_transfer_check_unlocked(
		loader->transfer, loader->transfer->ops->enter(loader->transfer->gpu, &error), &error);

	for (uint64_t chunk = reader->first; chunk < loader->count && !code; chunk += loader->reader_count) {
		if (!wait_for_slot(loader, chunk))
			return NULL;
		code = read_one(loader, chunk);
	}
	if (code)
		fail(loader, code);
	return NULL;
}

/*
 * Starts the reading threads with all signals blocked, so that signals are delivered to the program's
 * threads. Returns 0 or the error of pthread_create().
 */
static int start_threads(struct kwhy_transfer_loader *loader)
{
	sigset_t all, before;
	int failed = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (loader->readers_begun < loader->reader_count && !failed) {
		struct kwhy_transfer_loader_reader *reader = &loader->readers[loader->readers_begun];

		*reader = (struct kwhy_transfer_loader_reader){
			.loader = loader, .first = loader->readers_begun};
		failed = pthread_create(&reader->thread, NULL, read_ahead, reader);
		if (!failed)
			loader->readers_begun++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

enum kwhy_status kwhy_transfer_loader_start_reading(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error)
{
	bool converts = !loader->options.from && kwhy_transfer_loader_converts(loader, false);
	int failed;

	if (loader->options.pinned)
		return KWHY_OK;
	loader->reader_count = loader->options.threads ? loader->options.threads : 1;
	loader->readers = calloc(loader->reader_count, sizeof(*loader->readers));
	loader->filled = calloc(loader->slots, sizeof(*loader->filled));
	if (converts)
		loader->numbers = malloc(loader->chunk_bytes);
	if (!loader->readers || !loader->filled || (converts && !loader->numbers))
		return kwhy_fail_memory(error, "a loader");
	failed = start_threads(loader);
	return failed ? kwhy_fail(error, KWHY_E_MEMORY, "no thread to read ahead: %s", strerror(failed))
		      : KWHY_OK;
}

void kwhy_transfer_loader_end_reading(struct kwhy_transfer_loader *loader)
{
	pthread_mutex_lock(&loader->lock);
	loader->ending = true;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	for (uint32_t i = 0; i < loader->readers_begun; i++)
		pthread_join(loader->readers[i].thread, NULL);
	free(loader->numbers);
	free(loader->readers);
	free(loader->filled);
}
