/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_TEE_H
#define KWHY_LAUNCH_TEE_H

#include "base/status.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Receives what a child wrote, in the original chunks and with any bytes. `stream` is 1 or 2 as in a shell,
 * or 0 for both.
 */
typedef void kwhy_output_seen(
	void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length);

/*
 * One output stream of a child, passed through byte for byte and shown to `seen`. It reads no more before it
 * has written all that it holds, and never blocks on the target, so that a slow reader delays only the child.
 */
struct kwhy_tee {
	int child_end, source, target; /* -1: closed */
	int stream;
	kwhy_output_seen *seen;
	void *context;
	char *held; /* [TEE_BYTES] */
	size_t start, end;
	size_t budget; /* bytes that may still be read */
	bool broken;   /* the target has no reader any more */
};

/* `target` is borrowed. The child writes to child_end, which the caller closes once it runs. */
KWHY_MUST_USE enum kwhy_status kwhy_tee_open(struct kwhy_tee *tee, int stream, int target,
	kwhy_output_seen *seen, void *context, struct kwhy_error *error);
void kwhy_tee_close_child_end(struct kwhy_tee *tee);
void kwhy_tee_close(struct kwhy_tee *tee);

/* What to poll for; fd -1: the stream has ended. */
struct pollfd kwhy_tee_wants(const struct kwhy_tee *tee);
/* Reads or writes, as `found` by poll() allows. */
void kwhy_tee_move(struct kwhy_tee *tee, short found);
bool kwhy_tee_holds(const struct kwhy_tee *tee); /* are there bytes not yet written? */

/* To be called when the child has ended: only what is in the pipe now is still read. */
void kwhy_tee_last(struct kwhy_tee *tee);

#endif
