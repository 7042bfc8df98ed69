/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 2, BUFFER_BYTES = 512 << 10 };

/*
 * A piece of decompressed data: bytes [at, size) of it are not read yet. The decompressing thread fills it
 * while `ready` is false; kwhy_ahead_read() takes bytes from it while `ready` is true.
 */
struct buffer {
	unsigned char *bytes;
	size_t at, size;
	bool ready, last; /* last: no buffer follows this one, and `status` says how the input ended (KWHY_OK:
			     without an error) */
	enum kwhy_status status;
	struct kwhy_error error;
};

struct kwhy_ahead {
	struct kwhy_input *input;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock; /* guards `stopping`, and `ready` of each buffer; `changed` is signalled after
				 each change of these */
	pthread_cond_t changed;
	bool stopping;
	struct buffer buffers[BUFFERS];
	size_t next; /* index of the buffer that the reader takes bytes from */
};

/* Waits until buffer->ready has the value `ready`. False: kwhy_ahead_close() was called. */
static bool wait_until(struct kwhy_ahead *ahead, const struct buffer *buffer, bool ready)
{
	bool stopping;

	pthread_mutex_lock(&ahead->lock);
	while (buffer->ready != ready && !ahead->stopping)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	stopping = ahead->stopping;
	pthread_mutex_unlock(&ahead->lock);
	return !stopping;
}

static void set_ready(struct kwhy_ahead *ahead, struct buffer *buffer, bool ready)
{
	pthread_mutex_lock(&ahead->lock);
	buffer->ready = ready;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
}

static void fill(struct kwhy_ahead *ahead, struct buffer *buffer)
{
	buffer->at = buffer->size = 0;
	buffer->status = kwhy_input_read(
		ahead->input, buffer->bytes, BUFFER_BYTES, &buffer->size, &buffer->error);
	buffer->last = buffer->status || buffer->size == 0;
}

static void *run(void *argument)
{
	struct kwhy_ahead *ahead = argument;
	size_t next = 0;

	for (;;) {
		struct buffer *buffer = &ahead->buffers[next];
		bool last;

		if (!wait_until(ahead, buffer, false))
			return NULL;
		fill(ahead, buffer);
		last = buffer->last;
		set_ready(ahead, buffer, true);
		if (last)
			return NULL;
		next = (next + 1) % BUFFERS;
	}
}

static enum kwhy_status start(struct kwhy_ahead *ahead, struct kwhy_error *error)
{
	for (size_t i = 0; i < BUFFERS; i++) {
		ahead->buffers[i].bytes = malloc(BUFFER_BYTES);
		if (!ahead->buffers[i].bytes)
			return kwhy_fail_memory(error, "decompression");
	}
	ahead->threaded = pthread_create(&ahead->thread, NULL, run, ahead) == 0;
	return KWHY_OK;
}

enum kwhy_status kwhy_ahead_open(struct kwhy_input *input, struct kwhy_ahead **out, struct kwhy_error *error)
{
	struct kwhy_ahead *ahead = calloc(1, sizeof(*ahead));
	enum kwhy_status status = KWHY_OK;

	if (!ahead) {
		kwhy_input_close(input);
		return kwhy_fail_memory(error, "reading a file");
	}
	ahead->input = input;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	if (kwhy_input_is_packed(input))
		status = start(ahead, error);
	if (status) {
		kwhy_ahead_close(ahead);
		return status;
	}
	*out = ahead;
	return KWHY_OK;
}

enum kwhy_status kwhy_ahead_read(
	struct kwhy_ahead *ahead, void *out, size_t size, size_t *out_size, struct kwhy_error *error)
{
	struct buffer *buffer = &ahead->buffers[ahead->next];
	size_t left;

	if (!ahead->threaded)
		return kwhy_input_read(ahead->input, out, size, out_size, error);
	wait_until(ahead, buffer, true);
	if (buffer->status) {
		*error = buffer->error;
		return buffer->status;
	}
	left = buffer->size - buffer->at;
	*out_size = left < size ? left : size;
	memcpy(out, buffer->bytes + buffer->at, *out_size);
	buffer->at += *out_size;
	if (buffer->at == buffer->size && !buffer->last) {
		set_ready(ahead, buffer, false);
		ahead->next = (ahead->next + 1) % BUFFERS;
	}
	return KWHY_OK;
}

void kwhy_ahead_close(struct kwhy_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->threaded) {
		pthread_mutex_lock(&ahead->lock);
		ahead->stopping = true;
		pthread_cond_signal(&ahead->changed);
		pthread_mutex_unlock(&ahead->lock);
		pthread_join(ahead->thread, NULL);
	}
	for (size_t i = 0; i < BUFFERS; i++)
		free(ahead->buffers[i].bytes);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	kwhy_input_close(ahead->input);
	free(ahead);
}
