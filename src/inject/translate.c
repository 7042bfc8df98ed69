/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/translate.h"

#include "inject/calls.h"
#include "inject/probe/copies.h"

#include <stdio.h>

/* Kinds of copies, numbered as in a recording (docs/formats/recording.md). */
enum { COPY_UNKNOWN, COPY_H2D, COPY_D2H, COPY_D2D, COPY_P2P, COPY_H2H };

static const uint8_t copy_kinds[] = {
	[KWHY_CUPTI_COPY_HTOD] = COPY_H2D,
	[KWHY_CUPTI_COPY_DTOH] = COPY_D2H,
	[KWHY_CUPTI_COPY_HTOA] = COPY_H2D,
	[KWHY_CUPTI_COPY_ATOH] = COPY_D2H,
	[KWHY_CUPTI_COPY_ATOA] = COPY_D2D,
	[KWHY_CUPTI_COPY_ATOD] = COPY_D2D,
	[KWHY_CUPTI_COPY_DTOA] = COPY_D2D,
	[KWHY_CUPTI_COPY_DTOD] = COPY_D2D,
	[KWHY_CUPTI_COPY_HTOH] = COPY_H2H,
	[KWHY_CUPTI_COPY_PTOP] = COPY_P2P,
};

static uint8_t copy_kind_of(unsigned kind)
{
	return kind < sizeof(copy_kinds) ? copy_kinds[kind] : COPY_UNKNOWN;
}

static uint8_t memory_of(unsigned memory)
{
	return memory <= KWHY_CUPTI_MEMORY_MANAGED_STATIC ? (uint8_t)memory : 0;
}

static uint16_t small(uint64_t value)
{
	return value < KWHY_WIRE_UNKNOWN_U16 ? (uint16_t)value : KWHY_WIRE_UNKNOWN_U16;
}

/*
 * Converts a record's times to CLOCK_MONOTONIC. False: its start or end is missing or invalid, so that it is
 * not written, but counted as incomplete.
 */
static bool place(struct kwhy_inject_translate *translate, uint64_t start_ns, uint64_t end_ns,
	int64_t *out_start, int64_t *out_end)
{
	if (!start_ns || end_ns < start_ns || end_ns > INT64_MAX / 2) {
		translate->incomplete++;
		return false;
	}
	*out_start = (int64_t)start_ns + translate->offset_ns;
	*out_end = (int64_t)end_ns + translate->offset_ns;
	if (*out_start < translate->earliest_mono_ns)
		translate->earliest_mono_ns = *out_start;
	return true;
}

static uint32_t product(const int32_t sizes[3])
{
	uint64_t all = 1;

	for (int i = 0; i < 3; i++)
		if (sizes[i] <= 0 || __builtin_mul_overflow(all, (uint64_t)sizes[i], &all))
			return KWHY_WIRE_UNKNOWN_U32;
	return all < KWHY_WIRE_UNKNOWN_U32 ? (uint32_t)all : KWHY_WIRE_UNKNOWN_U32;
}

static void take_kernel(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_kernel *kernel = record;
	struct kwhy_wire_kernel row = {.graph_node = kernel->graph_node,
		.name = kwhy_inject_label_at(translate->labels, kernel->name),
		.correlation = kernel->correlation,
		.context = kernel->context,
		.stream = kernel->stream,
		.blocks = product(kernel->grid),
		.shared_bytes = (uint32_t)kernel->static_shared_bytes +
			(uint32_t)kernel->dynamic_shared_bytes,
		.graph = kernel->graph,
		.device = small(kernel->device),
		.threads_per_block = small(product(kernel->block)),
		.registers = kernel->registers};
	struct kwhy_wire_kernel *out;

	translate->launched += kernel->graph_node == 0;
	if (!place(translate, kernel->start_ns, kernel->end_ns, &row.start_mono_ns, &row.end_mono_ns))
		return;
	if (translate->accounts)
		kwhy_probe_account_add_busy(translate->accounts, translate->labels->hash_at, row.blocks,
			row.threads_per_block, row.end_mono_ns - row.start_mono_ns);
	out = kwhy_block_writer_add(translate->writer, KWHY_WIRE_KERNEL);
	if (out)
		*out = row;
}

static void take_graph(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_graph *graph = record;
	struct kwhy_wire_kernel row = {.correlation = graph->correlation,
		.context = graph->context,
		.stream = graph->stream,
		.blocks = KWHY_WIRE_UNKNOWN_U32,
		.shared_bytes = KWHY_WIRE_UNKNOWN_U32,
		.graph = graph->graph,
		.is_graph = 1,
		.device = small(graph->device),
		.threads_per_block = KWHY_WIRE_UNKNOWN_U16,
		.registers = KWHY_WIRE_UNKNOWN_U16};
	struct kwhy_wire_kernel *out;
	char name[32];

	if (!place(translate, graph->start_ns, graph->end_ns, &row.start_mono_ns, &row.end_mono_ns))
		return;
	snprintf(name, sizeof(name), "CUDA graph %u", graph->graph);
	row.name = kwhy_inject_label(translate->labels, name);
	out = kwhy_block_writer_add(translate->writer, KWHY_WIRE_KERNEL);
	if (out)
		*out = row;
}

