/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/event_json.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ESCAPE_BYTES = 6 }; /* length of an escape such as \ud83d, bytes */

static bool read_escape(const char *at, unsigned long *out_code)
{
	char digits[5] = "";

	if (at[0] != '\\' || at[1] != 'u')
		return false;
	for (size_t i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)at[2 + i]))
			return false;
		digits[i] = at[2 + i];
	}
	*out_code = strtoul(digits, NULL, 16);
	return true;
}

static bool is_pair(unsigned long high, unsigned long low)
{
	return high >= 0xD800 && high < 0xDC00 && low >= 0xDC00 && low < 0xE000;
}

/*
 * Checks the escape or byte at `at`, and returns the number of bytes up to the next one. Replaces half of a
 * surrogate pair, and an escaped NUL, which Jansson does not accept in keys, by the escape of U+FFFD.
 */
static size_t mend_escape(char *at)
{
	static const char replacement[] = {'f', 'f', 'f', 'd'};
	unsigned long code, next;

	if (!read_escape(at, &code))
		return at[0] == '\\' && at[1] ? 2 : 1;
	if (read_escape(at + ESCAPE_BYTES, &next) && is_pair(code, next))
		return 2 * (size_t)ESCAPE_BYTES;
	if (code == 0 || (code >= 0xD800 && code < 0xE000))
		memcpy(at + 2, replacement, sizeof(replacement));
	return ESCAPE_BYTES;
}

static json_t *read_mended(const char *data, size_t length)
{
	char *text = malloc(3 * length + 1);
	json_t *root;

	if (!text)
		return NULL;
	length = kwhy_text_sanitize(text, data, length);
	for (size_t i = 0; i < length;)
		i += mend_escape(text + i);
	root = json_loadb(text, length, 0, NULL);
	free(text);
	return root;
}

json_t *kwhy_llm_event_json(const char *data, size_t length)
{
	json_t *root = json_loadb(data, length, JSON_ALLOW_NUL, NULL);

	return root ? root : read_mended(data, length);
}
