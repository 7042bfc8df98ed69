/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/text.h"
#include "import/demangle.h"
#include "import/kineto/escape.h"
#include "import/kineto/file.h"

#include <ctype.h>
#include <string.h>

/*
 * Reads the four hexadecimal digits after "\u"; gives 0xFFFD, the replacement character, if they are
 * malformed.
 */
static uint32_t hex4(const char *bytes, size_t length)
{
	uint32_t code = 0;

	if (length < 4)
		return 0xFFFD;
	for (int i = 0; i < 4; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (!isxdigit(c))
			return 0xFFFD;
		code = code << 4 | (uint32_t)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return code;
}

/*
 * Decodes the escape "\uXXXX" at `bytes`, or two such escapes that form a surrogate pair, to UTF-8. Returns
 * the number of bytes read; adds the bytes written to *written.
 */
static size_t unescape_code(const char *bytes, size_t length, char *out, size_t *written)
{
	uint32_t code = hex4(bytes + 2, length - 2), low = 0;
	size_t used = length < 6 ? length : 6;

	if (code >= 0xD800 && code < 0xDC00 && length >= 12 && bytes[6] == '\\' && bytes[7] == 'u')
		low = hex4(bytes + 8, length - 8);
	if (low >= 0xDC00 && low < 0xE000) {
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
		used = 12;
	} else if (code >= 0xD800 && code < 0xE000) {
		code = 0xFFFD;
	}
	*written += kwhy_text_encode(code, out + *written);
	return used;
}

/*
 * Decodes the escape at `bytes`, a backslash and what belongs to it; returns the number of bytes read. The
 * backslash of an escape that JSON does not define is copied.
 */
static size_t unescape_one(const char *bytes, size_t length, char *out, size_t *written)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *known;

	if (length >= 2 && bytes[1] == 'u')
		return unescape_code(bytes, length, out, written);
	known = length >= 2 ? memchr(letters, bytes[1], sizeof(letters) - 1) : NULL;
	if (!known) {
		out[(*written)++] = '\\';
		return 1;
	}
	out[(*written)++] = meant[known - letters];
	return 2;
}

size_t kwhy_kineto_unescape(const char *bytes, size_t length, char out[KWHY_NAME_MAX_BYTES + 8])
{
	size_t written = 0;

	for (size_t at = 0; at < length && written <= KWHY_NAME_MAX_BYTES;) {
		if (bytes[at] == '\\')
			at += unescape_one(bytes + at, length - at, out, &written);
		else
			out[written++] = bytes[at++];
	}
	return written;
}

enum kwhy_status kwhy_kineto_name(struct kwhy_kineto_file *file, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	char plain[KWHY_NAME_MAX_BYTES + 8];

	if (!memchr(bytes, '\\', length))
		return kwhy_demangle_intern(
			&file->recording->names, &file->mangled, bytes, length, out_name, error);
	length = kwhy_kineto_unescape(bytes, length, plain);
	return kwhy_names_intern(&file->recording->names, plain, length, out_name, error);
}

/*
 * Length of a name such as "cudaLaunchKernel_v7000" without "_v" and 4 or 5 digits, the version of the call's
 * parameters. Other names keep their length.
 */
static size_t without_version(const char *bytes, size_t length)
{
	size_t end = length;

	while (end > 0 && length - end < 6 && isdigit((unsigned char)bytes[end - 1]))
		end--;
	if (length - end < 4 || length - end > 5 || end < 3 || bytes[end - 1] != 'v' || bytes[end - 2] != '_')
		return length;
	return end - 2;
}

enum kwhy_status kwhy_kineto_call_name(struct kwhy_kineto_file *file, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	return kwhy_kineto_name(file, bytes, without_version(bytes, length), out_name, error);
}

enum kwhy_status kwhy_kineto_is_collective(
	struct kwhy_kineto_file *file, uint32_t name, bool *out, struct kwhy_error *error)
{
	size_t known = file->collective_capacity;
	enum kwhy_status status = KWHY_OK;
	unsigned char *answer;

	if (name >= known)
		status = kwhy_column_reserve((void **)&file->collective_of_name, &file->collective_capacity,
			name + 1, 1, "names of collectives", error);
	if (status)
		return status;
	if (file->collective_capacity > known)
		memset(file->collective_of_name + known, 0, file->collective_capacity - known);
	answer = &file->collective_of_name[name];
	if (*answer == 0)
		*answer = 1 +
			kwhy_collectives_match(
				file->collectives, kwhy_names_get(&file->recording->names, name));
	*out = *answer == 2;
	return KWHY_OK;
}
