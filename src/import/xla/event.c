/* SPDX-License-Identifier: Apache-2.0 */
#include "import/xla/event.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/*
 * The number of at most 9 digits at the start of a text, if the end of the text or one of the bytes in `ends`
 * follows it; otherwise -1.
 */
static int64_t number_before(const char *text, const char *ends)
{
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 9 || (text[digits] && !strchr(ends, text[digits])))
		return -1;
	return strtol(text, NULL, 10);
}

int32_t kwhy_xla_gpu(const char *process)
{
	static const char prefix[] = "/device:GPU:";

	return starts(process, prefix) ? (int32_t)number_before(process + sizeof(prefix) - 1, " (") : -1;
}

bool kwhy_xla_is_host(const char *process)
{
	static const char *const names[] = {
		"/host:CPU", "/host:CUPTI", "/host:ROCTRACER", "/host:python-tracer"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(process, names[i]))
			return true;
	return false;
}

int64_t kwhy_xla_stream(const char *line)
{
	static const char prefix[] = "Stream #";

	return starts(line, prefix) ? number_before(line + sizeof(prefix) - 1, "( ") : -1;
}

/*
 * Beginnings of the names that XLA's collectors (of CUPTI and ROCm) give events of a stream that are not
 * kernels. The first row that fits applies; an event without a row is a kernel.
 */
static const struct {
	const char *name;
	enum kwhy_activity_kind kind; /* KWHY_ACTIVITY_KIND_COUNT: the event is not an activity */
	enum kwhy_copy_kind copy_kind;
} kinds[] = {
	{"MemcpyH2D", KWHY_ACTIVITY_COPY, KWHY_COPY_H2D},
	{"MemcpyD2H", KWHY_ACTIVITY_COPY, KWHY_COPY_D2H},
	{"MemcpyD2D", KWHY_ACTIVITY_COPY, KWHY_COPY_D2D},
	{"MemcpyP2P", KWHY_ACTIVITY_COPY, KWHY_COPY_P2P},
	{"MemcpyH2H", KWHY_ACTIVITY_COPY, KWHY_COPY_H2H},
	{"Memcpy", KWHY_ACTIVITY_COPY, KWHY_COPY_UNKNOWN},
	{"CopyHostToDevice", KWHY_ACTIVITY_COPY, KWHY_COPY_H2D},
	{"CopyDeviceToHost", KWHY_ACTIVITY_COPY, KWHY_COPY_D2H},
	{"CopyDeviceToDevice", KWHY_ACTIVITY_COPY, KWHY_COPY_D2D},
	{"FillBuffer", KWHY_ACTIVITY_MEMSET, KWHY_COPY_UNKNOWN},
	{"Memset", KWHY_ACTIVITY_MEMSET, KWHY_COPY_UNKNOWN},
	{"CudaGraph", KWHY_ACTIVITY_GRAPH, KWHY_COPY_UNKNOWN},
	{"MemoryAlloc", KWHY_ACTIVITY_KIND_COUNT, KWHY_COPY_UNKNOWN},
	{"MemoryResidency", KWHY_ACTIVITY_KIND_COUNT, KWHY_COPY_UNKNOWN},
	{"MemoryFree", KWHY_ACTIVITY_KIND_COUNT, KWHY_COPY_UNKNOWN},
};

bool kwhy_xla_activity_read(const char *name, struct kwhy_activity *activity)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!starts(name, kinds[i].name))
			continue;
		if (kinds[i].kind == KWHY_ACTIVITY_KIND_COUNT)
			return false;
		activity->kind = kinds[i].kind;
		activity->copy_kind = kinds[i].copy_kind;
		return true;
	}
	return true;
}

/*
 * The value of a key in a text such as "regs:32 grid:108,1,1"; `key` includes the colon. *out_length 0: the
 * text lacks the key.
 */
static const char *value_of(const char *text, size_t length, const char *key, size_t *out_length)
{
	size_t key_length = strlen(key);

	for (size_t at = 0; at + key_length < length; at++) {
		size_t end = at + key_length;

		if ((at > 0 && text[at - 1] != ' ') || memcmp(text + at, key, key_length) != 0)
			continue;
		while (end < length && text[end] != ' ')
			end++;
		*out_length = end - at - key_length;
		return text + at + key_length;
	}
	*out_length = 0;
	return text;
}

/*
 * The number in a text of 1 to 18 digits; `otherwise` if the text is anything else or the number is not below
 * `limit`.
 */
static int64_t number_of(const char *text, size_t length, int64_t limit, int64_t otherwise)
{
	int64_t value = 0;

	if (length == 0 || length > 18)
		return otherwise;
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return otherwise;
		value = value * 10 + (text[i] - '0');
	}
	return value < limit ? value : otherwise;
}

static int64_t number_at(const char *text, size_t length, const char *key, int64_t limit, int64_t otherwise)
{
	size_t value_length;
	const char *value = value_of(text, length, key, &value_length);

	return number_of(value, value_length, limit, otherwise);
}

/*
 * Product of the numbers after a key, as in "grid:108,1,1"; `otherwise` if the key is missing or the product
 * is 0 or not below `limit`.
 */
