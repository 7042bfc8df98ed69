/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct kwhy_cuda_stream_opaque *streams;
static struct kwhy_cuda_stream_opaque own[FAKE_DEVICES_MAX]; /* the default stream of each device */

void fake_streams_start(void)
{
	for (int i = 0; i < FAKE_DEVICES_MAX; i++) {
		if (own[i].queue.last)
			continue;
		own[i] = (struct kwhy_cuda_stream_opaque){.device = i, .next = streams};
		own[i].queue.last = &own[i].queue.first;
		streams = &own[i];
	}
}

void fake_streams_end(void)
{
	fake_streams_settle();
	memset(own, 0, sizeof(own));
	streams = NULL;
	fake_streams_start();
}

static kwhy_cuda_stream stream_of(kwhy_cuda_stream stream)
{
	int device = fake_current_device();

	return stream ? stream : &own[device < 0 ? 0 : device];
}

void fake_queue_put(struct fake_queue *queue, const struct fake_operation *operation)
{
	struct fake_operation *copy = fake_new(sizeof(*copy));

	if (!copy)
		abort();
	*copy = *operation;
	copy->next = NULL;
	if (copy->event)
		copy->event->waiting++;
	*queue->last = copy;
	queue->last = &copy->next;
}

static void drop(struct fake_operation *operation)
{
	kwhy_cuda_event event = operation->event;

	fake_kernel_end(operation);
	if (event && --event->waiting == 0 && event->destroyed)
		fake_free(event);
	fake_free(operation);
}

static void drop_first(struct fake_queue *queue)
{
	struct fake_operation *first = queue->first;

	queue->first = first->next;
	if (!queue->first)
		queue->last = &queue->first;
	drop(first);
}

enum kwhy_cuda_result fake_put(kwhy_cuda_stream stream, const struct fake_operation *operation)
{
	if (!stream)
		fake_memory_land();
	stream = stream_of(stream);
	if (fake_current_device() < 0)
		return KWHY_CUDA_INVALID_CONTEXT;
	fake_queue_put(stream->graph ? &stream->graph->queue : &stream->queue, operation);
	return KWHY_CUDA_SUCCESS;
}

/*
 * Runs an operation of the stream. Returns false if it still blocks the stream: a wait for an event, a gate,
 * or a kernel or function of another fake that has not ended.
 */
static bool run(struct fake_operation *operation, kwhy_cuda_stream stream)
{
	int64_t now_ns = fake_now_ns();

	switch (operation->kind) {
	case FAKE_COPY:
		if (operation->bytes <= FAKE_COPY_MAX_BYTES)
			memmove((void *)(uintptr_t)operation->to, (const void *)(uintptr_t)operation->from,
				operation->bytes);
		return true;
	case FAKE_FILL:
		memset((void *)(uintptr_t)operation->to, operation->value, operation->bytes);
		return true;
	case FAKE_KERNEL:
		return fake_kernel_run(operation, stream);
	case FAKE_RECORD:
		operation->event->reached = operation->ticket;
		operation->event->time_ns = stream->free_at_ns > now_ns ? stream->free_at_ns : now_ns;
		return true;
	case FAKE_WAIT:
		if (operation->event->reached < operation->ticket)
			return false;
		if (stream->free_at_ns < operation->event->time_ns)
			stream->free_at_ns = operation->event->time_ns;
		return true;
	case FAKE_CALL:
		return operation->call(operation->context);
	}
	return true;
}

void fake_run_all(void)
{
	bool again = true;

	while (again) {
		again = false;
		for (kwhy_cuda_stream stream = streams; stream; stream = stream->next)
			while (stream->queue.first && run(stream->queue.first, stream)) {
				drop_first(&stream->queue);
				again = true;
			}
	}
}

static bool is_running(void)
{
	for (kwhy_cuda_stream stream = streams; stream; stream = stream->next)
		if (stream->queue.first && stream->queue.first->running)
			return true;
	return false;
}

void fake_streams_settle(void)
{
	while (is_running()) {
		(void)sched_yield();
		fake_run_all();
	}
}

enum kwhy_cuda_result kwhy_fake_gpu_turn(void)
{
	BEGIN("kwhy_fake_gpu_turn");
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result kwhy_fake_gpu_call(kwhy_cuda_stream stream, bool (*call)(void *context), void *context)
{
	const struct fake_operation operation = {.kind = FAKE_CALL, .call = call, .context = context};

	BEGIN("kwhy_fake_gpu_call");
	return fake_end(fake_put(stream, &operation));
}

enum kwhy_cuda_result cuStreamCreate(kwhy_cuda_stream *out_stream, unsigned flags)
{
	kwhy_cuda_stream stream;

