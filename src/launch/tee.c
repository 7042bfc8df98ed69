/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/tee.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEE_BYTES = 65536, PIPE_HOLDS_BYTES = 65536 /* capacity of a pipe; see pipe(7) */ };

enum kwhy_status kwhy_tee_open(struct kwhy_tee *tee, int stream, int target, kwhy_output_seen *seen,
	void *context, struct kwhy_error *error)
{
	int ends[2];
	char *held = malloc(TEE_BYTES);

	if (!held)
		return kwhy_fail_memory(error, "the output of the command");
	if (pipe2(ends, O_CLOEXEC)) {
		free(held);
		return kwhy_fail(error, KWHY_E_IO, "cannot make a pipe: %s", strerror(errno));
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*tee = (struct kwhy_tee){.source = ends[0],
		.child_end = ends[1],
		.target = target,
		.stream = stream,
		.seen = seen,
		.context = context,
		.held = held,
		.budget = SIZE_MAX};
	return KWHY_OK;
}

static void close_file(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

void kwhy_tee_close_child_end(struct kwhy_tee *tee)
{
	if (tee->held)
		close_file(&tee->child_end);
}

void kwhy_tee_close(struct kwhy_tee *tee)
{
	if (!tee->held)
		return;
	close_file(&tee->child_end);
	close_file(&tee->source);
	free(tee->held);
	*tee = (struct kwhy_tee){.source = -1, .child_end = -1, .target = -1};
}

bool kwhy_tee_holds(const struct kwhy_tee *tee)
{
	return tee->start < tee->end;
}

struct pollfd kwhy_tee_wants(const struct kwhy_tee *tee)
{
	if (!tee->held)
		return (struct pollfd){.fd = -1};
	if (tee->start < tee->end)
		return (struct pollfd){.fd = tee->target, .events = POLLOUT};
	return (struct pollfd){.fd = tee->budget ? tee->source : -1, .events = POLLIN};
}

static void take(struct kwhy_tee *tee)
{
	ssize_t got = read(tee->source, tee->held, tee->budget < TEE_BYTES ? tee->budget : TEE_BYTES);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		close_file(&tee->source);
		return;
	}
	tee->start = 0;
	tee->end = (size_t)got;
	if (tee->budget != SIZE_MAX)
		tee->budget -= tee->end;
	tee->seen(tee->context, tee->stream, kwhy_clock_mono_ns(), tee->held, tee->end);
	if (tee->target < 0)
		tee->start = tee->end;
}

/*
 * Writes a part of the held bytes to the target: at most PIPE_BUF, since a pipe that poll() reports as
 * writable takes that many without blocking (pipe(7)).
 */
static void give(struct kwhy_tee *tee)
{
	size_t left = tee->end - tee->start;
	ssize_t put = write(tee->target, tee->held + tee->start, left < PIPE_BUF ? left : PIPE_BUF);

	if (put < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (put < 0) { /* nobody reads the target; with the source closed the command gets EPIPE, as it would
			  without kwhy */
		tee->broken = true;
		tee->start = tee->end;
		close_file(&tee->source);
		return;
	}
	tee->start += (size_t)put;
}

void kwhy_tee_move(struct kwhy_tee *tee, short found)
{
	if (!found || !tee->held)
		return;
	if (tee->start < tee->end)
		give(tee);
	else if (tee->source >= 0)
		take(tee);
}

void kwhy_tee_last(struct kwhy_tee *tee)
{
	tee->budget = PIPE_HOLDS_BYTES;
}
