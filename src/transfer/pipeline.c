/* SPDX-License-Identifier: Apache-2.0 */
/* kwhy_transfer_stream_through(): loads all chunks and calls the program's compute function for each. */
#include "transfer/loader.h"

static int fail_compute(struct kwhy_transfer *transfer)
{
	int code = kwhy_transfer_begin(transfer);

	if (code)
		return code;
	code = kwhy_transfer_fail(
		transfer, KWHY_TRANSFER_E_IO, "the work on a chunk failed; see its message");
	kwhy_transfer_end(transfer);
	return code;
}

/*
 * For the host back end: queues a kernel that calls `compute`, so that the thread that works for the stream
 * calls it after the chunk's copy. *failed is set there if `compute` fails.
 */
static int compute_on_host(struct kwhy_transfer *transfer, kwhy_transfer_compute *compute, void *context,
	struct kwhy_transfer_chunk *chunk, atomic_int *failed)
{
	void *arguments[] = {&compute, &context, &failed, chunk};
	struct kwhy_gpu_launch launch = {
		.kernel = transfer->call,
		.blocks = 1,
		.threads_per_block = 1,
		.arguments = arguments,
		.stream = transfer->stream,
	};
	struct kwhy_error error;

	return kwhy_transfer_check_unlocked(
		transfer, transfer->ops->launch(transfer->gpu, &launch, &error), &error);
}

static int work_on(struct kwhy_transfer *transfer, kwhy_transfer_compute *compute, void *context,
	struct kwhy_transfer_chunk *chunk, atomic_int *failed)
{
	if (transfer->call)
		return compute_on_host(transfer, compute, context, chunk, failed);
	if (compute(context, chunk))
		atomic_store(failed, 1);
	return KWHY_TRANSFER_OK;
}

static int run_pipeline(struct kwhy_transfer_loader *loader, kwhy_transfer_compute *compute, void *context,
	atomic_int *failed)
{
	struct kwhy_transfer_chunk chunk = {.size = sizeof(chunk)};
	int code;

	while ((code = kwhy_transfer_loader_next(loader, &chunk)) == KWHY_TRANSFER_OK) {
		code = work_on(loader->transfer, compute, context, &chunk, failed);
		if (!code)
			code = kwhy_transfer_loader_done(loader, &chunk);
		if (code || atomic_load(failed))
			break;
	}
	return code == KWHY_TRANSFER_END ? KWHY_TRANSFER_OK : code;
}

int kwhy_transfer_stream_through(struct kwhy_transfer *transfer,
	const struct kwhy_transfer_loader_options *options, kwhy_transfer_compute *compute, void *context)
{
	struct kwhy_transfer_loader *loader;
	atomic_int failed = 0;
	int code = kwhy_transfer_loader_open(transfer, options, &loader);

	if (code)
		return code;
	code = run_pipeline(loader, compute, context, &failed);
	kwhy_transfer_loader_close(loader); /* waits for queued work, too, so that `failed` is final */
	if (code || !atomic_load(&failed))
		return code;
	return fail_compute(transfer);
}