	(void)flags;
	BEGIN("cuStreamCreate");
	if (fake_current_device() < 0)
		return fake_end(KWHY_CUDA_INVALID_CONTEXT);
	stream = fake_new(sizeof(*stream));
	if (!stream)
		return fake_end(KWHY_CUDA_OUT_OF_MEMORY);
	stream->device = fake_current_device();
	stream->queue.last = &stream->queue.first;
	stream->next = streams;
	streams = stream;
	*out_stream = stream;
	return fake_end(KWHY_CUDA_SUCCESS);
}

/*
 * Destroys a stream. Operations of it that are blocked then are dropped, whereas a real driver would run them
 * once they are no longer blocked.
 */
enum kwhy_cuda_result cuStreamDestroy_v2(kwhy_cuda_stream stream)
{
	struct kwhy_cuda_stream_opaque **place = &streams;

	BEGIN("cuStreamDestroy_v2");
	fake_run_all();
	fake_streams_settle();
	while (*place != stream)
		place = &(*place)->next;
	*place = stream->next;
	while (stream->queue.first)
		drop_first(&stream->queue);
	fake_free(stream);
	return fake_end(KWHY_CUDA_SUCCESS);
}

static void rest_until(int64_t until_ns)
{
	struct timespec time = {until_ns / 1000000000, until_ns % 1000000000};

	if (until_ns > fake_now_ns() + 100000)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
			;
	while (fake_now_ns() < until_ns)
		;
}

/*
 * Sets *out_done to whether all operations of the stream have run, and *out_until_ns to the time at which a
 * real device would have finished them. The caller waits until then.
 */
static enum kwhy_cuda_result look(
	const char *call, kwhy_cuda_stream stream, bool *out_done, int64_t *out_until_ns)
{
	BEGIN(call);
	if (!stream)
		fake_memory_land();
	fake_run_all();
	stream = stream_of(stream);
	*out_done = !stream->queue.first;
	*out_until_ns = stream->free_at_ns;
	return fake_end(stream->graph ? KWHY_CUDA_CAPTURE_UNSUPPORTED : KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuStreamQuery(kwhy_cuda_stream stream)
{
	int64_t until_ns = 0;
	bool done = false;
	const enum kwhy_cuda_result result = look("cuStreamQuery", stream, &done, &until_ns);

	return result ? result : done && fake_now_ns() >= until_ns ? KWHY_CUDA_SUCCESS : KWHY_CUDA_NOT_READY;
}

#ifndef FAKE_HIP
enum kwhy_cuda_result cuStreamIsCapturing(kwhy_cuda_stream stream, int *out_status)
{
	BEGIN("cuStreamIsCapturing");
	*out_status = stream_of(stream)->graph != NULL;
	return fake_end(KWHY_CUDA_SUCCESS);
}
#endif

enum kwhy_cuda_result cuStreamSynchronize(kwhy_cuda_stream stream)
{
	enum kwhy_cuda_result result;
	const char *call = "cuStreamSynchronize";
	int64_t until_ns = 0;
	bool done = false;

	while ((result = look(call, stream, &done, &until_ns)) == KWHY_CUDA_SUCCESS && !done) {
		rest_until(fake_now_ns() + 20000);
		call = "";
	}
	rest_until(until_ns);
	return result;
}

enum kwhy_cuda_result cuEventCreate(kwhy_cuda_event *out_event, unsigned flags)
{
	kwhy_cuda_event event;

	BEGIN("cuEventCreate");
	event = fake_new(sizeof(*event));
	if (event)
		event->timed = !(flags & KWHY_CUDA_EVENT_DISABLE_TIMING);
	*out_event = event;
	return fake_end(event ? KWHY_CUDA_SUCCESS : KWHY_CUDA_OUT_OF_MEMORY);
}

enum kwhy_cuda_result cuEventDestroy_v2(kwhy_cuda_event event)
{
	BEGIN("cuEventDestroy_v2");
	if (event->waiting)
		event->destroyed = true;
	else
		fake_free(event);
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuEventRecord(kwhy_cuda_event event, kwhy_cuda_stream stream)
{
	struct fake_operation operation = {.kind = FAKE_RECORD, .event = event};

	BEGIN("cuEventRecord");
	operation.ticket = ++event->recorded;
	return fake_end(fake_put(stream, &operation));
}

enum kwhy_cuda_result cuStreamWaitEvent(kwhy_cuda_stream stream, kwhy_cuda_event event, unsigned flags)
{
	struct fake_operation operation = {.kind = FAKE_WAIT, .event = event};

	(void)flags;
	BEGIN("cuStreamWaitEvent");
	operation.ticket = event->recorded;
	return fake_end(fake_put(stream, &operation));
}

enum kwhy_cuda_result cuEventQuery(kwhy_cuda_event event)
{
	bool reached;

	BEGIN("cuEventQuery");
	fake_run_all();
	reached = event->reached == event->recorded && event->time_ns <= fake_now_ns();
	return fake_end(reached ? KWHY_CUDA_SUCCESS : KWHY_CUDA_NOT_READY);
}

enum kwhy_cuda_result cuEventSynchronize(kwhy_cuda_event event)
{
	enum kwhy_cuda_result result;

	while ((result = cuEventQuery(event)) == KWHY_CUDA_NOT_READY)
		rest_until(fake_now_ns() + 20000);
	return result;
}

enum kwhy_cuda_result cuEventElapsedTime(float *out_ms, kwhy_cuda_event start, kwhy_cuda_event end)
{
	enum kwhy_cuda_result result = KWHY_CUDA_SUCCESS;

	BEGIN("cuEventElapsedTime");
	if (!start->timed || !end->timed)
		result = KWHY_CUDA_INVALID_VALUE;
	else if (start->reached != start->recorded || end->reached != end->recorded)
		result = KWHY_CUDA_NOT_READY;
	*out_ms = (float)(end->time_ns - start->time_ns) * 1e-6f;
	return fake_end(result);
}

enum kwhy_cuda_result cuStreamBeginCapture_v2(kwhy_cuda_stream stream, int mode)
{
	kwhy_cuda_graph graph;

	(void)mode;
	BEGIN("cuStreamBeginCapture_v2");
	if (!stream || stream->graph)
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	graph = fake_new(sizeof(*graph));
	if (graph)
		graph->queue.last = &graph->queue.first;
	stream->graph = graph;
	return fake_end(graph ? KWHY_CUDA_SUCCESS : KWHY_CUDA_OUT_OF_MEMORY);
}

enum kwhy_cuda_result cuStreamEndCapture(kwhy_cuda_stream stream, kwhy_cuda_graph *out_graph)
{
	BEGIN("cuStreamEndCapture");
	*out_graph = stream->graph;
	stream->graph = NULL;
	return fake_end(*out_graph ? KWHY_CUDA_SUCCESS : KWHY_CUDA_INVALID_VALUE);
}

/*
 * Appends copies of the operations in `from`, the queue of a graph, to `to`, in order. In place of a child
 * graph its operations are appended.
 */
static void put_all(struct fake_queue *to, const struct fake_queue *from)
{
	for (const struct fake_operation *operation = from->first; operation; operation = operation->next) {
		struct fake_operation copy = *operation;

		copy.node = operation;
		if (operation->child)
			put_all(to, &operation->child->queue);
		else
			fake_queue_put(to, &copy);
	}
}

enum kwhy_cuda_result cuGraphInstantiateWithFlags(
	kwhy_cuda_graph_exec *out_exec, kwhy_cuda_graph graph, unsigned long long flags)
{
	kwhy_cuda_graph copy;

	(void)flags;
	BEGIN("cuGraphInstantiateWithFlags");
	copy = fake_new(sizeof(*copy));
	if (!copy)
		return fake_end(KWHY_CUDA_OUT_OF_MEMORY);
	copy->queue.last = &copy->queue.first;
	put_all(&copy->queue, &graph->queue);
	*out_exec = (kwhy_cuda_graph_exec)(void *)copy;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuGraphLaunch(kwhy_cuda_graph_exec exec, kwhy_cuda_stream stream)
{
	BEGIN("cuGraphLaunch");
	put_all(&stream_of(stream)->queue, &((kwhy_cuda_graph)(void *)exec)->queue);
	return fake_end(KWHY_CUDA_SUCCESS);
}

static enum kwhy_cuda_result destroy(kwhy_cuda_graph graph)
{
	while (graph->queue.first) {
		if (graph->queue.first->child)
			destroy(graph->queue.first->child);
		drop_first(&graph->queue);
	}
	fake_free(graph);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuGraphExecDestroy(kwhy_cuda_graph_exec exec)
{
	BEGIN("cuGraphExecDestroy");
	return fake_end(destroy((kwhy_cuda_graph)(void *)exec));
}

enum kwhy_cuda_result cuGraphDestroy(kwhy_cuda_graph graph)
{
	BEGIN("cuGraphDestroy");
	return fake_end(destroy(graph));
}
