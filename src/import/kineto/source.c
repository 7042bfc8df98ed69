/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"
#include "import/kineto/number.h"
#include "model/host_time.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Offset of a text such as "(54): ", which states a line number; `length` if there is none. *out_end becomes
 * the offset of its ')'.
 */
static size_t find_line(const char *bytes, size_t length, size_t *out_end)
{
	for (size_t at = 0; at < length; at++) {
		size_t end = at + 1;

		if (bytes[at] != '(')
			continue;
		while (end < length && is_digit(bytes[end]))
			end++;
		if (end > at + 1 && length - end >= 3 && !memcmp(bytes + end, "): ", 3)) {
			*out_end = end;
			return at;
		}
	}
	return length;
}

/*
 * Adds a name without the address of an object in it, so that all objects of a type share one name, such as
 * "<built-in method item of Tensor object>". If 127 bytes or more precede the address, the whole name is
 * added, with the address.
 */
static enum kwhy_status read_name(struct kwhy_kineto_file *file, const char *bytes, size_t length,
	uint32_t *out_name, struct kwhy_error *error)
{
	static const char address[] = " at 0x";
	const char *found = memmem(bytes, length, address, sizeof(address) - 1);
	char plain[128];
	size_t kept = found ? (size_t)(found - bytes) : length;

	if (!found || kept + 2 > sizeof(plain))
		return kwhy_kineto_name(file, bytes, length, out_name, error);
	memcpy(plain, bytes, kept);
	plain[kept] = '>';
	return kwhy_kineto_name(file, plain, kept + 1, out_name, error);
}

enum kwhy_status kwhy_kineto_source_read(struct kwhy_kineto_file *file, const char *bytes, size_t length,
	struct kwhy_kineto_source *out, struct kwhy_error *error)
{
	size_t end = 0, at = find_line(bytes, length, &end);
	enum kwhy_status status;
	int64_t line = 0;

	*out = (struct kwhy_kineto_source){0};
	if (at == 0 || at == length)
		return read_name(file, bytes, length, &out->name, error);
	status = kwhy_kineto_name(file, bytes, at, &out->file, error);
	if (!status)
		status = read_name(file, bytes + end + 3, length - end - 3, &out->name, error);
	if (kwhy_kineto_number_integer(bytes + at + 1, end - at - 1, &line) && line <= INT32_MAX)
		out->line = (uint32_t)line;
	return status;
}

enum kwhy_status kwhy_kineto_source_of_stack(struct kwhy_kineto_file *file, const char *bytes, size_t length,
	struct kwhy_kineto_source *out, struct kwhy_error *error)
{
	const char *frame = bytes, *end = bytes + length;

	while (frame < end) {
		const char *next = memchr(frame, ';', (size_t)(end - frame));
		size_t frame_length = (size_t)((next ? next : end) - frame);

		if (!kwhy_source_is_library(frame, frame_length))
			return kwhy_kineto_source_read(file, frame, frame_length, out, error);
		frame += frame_length + 1;
	}
	frame = memchr(bytes, ';', length);
	return kwhy_kineto_source_read(file, bytes, frame ? (size_t)(frame - bytes) : length, out, error);
}
