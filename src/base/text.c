/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kwhy_text_done(struct kwhy_text *text)
{
	free(text->data);
	*text = (struct kwhy_text){0};
}

void kwhy_text_clear(struct kwhy_text *text)
{
	text->length = 0;
	text->failed = false;
	if (text->data)
		text->data[0] = '\0';
}

/* Makes space for `more` further bytes and the NUL. False: memory is, or was, short (`failed`). */
static bool reserve(struct kwhy_text *text, size_t more)
{
	size_t need = text->length + more + 1;
	size_t capacity = text->capacity ? text->capacity : 256;
	char *data;

	if (text->failed)
		return false;
	if (need <= text->capacity)
		return true;
	while (capacity < need)
		capacity *= 2;
	data = realloc(text->data, capacity);
	if (!data) {
		text->failed = true;
		return false;
	}
	text->data = data;
	text->capacity = capacity;
	return true;
}

void kwhy_text_add_bytes(struct kwhy_text *text, const void *bytes, size_t length)
{
	if (!reserve(text, length))
		return;
	if (length)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void kwhy_text_add(struct kwhy_text *text, const char *string)
{
	kwhy_text_add_bytes(text, string, strlen(string));
}

void kwhy_text_add_varint(struct kwhy_text *text, uint64_t value)
{
	unsigned char bytes[10];
	size_t length = 0;

	do {
		bytes[length++] = (unsigned char)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
		value >>= 7;
	} while (value);
	kwhy_text_add_bytes(text, bytes, length);
}

void kwhy_text_addf(struct kwhy_text *text, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || !reserve(text, (size_t)length))
		return;
	va_start(args, format);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
	va_end(args);
	text->length += (size_t)length;
}

void kwhy_text_repeat(struct kwhy_text *text, char character, size_t count)
{
	if (!reserve(text, count))
		return;
	memset(text->data + text->length, character, count);
	text->length += count;
	text->data[text->length] = '\0';
}

enum kwhy_status kwhy_text_check(const struct kwhy_text *text, struct kwhy_error *error)
{
	return text->failed ? kwhy_fail_memory(error, "the text to print") : KWHY_OK;
}

size_t kwhy_text_encode(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xC0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3F));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xE0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3F));
		out[2] = (char)(0x80 | (code & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3F));
	out[2] = (char)(0x80 | (code >> 6 & 0x3F));
	out[3] = (char)(0x80 | (code & 0x3F));
	return 4;
}

size_t kwhy_text_columns(const char *string)
{
	size_t columns = 0;

	for (; *string; string++)
		columns += ((unsigned char)*string & 0xC0) != 0x80;
	return columns;
}

/*
 * Length in bytes of the UTF-8 sequence at `s`, of which `left` bytes are left; 0: it is not well-formed
 * (Unicode 15, table 3-7).
 */
static size_t sequence_length(const unsigned char *s, size_t left)
{
	unsigned char low = 0x80, high = 0xBF;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xC2 || s[0] > 0xF4)
		return 0;
	length = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
	if (left < length)
		return 0;
	low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : low;
	high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : high;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	return length;
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7F;
}

/*
 * Whether a well-formed UTF-8 sequence of more than one byte is a control of terminals (C1), a line or
 * paragraph separator, or one of Unicode's marks of direction (UAX 9), which reorder text. A name with such
 * characters could show other text than it contains.
 */
static bool is_command(const unsigned char *s, size_t length)
{
	if (length == 2)
		return (s[0] == 0xC2 && s[1] < 0xA0) || (s[0] == 0xD8 && s[1] == 0x9C);
	return length == 3 && s[0] == 0xE2 &&
		((s[1] == 0x80 && (s[2] == 0x8E || s[2] == 0x8F || (s[2] >= 0xA8 && s[2] <= 0xAE))) ||
			(s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9));
}

bool kwhy_text_is_clean(const char *bytes, size_t length)
{
	const unsigned char *s = (const unsigned char *)bytes;

	for (size_t i = 0, n; i < length; i += n) {
		n = sequence_length(s + i, length - i);
		if (n == 0 || is_control(s[i]) || is_command(s + i, n))
			return false;
	}
	return true;
}

size_t kwhy_text_sanitize(char *out, const char *bytes, size_t length)
{
	const unsigned char *s = (const unsigned char *)bytes;
	size_t written = 0;

	for (size_t i = 0, n; i < length; i += n ? n : 1) {
		n = sequence_length(s + i, length - i);
		if (n == 0 || is_command(s + i, n)) {
			memcpy(out + written, "\xEF\xBF\xBD", 3);
			written += 3;
		} else if (is_control(s[i])) {
			out[written++] = ' ';
		} else {
			memcpy(out + written, s + i, n);
			written += n;
		}
	}
	out[written] = '\0';
	return written;
}
