/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_WINDOW_H
#define KWHY_IMPORT_KINETO_WINDOW_H

#include "base/status.h"
#include "import/input_ahead.h"
#include "import/json_bridge.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A piece of a JSON file with its tokens, moved over the file from front to back, so that memory does not
 * grow with the file. The tokens end where no string is open; a value that they cut is read again from its
 * start in the next, if need be larger, window.
 */
struct kwhy_kineto_window {
	struct kwhy_ahead *input;
	struct kwhy_json_index *index;
	const char *path; /* for the words of errors */
	bool partial;

	char *buffer;
	size_t capacity;
	size_t begin, end; /* of the bytes read and not yet passed, in the buffer */
	size_t reach;	   /* how many of them to index at most */
	size_t cut;	   /* how many are indexed */
	char saved;	   /* what stood at the cut; a NUL does now */

	uint64_t offset; /* of `begin` in the file */
	bool ended;	 /* the file has no more bytes than those in the buffer */
	bool failed;	 /* ... because it cannot be read further; `failure` says why */
	struct kwhy_error failure;

	/* Bytes that no JSON may hold, put right in the buffer to go on: control characters inside
	 * strings, broken UTF-8. */
	uint64_t mended;
	uint64_t mended_first; /* place in the file of the first one */

	const uint32_t *tokens; /* relative to kwhy_kineto_window_text() */
	size_t token_count;
};

/* The largest value (event or metadata) taken. */
#define KWHY_KINETO_VALUE_MAX_BYTES (64u << 20)

/*
 * Takes over the input, in failure too. `partial`: a file that cannot be read to its end ends where it
 * breaks.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_open(struct kwhy_kineto_window *window,
	struct kwhy_input *input, const char *path, bool partial, struct kwhy_error *error);
void kwhy_kineto_window_close(struct kwhy_kineto_window *window);

/*
 * Passes `used` bytes of the text and indexes the following. With used == 0 the next window is larger than
 * the last. No tokens at all: nothing but white space follows, or the end (kwhy_kineto_window_whole()).
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_next(
	struct kwhy_kineto_window *window, size_t used, struct kwhy_error *error);

/* The text of the window; a NUL follows its last indexed byte. */
static inline const char *kwhy_kineto_window_text(const struct kwhy_kineto_window *window)
{
	return window->buffer + window->begin;
}

/* The tokens reach to the end of the file: what is not complete now never will be. */
bool kwhy_kineto_window_whole(const struct kwhy_kineto_window *window);

/*
 * After broken text at `from`: finds where the next event may begin (`}, {"`) or the events end (`}]` before
 * a key or '}'), in the indexed text. False when neither is there: look again in the window that begins at
 * *out_at. Makes the next windows small, as each further break costs one.
 */
bool kwhy_kineto_window_resume(struct kwhy_kineto_window *window, size_t from, size_t *out_at);

#endif
