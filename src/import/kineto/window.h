/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_WINDOW_H
#define KWHY_IMPORT_KINETO_WINDOW_H

#include "base/status.h"
#include "import/input_ahead.h"
#include "import/json_bridge.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A part of a JSON file with its tokens. It moves over the file from front to back, so the memory that it
 * needs does not grow with the file. It never ends inside a string. A value that is incomplete in a window is
 * read again from the value's start in the next window, which may be larger.
 */
struct kwhy_kineto_window {
	struct kwhy_ahead *input;
	struct kwhy_json_index *index;
	const char *path; /* path of the file, for error messages */
	bool partial;

	char *buffer;
	size_t capacity;
	size_t begin,
		end;  /* bytes [begin, end) of the buffer have been read from the file but not used yet */
	size_t reach; /* tokens are searched in at most this many bytes */
	size_t cut;   /* tokens have been found in this many bytes */
	char saved;   /* the byte that was at `cut` before a NUL was written there */

	uint64_t offset; /* offset of `begin` in the file, bytes */
	bool ended;	 /* the buffer has the last bytes of the file */
	bool failed;	 /* reading failed, with the error `failure`, so `ended` is set, too */
	struct kwhy_error failure;

	/*
	 * Number of bytes in the buffer that JSON does not allow and that were replaced: control characters
	 * inside strings, and invalid UTF-8.
	 */
	uint64_t mended;
	uint64_t mended_first; /* offset in the file of the first replaced byte; UINT64_MAX: none was replaced
				*/

	const uint32_t *tokens; /* offsets of the tokens from kwhy_kineto_window_text(), bytes */
	size_t token_count;
};

/* Size of the largest event or member that is read, in bytes. */
#define KWHY_KINETO_VALUE_MAX_BYTES (64u << 20)

/*
 * Opens a window and takes ownership of the input, also on failure. `partial`: if the file cannot be read
 * further, it is treated as if it ended there.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_open(struct kwhy_kineto_window *window,
	struct kwhy_input *input, const char *path, bool partial, struct kwhy_error *error);
void kwhy_kineto_window_close(struct kwhy_kineto_window *window);

/*
 * Skips `used` bytes of the text and finds the tokens of the bytes after them. If `used` is 0, the window
 * is enlarged. A window without tokens holds only white space; if kwhy_kineto_window_whole() is true then,
 * the file has ended.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_next(
	struct kwhy_kineto_window *window, size_t used, struct kwhy_error *error);

/* The text of the window; a NUL follows its last indexed byte. */
static inline const char *kwhy_kineto_window_text(const struct kwhy_kineto_window *window)
{
	return window->buffer + window->begin;
}

/* Whether the tokens reach to the end of the file. An incomplete value is then incomplete in the file. */
bool kwhy_kineto_window_whole(const struct kwhy_kineto_window *window);

/*
 * Finds in the window where reading may continue after a syntax error at `from`: where the next event may
 * begin (`}, {"`), or where the list of events ends (`}]` before a key or '}'). False: the window has
 * neither; search again in the window that begins at *out_at. After an error windows are small, because
 * each further error needs a new window.
 */
bool kwhy_kineto_window_resume(struct kwhy_kineto_window *window, size_t from, size_t *out_at);

#endif
