/* SPDX-License-Identifier: Apache-2.0 */
#include "report/shown_name.h"

#include <stdint.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6"
#define REPLACEMENT "\xEF\xBF\xBD"

struct code_range {
	uint32_t first, last;
};

/*
 * Ranges of characters that could garble the output: control characters, direction marks, invisible
 * characters, line separators, variation selectors, tags.
 */
static const struct code_range harmful[] = {
	{0x0000, 0x001F},
	{0x007F, 0x009F},
	{0x00AD, 0x00AD},
	{0x034F, 0x034F},
	{0x061C, 0x061C},
	{0x115F, 0x1160},
	{0x17B4, 0x17B5},
	{0x180B, 0x180F},
	{0x200B, 0x200F},
	{0x2028, 0x202E},
	{0x2060, 0x206F},
	{0x3164, 0x3164},
	{0xFE00, 0xFE0F},
	{0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0},
	{0xFFF0, 0xFFFB},
	{0xE0000, 0xE0FFF},
};

/* Ranges of characters that are two columns wide (Unicode East Asian Width W and F, in blocks). */
static const struct code_range wide[] = {
	{0x1100, 0x115F},
	{0x231A, 0x231B},
	{0x23E9, 0x23F3},
	{0x25FD, 0x25FE},
	{0x2614, 0x2615},
	{0x2648, 0x2653},
	{0x26A1, 0x26A1},
	{0x26BD, 0x26BE},
	{0x2705, 0x2705},
	{0x270A, 0x270B},
	{0x2728, 0x2728},
	{0x274C, 0x274E},
	{0x2753, 0x2757},
	{0x2795, 0x2797},
	{0x2B1B, 0x2B1C},
	{0x2B50, 0x2B55},
	{0x2E80, 0x303E},
	{0x3041, 0xA4CF},
	{0xA960, 0xA97F},
	{0xAC00, 0xD7A3},
	{0xF900, 0xFAFF},
	{0xFE10, 0xFE19},
	{0xFE30, 0xFE6F},
	{0xFF00, 0xFF60},
	{0xFFE0, 0xFFE6},
	{0x16FE0, 0x18DFF},
	{0x1AFF0, 0x1B2FF},
	{0x1F004, 0x1F004},
	{0x1F0CF, 0x1F0CF},
	{0x1F18E, 0x1F19A},
	{0x1F200, 0x1F64F},
	{0x1F680, 0x1F6FF},
	{0x1F7E0, 0x1F7EB},
	{0x1F90C, 0x1F9FF},
	{0x1FA70, 0x1FAFF},
	{0x20000, 0x3FFFD},
};

/*
 * Ranges of characters that take no column on a terminal: the most common combining marks, not all of them.
 */
static const struct code_range combining[] = {
	{0x0300, 0x036F},
	{0x0483, 0x0489},
	{0x0591, 0x05BD},
	{0x064B, 0x065F},
	{0x0E31, 0x0E31},
	{0x0E34, 0x0E3A},
	{0x0E47, 0x0E4E},
	{0x1AB0, 0x1AFF},
	{0x1DC0, 0x1DFF},
	{0x20D0, 0x20FF},
	{0xFE20, 0xFE2F},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool is_in(uint32_t code, const struct code_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/*
 * Reads one code point and sets its length in bytes. A byte that is not part of valid UTF-8 has length 1 and
 * gives a code point of the table `harmful`.
 */
static uint32_t decode(const char *text, size_t *out_length)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t length = s[0] < 0x80 ? 1
		: s[0] < 0xC2	    ? 0
		: s[0] < 0xE0	    ? 2
		: s[0] < 0xF0	    ? 3
		: s[0] < 0xF5	    ? 4
				    : 0;
	uint32_t code = length < 2 ? s[0] : s[0] & (0x7Fu >> length);

	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xC0) != 0x80)
			length = 0;
		else
			code = code << 6 | (s[i] & 0x3F);
	}
	*out_length = length ? length : 1;
	return length ? code : 0;
}

static size_t columns_of(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (is_in(code, combining, COUNT_OF(combining)))
		return 0;
	return is_in(code, wide, COUNT_OF(wide)) ? 2 : 1;
}

char *kwhy_shown_clean(struct kwhy_arena *arena, const char *text)
{
	size_t length, written = 0;
	char *out = kwhy_arena_alloc(arena, 3 * strlen(text) + 1, 1);

	if (!out)
		return NULL;
	for (; *text; text += length) {
		uint32_t code = decode(text, &length);

		if ((code < 0x20 || code > 0x7E) && is_in(code, harmful, COUNT_OF(harmful))) {
			memcpy(out + written, REPLACEMENT, 3);
			written += 3;
		} else {
			memcpy(out + written, text, length);
			written += length;
		}
	}
	out[written] = '\0';
	return out;
}

size_t kwhy_shown_columns(const char *text)
{
	size_t columns = 0, length;

	for (; *text; text += length)
		columns += columns_of(decode(text, &length));
	return columns;
}

size_t kwhy_shown_fit(const char *text, size_t columns)
{
	size_t bytes = 0, length;

	while (text[bytes]) {
		size_t width = columns_of(decode(text + bytes, &length));

		if (width > columns)
			break;
		columns -= width;
		bytes += length;
	}
	return bytes;
}

char *kwhy_shown_cut(struct kwhy_arena *arena, const char *text, size_t columns)
{
	if (kwhy_shown_columns(text) <= columns)
		return kwhy_arena_copy(arena, text);
	if (columns == 0)
		return kwhy_arena_copy(arena, "");
	return kwhy_arena_printf(arena, "%.*s" ELLIPSIS, (int)kwhy_shown_fit(text, columns - 1), text);
}
