/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_WINDOW_H
#define KWHY_IMPORT_KINETO_WINDOW_H

#include "base/status.h"
#include "import/input_ahead.h"
#include "import/json_bridge.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A part of a JSON file in memory, with its tokens. It moves over the file from front to back, so its memory
 * does not grow with the file. It never ends inside a string. A value that it holds only in part is read
 * again, from the start of the value, in the next window, which may be larger.
 */
struct kwhy_kineto_window {
	struct kwhy_ahead *input;
	struct kwhy_json_index *index;
	const char *path; /* path of the file, for error messages */
	bool partial;

	char *buffer;
	size_t capacity;
	size_t begin, end; /* bytes [begin, end) of the buffer have been read from the file and not been
			      skipped yet */
	size_t reach;	   /* the window may take at most this many of these bytes */
	size_t cut;	   /* the window takes this many of these bytes; `tokens` has their tokens */
	char saved;	   /* the byte behind the window, in whose place a NUL stands */

	uint64_t offset; /* offset of `begin` in the file, bytes */
	bool ended;	 /* the file has been read to its end */
	bool failed;	 /* reading failed, with the error `failure`, so `ended` is set, too */
	struct kwhy_error failure;

	/*
	 * Number of bytes of the file, so far, that JSON does not allow and that were replaced: control
	 * characters inside strings, and invalid UTF-8.
	 */
	uint64_t mended;
	uint64_t mended_first; /* offset in the file of the first replaced byte; UINT64_MAX: none was replaced
				*/

	const uint32_t *tokens; /* offsets of the tokens in kwhy_kineto_window_text(), bytes */
	size_t token_count;
};

/* Largest size of a window, bytes; an event or a member that does not fit is refused. */
#define KWHY_KINETO_VALUE_MAX_BYTES (64u << 20)

/*
 * Opens a window and takes ownership of the input, also on failure. `partial`: if the file cannot be read
 * further, it is treated as if it ended there.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_open(struct kwhy_kineto_window *window,
	struct kwhy_input *input, const char *path, bool partial, struct kwhy_error *error);
void kwhy_kineto_window_close(struct kwhy_kineto_window *window);

/*
 * Moves the window forward by `used` bytes and finds its tokens. `used` 0, except at the first call, doubles
 * the largest size of the window. No tokens: the window has only white space; if kwhy_kineto_window_whole()
 * is then true, the file has ended.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_next(
	struct kwhy_kineto_window *window, size_t used, struct kwhy_error *error);

/* The text of the window, `cut` bytes and a NUL. */
static inline const char *kwhy_kineto_window_text(const struct kwhy_kineto_window *window)
{
	return window->buffer + window->begin;
}

/*
 * Whether the window reaches to the end of the file, so that a value that is incomplete in it is incomplete
 * in the file.
 */
bool kwhy_kineto_window_whole(const struct kwhy_kineto_window *window);

/*
 * Finds the place, from offset `from` of the window on, at which reading may continue after a syntax error:
 * the start of an event (after `}, `), or the ']' that ends the list of events. False: the window has
 * neither; go on in the window that begins at *out_at. After an error windows are small, because each further
 * error needs a new window.
 */
bool kwhy_kineto_window_resume(struct kwhy_kineto_window *window, size_t from, size_t *out_at);

#endif
