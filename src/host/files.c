/* SPDX-License-Identifier: Apache-2.0 */
#include "host/facts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool full_path(const struct kwhy_host_facts *facts, const char *path, char out[PATH_MAX])
{
	int length = snprintf(out, PATH_MAX, "%s%s", facts->root, path);

	return length > 0 && length < PATH_MAX;
}

bool kwhy_host_read_line(const struct kwhy_host_facts *facts, const char *path, char *out, size_t out_bytes)
{
	char whole[PATH_MAX];
	FILE *file = full_path(facts, path, whole) ? fopen(whole, "re") : NULL;
	bool found;

	if (!file)
		return false;
	found = fgets(out, (int)out_bytes, file) != NULL;
	fclose(file);
	if (found)
		out[strcspn(out, "\n")] = '\0';
	return found;
}

bool kwhy_host_read_text(const struct kwhy_host_facts *facts, const char *path, char *out, size_t out_bytes)
{
	char whole[PATH_MAX];
	FILE *file = full_path(facts, path, whole) ? fopen(whole, "re") : NULL;
	size_t length;

	if (!file)
		return false;
	length = fread(out, 1, out_bytes - 1, file);
	fclose(file);
	out[length] = '\0';
	return length > 0;
}

bool kwhy_host_read_number(const struct kwhy_host_facts *facts, const char *path, int64_t *out)
{
	char line[64], *end;
	intmax_t value;

	if (!kwhy_host_read_line(facts, path, line, sizeof(line)))
		return false;
	value = strtoimax(line, &end, 10);
	if (end == line || *end)
		return false;
	*out = value;
	return true;
}

bool kwhy_host_exists(const struct kwhy_host_facts *facts, const char *path)
{
	char whole[PATH_MAX];

	return full_path(facts, path, whole) && access(whole, F_OK) == 0;
}

const char *kwhy_host_keep(const struct kwhy_host_facts *facts, const char *text)
{
	return kwhy_arena_copy(facts->arena, text);
}