static void add_copy(struct kwhy_inject_translate *translate, struct kwhy_wire_copy *row, uint64_t start_ns,
	uint64_t end_ns)
{
	struct kwhy_wire_copy *out;

	if (!place(translate, start_ns, end_ns, &row->start_mono_ns, &row->end_mono_ns))
		return;
	out = kwhy_block_writer_add(translate->writer, KWHY_WIRE_COPY);
	if (out)
		*out = *row;
}

static bool is_to_device(uint8_t copy_kind)
{
	return copy_kind == COPY_H2D || copy_kind == COPY_D2D;
}

static enum kwhy_probe_copy_origin origin_of(uint8_t memory)
{
	return memory == KWHY_CUPTI_MEMORY_PINNED      ? KWHY_PROBE_COPY_FROM_PINNED
		: memory == KWHY_CUPTI_MEMORY_PAGEABLE ? KWHY_PROBE_COPY_FROM_PAGEABLE
						       : KWHY_PROBE_COPY_FROM_DEVICE;
}

static void take_copy(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_copy *copy = record;
	struct kwhy_wire_copy row = {.bytes = copy->bytes,
		.graph_node = copy->graph_node,
		.correlation = copy->correlation,
		.context = copy->context,
		.stream = copy->stream,
		.device = small(copy->device),
		.src_device = KWHY_WIRE_UNKNOWN_U16,
		.dst_device = KWHY_WIRE_UNKNOWN_U16,
		.copy_kind = copy_kind_of(copy->copy_kind),
		.src_memory = memory_of(copy->src_memory),
		.dst_memory = memory_of(copy->dst_memory)};

	add_copy(translate, &row, copy->start_ns, copy->end_ns);
	if (translate->accounts && copy->end_ns > copy->start_ns && is_to_device(row.copy_kind))
		kwhy_probe_copy_add_busy(translate->accounts, origin_of(row.src_memory), copy->bytes,
			(int64_t)(copy->end_ns - copy->start_ns));
}

static void take_peer_copy(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_peer_copy *copy = record;
	struct kwhy_wire_copy row = {.bytes = copy->bytes,
		.graph_node = copy->graph_node,
		.correlation = copy->correlation,
		.context = copy->context,
		.stream = copy->stream,
		.device = small(copy->device),
		.src_device = small(copy->src_device),
		.dst_device = small(copy->dst_device),
		.copy_kind = COPY_P2P,
		.src_memory = memory_of(copy->src_memory),
		.dst_memory = memory_of(copy->dst_memory)};

	add_copy(translate, &row, copy->start_ns, copy->end_ns);
}

static void take_memset(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_memset *set = record;
	struct kwhy_wire_memset row = {.bytes = set->bytes,
		.graph_node = set->graph_node,
		.correlation = set->correlation,
		.context = set->context,
		.stream = set->stream,
		.device = small(set->device),
		.memory = memory_of(set->memory)};
	struct kwhy_wire_memset *out;

	if (!place(translate, set->start_ns, set->end_ns, &row.start_mono_ns, &row.end_mono_ns))
		return;
	if (translate->accounts)
		kwhy_probe_copy_add_busy(translate->accounts, KWHY_PROBE_COPY_SET, set->bytes,
			row.end_mono_ns - row.start_mono_ns);
	out = kwhy_block_writer_add(translate->writer, KWHY_WIRE_MEMSET);
	if (out)
		*out = row;
}

/*
 * The id of the plain name of a CUDA call, which is read from CUPTI at its first record; 0: calls of this
 * name are not recorded.
 */
static uint32_t call_of(struct kwhy_inject_translate *translate, const struct kwhy_cupti_call *call)
{
	const int domain = call->kind == KWHY_CUPTI_KIND_DRIVER ? KWHY_CUPTI_DOMAIN_DRIVER
								: KWHY_CUPTI_DOMAIN_RUNTIME;
	char name[KWHY_INJECT_CALL_NAME_BYTES];
	const char *long_name = NULL;

	if (call->id >= KWHY_INJECT_CALLS_MAX)
		return 0;
	__typeof__(translate->calls[0][0]) *known = &translate->calls[domain - 1][call->id];

	if (known->state)
		return known->number;
	known->state = 2;
	if (translate->cupti->cuptiGetCallbackName(domain, call->id, &long_name) || !long_name)
		return 0;
	kwhy_inject_call_name(long_name, name);
	if (!kwhy_inject_call_matters(name)) /* a CUPTI that cannot select calls reports all of them, and
						every CUPTI does so while the selection is being changed */
		return 0;
	known->state = 1;
	known->number = kwhy_inject_label(translate->labels, name);
	return known->number;
}

