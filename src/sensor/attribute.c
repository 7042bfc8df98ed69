/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/attribute.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kwhy_attribute_path(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name)
{
	int length = snprintf(out, KWHY_ATTRIBUTE_BYTES, "%s/%s", folder, name);

	return length > 0 && length < KWHY_ATTRIBUTE_BYTES;
}

int kwhy_attribute_open(const char *folder, const char *name)
{
	char path[KWHY_ATTRIBUTE_BYTES];

	if (!kwhy_attribute_path(path, folder, name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the file from its start and removes white space at the end of the text. */
static bool read_text(int fd, char out[KWHY_ATTRIBUTE_BYTES])
{
	ssize_t length = pread(fd, out, KWHY_ATTRIBUTE_BYTES - 1, 0);

	if (length < 0)
		return false;
	while (length > 0 && isspace((unsigned char)out[length - 1]))
		length--;
	out[length] = '\0';
	return true;
}

bool kwhy_attribute_text(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name)
{
	int fd = kwhy_attribute_open(folder, name), failure;
	bool good;

	if (fd < 0)
		return false;
	good = read_text(fd, out);
	failure = errno;
	close(fd);
	errno = failure;
	return good;
}

/* Parses a text that must be an integer and nothing else. */
static bool parse(const char *text, int64_t *out)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || errno) {
		errno = EINVAL;
		return false;
	}
	*out = value;
	return true;
}

bool kwhy_attribute_integer(int64_t *out, const char *folder, const char *name)
{
	char text[KWHY_ATTRIBUTE_BYTES];

	return kwhy_attribute_text(text, folder, name) && parse(text, out);
}

bool kwhy_attribute_read(int fd, int64_t *out)
{
	char text[KWHY_ATTRIBUTE_BYTES];

	return read_text(fd, text) && parse(text, out);
}

int64_t kwhy_attribute_number(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);
	int64_t number;

	if (strncmp(name, prefix, length) != 0 || !isdigit((unsigned char)name[length]) ||
		!parse(name + length, &number))
		return -1;
	return number;
}

static int compare(const void *a, const void *b)
{
	int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

	return (first > second) - (first < second);
}

int kwhy_attribute_list(const char *folder, const char *prefix, int64_t *out, int space)
{
	DIR *listing = opendir(folder);
	const struct dirent *entry;
	int count = 0;

	if (!listing)
		return -1;
	while (count < space && (entry = readdir(listing)) != NULL) {
		int64_t number = kwhy_attribute_number(entry->d_name, prefix);

		if (number >= 0)
			out[count++] = number;
	}
	closedir(listing);
	qsort(out, (size_t)count, sizeof(*out), compare);
	return count;
}
