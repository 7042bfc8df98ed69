/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"
#include "import/kineto/number.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/*
 * This file reads the events of devices in traces of Intel's unitrace. Such an event states its shape or size
 * in its name: "gemm[SIMD32 {8192; 1; 1} {256; 1; 1}]", "zeCommandListAppendMemoryCopy(M2D)[4096 bytes]".
 */

/*
 * Product of the numbers in the first braces from *at on, such as "{8192; 1; 1}"; *at moves to the '}'. The
 * result is `otherwise` if the text has no braces or a product not below `limit`.
 */
static int64_t product_in_braces(const char **at, int64_t limit, int64_t otherwise)
{
	const char *text = strchr(*at, '{');
	int64_t product = 1;

	if (!text)
		return otherwise;
	for (text++; *text && *text != '}';) {
		size_t digits = strspn(text, "0123456789");
		int64_t factor = 0;

		if (digits == 0) {
			text++;
			continue;
		}
		if (!kwhy_kineto_number_integer(text, digits, &factor) || factor == 0 ||
			product > (limit - 1) / factor)
			return otherwise;
		product *= factor;
		text += digits;
	}
	*at = text;
	return product;
}

/* The number before " bytes]" in a name; KWHY_UNKNOWN_BYTES: there is none. */
static uint64_t bytes_of(const char *name)
{
	const char *end = strstr(name, " bytes]"), *first = end;
	int64_t value;

	while (first && first > name && isdigit((unsigned char)first[-1]))
		first--;
	if (!first || !kwhy_kineto_number_integer(first, (size_t)(end - first), &value) || value < 0)
		return KWHY_UNKNOWN_BYTES;
	return (uint64_t)value;
}

/*
 * Commands of Level Zero and OpenCL that are not kernels. The first row whose name is a prefix of the event's
 * name says what the event is; an event whose name begins with none of these is a kernel.
 */
static const struct {
	const char *name;
	enum kwhy_activity_kind
		kind; /* KWHY_ACTIVITY_KIND_COUNT: the event is not an activity and is left out */
} commands[] = {
	{"zeCommandListAppendMemoryCopy", KWHY_ACTIVITY_COPY},
	{"zeCommandListAppendImageCopy", KWHY_ACTIVITY_COPY},
	{"zeCommandListAppendMemoryFill", KWHY_ACTIVITY_MEMSET},
	{"zeCommandListAppend", KWHY_ACTIVITY_KIND_COUNT},
	{"clEnqueueReadBuffer", KWHY_ACTIVITY_COPY},
	{"clEnqueueWriteBuffer", KWHY_ACTIVITY_COPY},
	{"clEnqueueCopyBuffer", KWHY_ACTIVITY_COPY},
	{"clEnqueueSVMMemcpy", KWHY_ACTIVITY_COPY},
	{"clEnqueueMemcpyINTEL", KWHY_ACTIVITY_COPY},
	{"clEnqueueFillBuffer", KWHY_ACTIVITY_MEMSET},
	{"clEnqueueSVMMemFill", KWHY_ACTIVITY_MEMSET},
};

static uint8_t kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strncmp(name, commands[i].name, strlen(commands[i].name)))
			return commands[i].kind;
	return KWHY_ACTIVITY_KERNEL;
}

static void read_shape(const char *name, struct kwhy_activity *row)
{
	const char *at = strrchr(name, '[');

	if (!at)
		return;
	row->blocks = (uint32_t)product_in_braces(&at, KWHY_UNKNOWN_BLOCKS, KWHY_UNKNOWN_BLOCKS);
	row->threads_per_block = (uint16_t)product_in_braces(&at, KWHY_UNKNOWN_U16, KWHY_UNKNOWN_U16);
}

/* Adds a kernel's name without its shape, so that all launches of the kernel share the name. */
static enum kwhy_status read_kernel_name(
	struct kwhy_kineto_file *file, const char *name, uint32_t *out, struct kwhy_error *error)
{
	const char *shape = strrchr(name, '[');
	size_t length = strlen(name);

	if (shape && shape > name && name[length - 1] == ']')
		length = (size_t)(shape - name);
	return kwhy_kineto_name(file, name, length, out, error);
}

static enum kwhy_status read_kind(
	struct kwhy_kineto_file *file, const char *name, struct kwhy_activity *row, struct kwhy_error *error)
{
	bool collective = false;
	enum kwhy_status status = read_kernel_name(file, name, &row->name, error);

	row->kind = kind_of(name);
	if (row->kind != KWHY_ACTIVITY_KERNEL) {
		row->bytes = bytes_of(name);
		kwhy_kineto_copy_read(name, row);
		return status;
	}
	read_shape(name, row);
	if (!status)
		status = kwhy_kineto_is_collective(file, row->name, &collective, error);
	if (collective)
		row->kind = KWHY_ACTIVITY_COLLECTIVE;
	return status;
}

enum kwhy_status kwhy_kineto_unitrace_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_activity row = kwhy_activity_unknown();
	struct kwhy_kineto_span span = kwhy_kineto_event_text(event, KWHY_KINETO_FIELD_NAME);
	enum kwhy_status status = kwhy_kineto_read_times(file, event, &row.start_ns, &row.end_ns, error);
	char name[1024];

	snprintf(name, sizeof(name), "%.*s", (int)span.length, event->text + span.at);
	if (!status)
		status = read_kind(file, name, &row, error);
	if (!status && row.kind == KWHY_ACTIVITY_KIND_COUNT) {
		file->counts.derived++;
		return KWHY_OK;
	}
	if (!status)
		status = kwhy_kineto_find_stream(file, event, &row.stream, error);
	return status ? status : kwhy_kineto_add_activity(file, &row, error);
}