static int64_t product_at(const char *text, size_t length, const char *key, int64_t limit, int64_t otherwise)
{
	size_t left;
	const char *value = value_of(text, length, key, &left);
	int64_t product = left ? 1 : 0;

	while (left > 0 && product > 0) {
		const char *comma = memchr(value, ',', left);
		size_t digits = comma ? (size_t)(comma - value) : left;
		int64_t factor = number_of(value, digits, limit, 0);

		product = factor > 0 && product <= (limit - 1) / factor ? product * factor : 0;
		value += digits + (comma != NULL);
		left -= digits + (comma != NULL);
	}
	return product > 0 ? product : otherwise;
}

static void read_kernel(const char *text, size_t length, struct kwhy_activity *activity)
{
	int64_t fixed = number_at(text, length, "static_shared:", KWHY_NONE, 0);
	int64_t dynamic = number_at(text, length, "dynamic_shared:", KWHY_NONE, -1);

	activity->registers = (uint16_t)number_at(text, length, "regs:", KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	activity->blocks = (uint32_t)product_at(
		text, length, "grid:", KWHY_UNKNOWN_BLOCKS, KWHY_UNKNOWN_BLOCKS);
	activity->threads_per_block = (uint16_t)product_at(
		text, length, "block:", KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
	if (dynamic >= 0 && fixed + dynamic < KWHY_NONE)
		activity->shared_bytes = (uint32_t)(fixed + dynamic);
}

static uint8_t memory_at(const char *text, size_t length, const char *key)
{
	static const struct {
		const char *name;
		enum kwhy_memory_kind kind;
	} memories[] = {
		{"pageable", KWHY_MEMORY_PAGEABLE},
		{"pinned", KWHY_MEMORY_PINNED},
		{"device", KWHY_MEMORY_DEVICE},
		{"array", KWHY_MEMORY_ARRAY},
		{"managed", KWHY_MEMORY_MANAGED},
		{"device_static", KWHY_MEMORY_DEVICE_STATIC},
		{"managed_static", KWHY_MEMORY_MANAGED_STATIC},
	};
	size_t value_length;
	const char *value = value_of(text, length, key, &value_length);

	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++)
		if (strlen(memories[i].name) == value_length &&
			!memcmp(memories[i].name, value, value_length))
			return memories[i].kind;
	return KWHY_MEMORY_UNKNOWN;
}

static void read_transfer(const char *text, size_t length, struct kwhy_activity *activity)
{
	activity->bytes = (uint64_t)number_at(text, length, "size:", INT64_MAX, -1);
	if (activity->kind == KWHY_ACTIVITY_MEMSET) {
		activity->dst_memory = memory_at(text, length, "kind:");
		return;
	}
	activity->src_memory = memory_at(text, length, "kind_src:");
	activity->dst_memory = memory_at(text, length, "kind_dst:");
	if (activity->copy_kind == KWHY_COPY_P2P)
		activity->peer = (uint16_t)number_at(
			text, length, "dest:", KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
}

void kwhy_xla_details_read(const struct kwhy_xla_details *details, struct kwhy_activity *activity)
{
	if (activity->kind == KWHY_ACTIVITY_KERNEL && !details->kernel.bytes && details->copy.bytes)
		activity->kind = KWHY_ACTIVITY_COPY;
	else if (activity->kind == KWHY_ACTIVITY_KERNEL && !details->kernel.bytes && details->set.bytes)
		activity->kind = KWHY_ACTIVITY_MEMSET;
	if (details->kernel.bytes)
		read_kernel(details->kernel.bytes, details->kernel.length, activity);
	if (activity->kind == KWHY_ACTIVITY_COPY && details->copy.bytes)
		read_transfer(details->copy.bytes, details->copy.length, activity);
	if (activity->kind == KWHY_ACTIVITY_MEMSET && details->set.bytes)
		read_transfer(details->set.bytes, details->set.length, activity);
}

/*
 * Whether a name is that of a CUDA or HIP call, such as "cuLaunchKernel" or "hipMemcpy": "cuda", "cu" or
 * "hip" before a capital letter, without a colon or space.
 */
static bool is_call(const char *name, size_t length)
{
	static const char *const prefixes[] = {"cuda", "hip", "cu"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t prefix = strlen(prefixes[i]);

		if (length > prefix && !memcmp(name, prefixes[i], prefix))
			return isupper((unsigned char)name[prefix]) && !memchr(name, ':', length) &&
				!memchr(name, ' ', length);
	}
	return false;
}

enum kwhy_xla_host_kind kwhy_xla_host_kind(const char *name, size_t length)
{
	if (length > 1 && name[0] == '$')
		return KWHY_XLA_PYTHON;
	return is_call(name, length) ? KWHY_XLA_CALL : KWHY_XLA_OPERATOR;
}

struct kwhy_xla_frame kwhy_xla_frame_read(const char *name, size_t length)
{
	const char *text = name + 1, *colon, *space;
	struct kwhy_xla_frame frame = {.file = text, .function = text, .function_length = length - 1};

	colon = memchr(text, ':', length - 1);
	space = memchr(text, ' ', length - 1);
	if (!colon || !space || space < colon + 2)
		return frame;
	frame.line = (uint32_t)number_of(colon + 1, (size_t)(space - colon - 1), INT32_MAX, 0);
	if (frame.line == 0)
		return frame;
	frame.file_length = (size_t)(colon - text);
	frame.function = space + 1;
	frame.function_length = (size_t)(name + length - space - 1);
	return frame;
}
