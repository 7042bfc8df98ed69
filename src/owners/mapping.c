/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/mapping.h"

#include "owners/small_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FILE_BYTES = 8192 };

static bool is_number(const char *text, size_t length)
{
	return length > 0 && strspn(text, "0123456789") >= length;
}

static void read_line(const char *line, size_t length, struct kwhy_owner *out)
{
	static const char blanks[] = " \t\r";
	size_t word, gap = strspn(line, blanks);

	line += gap < length ? gap : length;
	length -= gap < length ? gap : length;
	word = strcspn(line, " \t\r\n");
	*out = (struct kwhy_owner){.kind = is_number(line, word) ? KWHY_OWNER_SLURM : KWHY_OWNER_MAPPED};
	kwhy_owner_text(out->name, sizeof(out->name), line, word);
	line += word;
	length -= word;
	gap = strspn(line, blanks);
	if (gap < length)
		kwhy_owner_text(out->user, sizeof(out->user), line + gap, strcspn(line + gap, " \t\r\n"));
}

size_t kwhy_mapping_read(
	const char *folder, int32_t index, int32_t mig_index, struct kwhy_owner *out, size_t most)
{
	char path[512], text[FILE_BYTES];
	size_t length, count = 0;

	if (mig_index < 0)
		snprintf(path, sizeof(path), "%s/%" PRId32, folder, index);
	else
		snprintf(path, sizeof(path), "%s/%" PRId32 ".%" PRId32, folder, index, mig_index);
	if (!kwhy_small_file_read(path, text, sizeof(text), &length))
		return 0;
	for (size_t start = 0, end; start < length && count < most; start = end + 1) {
		const char *newline = memchr(text + start, '\n', length - start);

		end = newline ? (size_t)(newline - text) : length;
		read_line(text + start, end - start, &out[count]);
		count += *out[count].name != '\0';
	}
	return count;
}
