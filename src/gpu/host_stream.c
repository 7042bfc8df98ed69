/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/host.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct kwhy_gpu_stream {
	struct kwhy_gpu_host_owned owned;
	pthread_t worker;
	pthread_mutex_t lock; /* protects all members below, except `recording`, which belongs to the
				 recording thread */
	pthread_cond_t queued, ran;
	/*
	 * Numbers of operations since the stream was made: put into the ring, taken from it by the worker,
	 * and finished. put - taken operations are in the ring.
	 */
	uint64_t put, taken, finished;
	uint32_t waiting; /* number of threads that wait for `ran` */
	bool idle, ending;
	struct kwhy_gpu_graph *recording;
	struct kwhy_gpu_host_operation ring[KWHY_GPU_HOST_QUEUE];
};

static struct kwhy_gpu_stream *stream_of(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream)
{
	return stream ? stream : kwhy_gpu_host_of(gpu)->stream;
}

struct kwhy_gpu_graph **kwhy_gpu_host_recording(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream)
{
	return &stream_of(gpu, stream)->recording;
}

static void drop(struct kwhy_gpu_host_operation *operation)
{
	if (operation->verb->drop)
		operation->verb->drop(operation);
}

/*
 * Waits for the next operation of the stream and takes it. false: the stream is ending and has no further
 * operation.
 */
static bool take(struct kwhy_gpu_stream *stream, struct kwhy_gpu_host_operation *out)
{
	bool taken;

	pthread_mutex_lock(&stream->lock);
	while (stream->put == stream->taken && !stream->ending) {
		stream->idle = true;
		pthread_cond_wait(&stream->queued, &stream->lock);
		stream->idle = false;
	}
	taken = stream->put != stream->taken;
	if (taken)
		*out = stream->ring[stream->taken++ % KWHY_GPU_HOST_QUEUE];
	pthread_mutex_unlock(&stream->lock);
	return taken;
}

static void finish(struct kwhy_gpu_stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	stream->finished++;
	if (stream->waiting > 0)
		pthread_cond_broadcast(&stream->ran);
	pthread_mutex_unlock(&stream->lock);
}

static void *work(void *context)
{
	struct kwhy_gpu_stream *stream = context;
	struct kwhy_gpu_host_operation operation;

	kwhy_numa_stay(&stream->owned.gpu->node.cpus);
	while (take(stream, &operation)) {
		operation.verb->run(&operation);
		drop(&operation);
		finish(stream);
	}
	return NULL;
}

/*
 * Waits until the first `finished` operations of the stream have run. The caller holds the lock, which is
 * released while it waits.
 */
static void wait_for(struct kwhy_gpu_stream *stream, uint64_t finished)
{
	stream->waiting++;
	while (stream->finished < finished)
		pthread_cond_wait(&stream->ran, &stream->lock);
	stream->waiting--;
}

static void put(struct kwhy_gpu_stream *stream, const struct kwhy_gpu_host_operation *operation)
{
	pthread_mutex_lock(&stream->lock);
	while (stream->put - stream->taken >= KWHY_GPU_HOST_QUEUE)
		wait_for(stream, stream->finished + 1);
	stream->ring[stream->put++ % KWHY_GPU_HOST_QUEUE] = *operation;
	if (stream->idle)
		pthread_cond_signal(&stream->queued);
	pthread_mutex_unlock(&stream->lock);
}

static enum kwhy_status record(
	struct kwhy_gpu_graph *graph, struct kwhy_gpu_host_operation *operation, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (!operation->verb->recordable)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a graph of the host takes copies, fills and kernels of one stream alone; end the "
			"recording before anything else");
	else
		status = kwhy_gpu_host_record(graph, operation, error);
	if (status)
		drop(operation);
	return status;
}

enum kwhy_status kwhy_gpu_host_queue(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	struct kwhy_gpu_host_operation *operation, struct kwhy_error *error)
{
	stream = stream_of(gpu, stream);
	if (stream->recording)
		return record(stream->recording, operation, error);
	put(stream, operation);
	return KWHY_OK;
}

enum kwhy_status kwhy_gpu_host_synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	stream = stream_of(gpu, stream);
	if (stream->recording)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a stream that records cannot be waited for; end the recording first");
	pthread_mutex_lock(&stream->lock);
	wait_for(stream, stream->put);
	pthread_mutex_unlock(&stream->lock);
	return KWHY_OK;
}

/* Starts the worker with all signals blocked, so that signals are delivered to the program's threads. */
static int start(struct kwhy_gpu_stream *stream)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&stream->worker, NULL, work, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

static void stream_done(struct kwhy_gpu_stream *stream)
{
	pthread_cond_destroy(&stream->ran);
	pthread_cond_destroy(&stream->queued);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
}

void kwhy_gpu_host_stream_release(struct kwhy_gpu_host_owned *owned)
{
	struct kwhy_gpu_stream *stream = (struct kwhy_gpu_stream *)(void *)owned;

	kwhy_gpu_host_forget(owned);
	pthread_mutex_lock(&stream->lock);
	stream->ending = true;
	pthread_cond_signal(&stream->queued);
	pthread_mutex_unlock(&stream->lock);
	pthread_join(stream->worker, NULL);
	if (stream->recording)
		kwhy_gpu_host_graph_free(&owned->gpu->gpu, stream->recording);
	stream_done(stream);
}

enum kwhy_status kwhy_gpu_host_stream_new(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream **out, struct kwhy_error *error)
{
	struct kwhy_gpu_stream *stream = calloc(1, sizeof(*stream));
	int failed;

	if (!stream)
		return kwhy_fail_memory(error, "a stream");
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->queued, NULL);
	pthread_cond_init(&stream->ran, NULL);
	kwhy_gpu_host_keep(gpu, &stream->owned, kwhy_gpu_host_stream_release);
	failed = start(stream);
	if (failed) {
		kwhy_gpu_host_forget(&stream->owned);
		stream_done(stream);
		return kwhy_fail(error, KWHY_E_MEMORY,
			"no thread for a stream of the host: %s; end others first", strerror(failed));
	}
	*out = stream;
	return KWHY_OK;
}

void kwhy_gpu_host_stream_free(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream)
{
	(void)gpu;
	if (stream)
		kwhy_gpu_host_stream_release(&stream->owned);
}
