/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_TEE_H
#define KWHY_LAUNCH_TEE_H

#include "base/status.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a child wrote, as it came: any bytes. `stream` is 1 or 2 as the shell counts, or 0 for both. */
typedef void kwhy_output_seen(
	void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length);

/*
 * One stream of a child, passed through byte for byte and looked at on the way. Never reads on before what it
 * holds is written, and writes only what the target takes at once, so that nobody waits for a slow reader but
 * the child.
 */
struct kwhy_tee {
	int child_end, source, target; /* -1: closed */
	int stream;
	kwhy_output_seen *seen;
	void *context;
	char *held; /* [TEE_BYTES] */
	size_t start, end;
	size_t budget; /* bytes that may still be taken */
	bool broken;   /* nobody reads the target any more */
};

/* `target` is borrowed. The child writes to child_end, which the caller closes once it runs. */
KWHY_MUST_USE enum kwhy_status kwhy_tee_open(struct kwhy_tee *tee, int stream, int target,
	kwhy_output_seen *seen, void *context, struct kwhy_error *error);
void kwhy_tee_close_child_end(struct kwhy_tee *tee);
void kwhy_tee_close(struct kwhy_tee *tee);

/* What to poll for; fd -1: nothing any more. */
struct pollfd kwhy_tee_wants(const struct kwhy_tee *tee);
/* Does what poll() found possible. */
void kwhy_tee_move(struct kwhy_tee *tee, short found);
bool kwhy_tee_holds(const struct kwhy_tee *tee); /* something that is not written yet */

/* The child has ended: what it wrote lies in the pipe, and no more than that is still taken. */
void kwhy_tee_last(struct kwhy_tee *tee);

#endif
