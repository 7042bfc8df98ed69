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
 * grow with the file. The tokens end outside of any string. A value that the window's end cuts is read again
 * from its start in the next window, which may be larger.
 */
struct kwhy_kineto_window {
	struct kwhy_ahead *input;
	struct kwhy_json_index *index;
	const char *path; /* for error messages */
	bool partial;

	char *buffer;
	size_t capacity;
	size_t begin, end; /* range of the buffer that has been read and not passed, bytes */
	size_t reach;	   /* bytes to index at most */
	size_t cut;	   /* bytes indexed */
	char saved;	   /* the byte at `cut`, where a NUL stands now */

	uint64_t offset; /* offset of `begin` in the file, bytes */
	bool ended;	 /* the buffer holds the last bytes of the file */
	bool failed;	 /* `ended` because the file cannot be read further; `failure` says why */
	struct kwhy_error failure;

	/*
	 * Number of bytes that JSON forbids and that were replaced in the buffer, to go on: control
	 * characters inside strings and broken UTF-8.
	 */
	uint64_t mended;
	uint64_t mended_first; /* offset of the first of them in the file, bytes */

	const uint32_t *tokens; /* offsets from kwhy_kineto_window_text(), bytes */
	size_t token_count;
};

/* Largest value, an event or metadata, that is read, in bytes. */
#define KWHY_KINETO_VALUE_MAX_BYTES (64u << 20)

/*
 * Takes over the input, on failure too. `partial`: where a file cannot be read further, it is taken to end.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_open(struct kwhy_kineto_window *window,
	struct kwhy_input *input, const char *path, bool partial, struct kwhy_error *error);
void kwhy_kineto_window_close(struct kwhy_kineto_window *window);

/*
 * Passes `used` bytes of the text and indexes the bytes after them. With used == 0 the next window is larger
 * than the last. If it has no tokens, only white space or the end of the file follows
 * (kwhy_kineto_window_whole()).
 */
KWHY_MUST_USE enum kwhy_status kwhy_kineto_window_next(
	struct kwhy_kineto_window *window, size_t used, struct kwhy_error *error);

/* The text of the window; a NUL follows its last indexed byte. */
static inline const char *kwhy_kineto_window_text(const struct kwhy_kineto_window *window)
{
	return window->buffer + window->begin;
}

/* True when the tokens reach to the end of the file: a value that is incomplete now stays so. */
bool kwhy_kineto_window_whole(const struct kwhy_kineto_window *window);

/*
 * After broken text at `from`: finds in the indexed text where the next event may begin (`}, {"`) or where
 * the events end (`}]` before a key or '}'). False when it has neither: look again in the window that begins
 * at *out_at. The next windows are small, because each further break costs one.
 */
bool kwhy_kineto_window_resume(struct kwhy_kineto_window *window, size_t from, size_t *out_at);

#endif
