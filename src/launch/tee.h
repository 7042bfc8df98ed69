/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_TEE_H
#define KWHY_LAUNCH_TEE_H

#include "base/status.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Receives what a child wrote, in chunks as they were read; they may contain any bytes. `stream` is 1 or 2 as
 * in a shell, or 0 for both.
 */
typedef void kwhy_output_seen(
	void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length);

/*
 * Passes one output stream of a child through to `target`, byte for byte, and shows the bytes to `seen`. It
 * reads more only when it has written everything that it read before, and it never blocks on the target. A
 * slow reader thus delays only the child.
 */
struct kwhy_tee {
	int child_end, source, target; /* descriptors; -1: closed */
	int stream;
	kwhy_output_seen *seen;
	void *context;
	char *held; /* bytes to be written; space for TEE_BYTES */
	size_t start, end;
	size_t budget; /* number of bytes that may still be read */
	bool broken;   /* whether nobody reads from the target any more */
};

/*
 * Opens a tee. `target` is borrowed; -1: the bytes are shown to `seen` alone. The child writes to child_end,
 * which the caller closes once the child is running.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tee_open(struct kwhy_tee *tee, int stream, int target,
	kwhy_output_seen *seen, void *context, struct kwhy_error *error);
void kwhy_tee_close_child_end(struct kwhy_tee *tee);
void kwhy_tee_close(struct kwhy_tee *tee);

/* What poll() should wait for; fd -1: the stream has ended. */
struct pollfd kwhy_tee_wants(const struct kwhy_tee *tee);
/* Reads or writes once, as the events in `found` from poll() allow. */
void kwhy_tee_move(struct kwhy_tee *tee, short found);
bool kwhy_tee_holds(const struct kwhy_tee *tee); /* whether there are bytes that are not written yet */

/*
 * Must be called when the child has ended. After it, only what the pipe contains at this time is still read.
 */
void kwhy_tee_last(struct kwhy_tee *tee);

#endif