static void take_call(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_call *call = record;
	struct kwhy_wire_call row = {.name = call_of(translate, call),
		.correlation = call->correlation,
		.thread = call->thread,
		.result = call->result};
	struct kwhy_wire_call *out;

	if (!row.name ||
		!place(translate, call->start_ns, call->end_ns, &row.start_mono_ns, &row.end_mono_ns))
		return;
	translate->called++;
	out = kwhy_block_writer_add(translate->writer, KWHY_WIRE_CALL);
	if (out)
		*out = row;
}

static void take_memory(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_memory *memory = record;
	struct kwhy_wire_memory *out = kwhy_block_writer_add(translate->writer, KWHY_WIRE_MEMORY);

	if (out)
		*out = (struct kwhy_wire_memory){
			.time_mono_ns = (int64_t)memory->time_ns + translate->offset_ns,
			.bytes = memory->bytes,
			.address = memory->address,
			.correlation = memory->correlation,
			.device = small(memory->device),
			.is_free = memory->operation == KWHY_CUPTI_MEMORY_GIVEN_BACK,
			.memory = memory_of(memory->memory)};
}

/*
 * Name of a kind of overhead that profiling causes; NULL: another kind, such as the driver's compiling or
 * loading of code.
 */
static const char *overhead_name(uint32_t overhead)
{
	switch (overhead) {
	case KWHY_CUPTI_OVERHEAD_BUFFER_FLUSH:
		return "profiler gives back a buffer";
	case KWHY_CUPTI_OVERHEAD_INSTRUMENTATION:
		return "profiler instruments";
	case KWHY_CUPTI_OVERHEAD_RESOURCE:
		return "profiler makes or frees resources";
	case KWHY_CUPTI_OVERHEAD_BUFFER_WANTED:
		return "profiler waits for a buffer";
	default:
		return NULL;
	}
}

static void take_overhead(struct kwhy_inject_translate *translate, const void *record)
{
	const struct kwhy_cupti_overhead *overhead = record;
	struct kwhy_wire_overhead row = {.thread = overhead->object == KWHY_CUPTI_OBJECT_THREAD
			? overhead->thread
			: KWHY_WIRE_UNKNOWN_U32};
	const char *name = overhead_name(overhead->overhead);
	struct kwhy_wire_overhead *out;

	if (!name ||
		!place(translate, overhead->start_ns, overhead->end_ns, &row.start_mono_ns, &row.end_mono_ns))
		return;
	row.name = kwhy_inject_label(translate->labels, name);
	out = kwhy_block_writer_add(translate->writer, KWHY_WIRE_OVERHEAD);
	if (out)
		*out = row;
}

static const struct {
	uint32_t kind;
	void (*take)(struct kwhy_inject_translate *translate, const void *record);
} takers[] = {
	{KWHY_CUPTI_KIND_CONCURRENT_KERNEL, take_kernel},
	{KWHY_CUPTI_KIND_RUNTIME, take_call},
	{KWHY_CUPTI_KIND_DRIVER, take_call},
	{KWHY_CUPTI_KIND_MEMCPY, take_copy},
	{KWHY_CUPTI_KIND_MEMSET, take_memset},
	{KWHY_CUPTI_KIND_OVERHEAD, take_overhead},
	{KWHY_CUPTI_KIND_MEMCPY2, take_peer_copy},
	{KWHY_CUPTI_KIND_GRAPH_TRACE, take_graph},
	{KWHY_CUPTI_KIND_MEMORY2, take_memory},
	{KWHY_CUPTI_KIND_KERNEL, take_kernel},
};

/* Converts a record of CUPTI and writes it. Records of kinds that are not in takers[] are skipped. */
static void translate_record(struct kwhy_inject_translate *translate, const struct kwhy_cupti_record *record)
{
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		if (takers[i].kind == record->kind) {
			translate->records++;
			takers[i].take(translate, record);
			return;
		}
}

void kwhy_inject_translate_buffer(
	struct kwhy_inject_translate *translate, uint8_t *buffer, size_t valid_bytes)
{
	struct kwhy_cupti_record *record = NULL;

	kwhy_inject_labels_begin(translate->labels);
	while (translate->cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &record) ==
		KWHY_CUPTI_SUCCESS)
		translate_record(translate, record);
}
