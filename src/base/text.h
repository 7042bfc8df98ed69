/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_TEXT_H
#define KWHY_BASE_TEXT_H

#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing text. Once memory ran out, further calls that add do nothing (`failed`), so callers need only
 * call kwhy_text_check() at the end. `data` is NUL-terminated; NULL: nothing was added yet. Zero-initialise;
 * free with kwhy_text_done().
 */
struct kwhy_text {
	char *data;
	size_t length;
	size_t capacity;
	bool failed;
};

void kwhy_text_done(struct kwhy_text *text);
void kwhy_text_clear(struct kwhy_text *text);
void kwhy_text_add(struct kwhy_text *text, const char *string);
void kwhy_text_add_bytes(struct kwhy_text *text, const void *bytes, size_t length);
/*
 * Appends an integer as a varint: seven bits per byte, the lowest first; a byte's top bit is set if more
 * bytes follow.
 */
void kwhy_text_add_varint(struct kwhy_text *text, uint64_t value);
void kwhy_text_addf(struct kwhy_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kwhy_text_repeat(struct kwhy_text *text, char character, size_t count);
KWHY_MUST_USE enum kwhy_status kwhy_text_check(const struct kwhy_text *text, struct kwhy_error *error);

/* Writes a code point as UTF-8, without NUL; returns the number of bytes, 1 to 4. */
size_t kwhy_text_encode(uint32_t code, char out[4]);

/* Terminal columns of a UTF-8 string: one per code point; combining marks are not considered. */
size_t kwhy_text_columns(const char *string);

/*
 * Copies `length` bytes as valid UTF-8 that contains no command for a terminal. Each byte that is not valid,
 * each C1 control, line or paragraph separator and mark of direction becomes U+FFFD; ASCII's control
 * characters, also tab and newline, become spaces. `out` needs 3 * length + 1 bytes. Returns the number of
 * bytes written, without the NUL.
 */
size_t kwhy_text_sanitize(char *out, const char *bytes, size_t length);

/* True when kwhy_text_sanitize() would copy the bytes unchanged. */
bool kwhy_text_is_clean(const char *bytes, size_t length);

#endif
