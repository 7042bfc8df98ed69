/* SPDX-License-Identifier: Apache-2.0 */
#include "import/json_file.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	char *data;
	size_t length;
};

static enum kwhy_status read_bytes(
	struct bytes *out, const char *path, const char *what, size_t max_mib, struct kwhy_error *error)
{
	const size_t max_bytes = max_mib << 20;
	FILE *file = fopen(path, "re");
	bool failed;

	if (!file)
		return kwhy_fail(error, KWHY_E_IO, "%s (%s) cannot be opened: %s; check the path", path, what,
			strerror(errno));
	out->data = malloc(max_bytes + 1);
	out->length = out->data ? fread(out->data, 1, max_bytes + 1, file) : 0;
	failed = ferror(file) != 0;
	fclose(file);
	if (!out->data)
		return kwhy_fail_memory(error, what);
	if (!failed && out->length <= max_bytes)
		return KWHY_OK;
	free(out->data);
	return failed ? kwhy_fail(error, KWHY_E_IO, "%s (%s) cannot be read; name a file", path, what)
		      : kwhy_fail(error, KWHY_E_INPUT,
				"%s is larger than %zu MiB: that is not a %s; name another file", path,
				max_mib, what);
}

enum kwhy_status kwhy_json_file_load(
	const char *path, const char *what, size_t max_mib, json_t **out_root, struct kwhy_error *error)
{
	enum kwhy_status status;
	struct bytes bytes;
	json_error_t place;

	status = read_bytes(&bytes, path, what, max_mib, error);
	if (status)
		return status;
	*out_root = json_loadb(bytes.data, bytes.length, JSON_REJECT_DUPLICATES, &place);
	free(bytes.data);
	if (!*out_root) {
		char clean[3 * sizeof(place.text) + 1];

		kwhy_text_sanitize(clean, place.text, strlen(place.text));
		return kwhy_fail(error, KWHY_E_INPUT, "%s, line %d, column %d: %s; correct the JSON", path,
			place.line, place.column, clean);
	}
	return KWHY_OK;
}
