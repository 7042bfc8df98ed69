/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	unsigned kind;
} words[] = {
	{"kernel", KWHY_INJECT_KERNEL},
	{"copy", KWHY_INJECT_COPY},
	{"memset", KWHY_INJECT_MEMSET},
	{"call", KWHY_INJECT_CALL},
	{"overhead", KWHY_INJECT_OVERHEAD},
	{"range", KWHY_INJECT_RANGE},
	{"memory", KWHY_INJECT_MEMORY},
	{"graph", KWHY_INJECT_GRAPH},
	{"line", KWHY_INJECT_LINE},
	{"usual", KWHY_INJECT_USUAL},
};

/*
 * Bits of enum kwhy_inject_kind for the first `length` characters of `word`, which are one word of
 * KWHY_RECORD_KINDS; "usual" gives several bits. 0: unknown word.
 */
static unsigned kind_of(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == length && !memcmp(words[i].word, word, length))
			return words[i].kind;
	return 0;
}

static unsigned read_kinds(const char *text)
{
	unsigned kinds = 0;

	while (text && *text) {
		const size_t length = strcspn(text, ",");

		kinds |= kind_of(text, length);
		text += length + (text[length] == ',');
	}
	return kinds ? kinds : KWHY_INJECT_USUAL;
}

static uint64_t read_number(const char *text, uint64_t least, uint64_t most, uint64_t otherwise)
{
	char *end;
	unsigned long long number;

	if (!text || text[0] < '0' || text[0] > '9')
		return otherwise;
	errno = 0;
	number = strtoull(text, &end, 10);
	return errno || *end || number < least || number > most ? otherwise : number;
}

static bool read_text(char *out, size_t space, const char *text)
{
	const int length = snprintf(out, space, "%s", text ? text : "");

	return length > 0 && (size_t)length < space;
}

static unsigned read_graphs(const char *text)
{
	return text && !strcmp(text, "graph") ? KWHY_INJECT_GRAPH : 0;
}

static unsigned read_lines(const char *text)
{
	return text && !strcmp(text, "off") ? KWHY_INJECT_LINE : 0;
}

static void read_windows(struct kwhy_inject_options *options, char *(*get)(const char *name))
{
	options->from_unix_ns = (int64_t)read_number(get("KWHY_RECORD_FROM"), 0, INT64_MAX / 2, 0);
	options->until_unix_ns = (int64_t)read_number(get("KWHY_RECORD_UNTIL"), 0, INT64_MAX / 2, 0);
	options->origin_unix_ns = (int64_t)read_number(get("KWHY_RECORD_ORIGIN"), 0, INT64_MAX / 2, 0);
	options->share_ppm = (uint32_t)read_number(get("KWHY_RECORD_SHARE_PPM"), 1, 999999, 0);
	options->window_ns = (int64_t)read_number(
		get("KWHY_RECORD_WINDOW_NS"), 1000000, INT64_C(100000000000), 300000000);
	options->seed = read_number(get("KWHY_RECORD_SEED"), 0, UINT64_MAX, 0);
	if (!read_text(options->range, sizeof(options->range), get("KWHY_RECORD_RANGE")))
		options->range[0] = '\0';
}

bool kwhy_inject_options_read(struct kwhy_inject_options *out, char *(*get)(const char *name))
{
	struct kwhy_inject_options options = {
		.limit_bytes = read_number(get("KWHY_RECORD_MAX_BYTES"), 0, INT64_MAX, 0),
		.kinds = read_kinds(get("KWHY_RECORD_KINDS")) | read_graphs(get("KWHY_RECORD_GRAPHS")),
		.period_ms = (unsigned)read_number(get("KWHY_RECORD_PERIOD_MS"), 1, 10000, 100),
		.buffer_bytes = read_number(get("KWHY_RECORD_BUFFER_KIB"), 64, 65536, 1024) << 10,
		.buffer_count = read_number(get("KWHY_RECORD_BUFFERS"), 2, 256, 32),
	};

	if (!read_text(options.folder, sizeof(options.folder), get("KWHY_RECORD_DIR")))
		return false;
	if (!read_text(options.cupti, sizeof(options.cupti), get("KWHY_CUPTI")))
		options.cupti[0] = '\0';
	read_windows(&options, get);
	options.kinds &= ~read_lines(get("KWHY_RECORD_LINES"));
	if (options.range[0])
		options.kinds |= KWHY_INJECT_RANGE;
	*out = options;
	return true;
}
