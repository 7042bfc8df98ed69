/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lines/rows.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

/*
 * The module (executable or library) that contains `address`: its path, and the offset of the address in its
 * file.
 */
struct module {
	uint64_t address, offset;
	char path[512];
};

static void copy_path(struct module *module, const char *path)
{
	ssize_t length;

	if (path && path[0]) {
		strncpy(module->path, path, sizeof(module->path) - 1);
		return;
	}
	length = readlink("/proc/self/exe", module->path, sizeof(module->path) - 1);
	module->path[length > 0 ? length : 0] = '\0';
}

static int look_at_module(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct module *module = context;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || module->address < start ||
			module->address >= start + info->dlpi_phdr[i].p_memsz)
			continue;
		module->offset = module->address - info->dlpi_addr;
		copy_path(module, info->dlpi_name);
		return 1;
	}
	return 0;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/*
 * Returns the number of a frame; if this frame with this chain of callers has no number yet, it gets one and
 * a FRAME record is written. frame->caller is the number of the calling frame; 0: there is none.
 */
static uint32_t number_of(
	struct kwhy_stack_nodes *nodes, struct kwhy_block_writer *writer, const struct kwhy_wire_frame *frame)
{
	uint64_t hash = mix(
		mix(mix(frame->caller, frame->file), frame->function), mix(frame->line, frame->offset));
	struct kwhy_wire_frame *out;
	size_t at;

	hash = hash ? hash : 1;
	if (nodes->known == KWHY_STACK_NODES * 3 / 4) {
		memset(nodes->by_hash, 0, sizeof(nodes->by_hash));
		nodes->known = 0;
	}
	at = hash % KWHY_STACK_NODES;
	while (nodes->by_hash[at].hash && nodes->by_hash[at].hash != hash)
		at = (at + 1) % KWHY_STACK_NODES;
	if (nodes->by_hash[at].hash)
		return nodes->by_hash[at].number;
	nodes->known++;
	nodes->by_hash[at].hash = hash;
	nodes->by_hash[at].number = ++nodes->last;
	out = kwhy_block_writer_add(writer, KWHY_WIRE_FRAME);
	if (out) {
		*out = *frame;
		out->id = nodes->last;
	}
	return nodes->last;
}

/*
 * Makes the record of stack->frames[at], without its id and caller. A Python frame gets the labels of file
 * and function, a native frame its module and offset.
 */
static struct kwhy_wire_frame frame_of(
	const struct kwhy_stack *stack, uint32_t at, struct kwhy_inject_labels *labels)
{
	const struct kwhy_stack_frame *row = &stack->frames[at];
	struct kwhy_wire_frame frame = {.line = row->line};
	struct module module = {.address = row->address};

	if (!row->address) {
		frame.file = kwhy_inject_label(labels, stack->text + row->file);
		frame.function = kwhy_inject_label(labels, stack->text + row->function);
		return frame;
	}
	frame.offset = row->address;
	if (dl_iterate_phdr(look_at_module, &module)) {
		frame.file = kwhy_inject_label(labels, module.path);
		frame.offset = module.offset;
	}
	return frame;
}

static void write_stack(
	const struct kwhy_stack *stack, struct kwhy_stack_nodes *nodes, struct kwhy_inject_labels *labels)
{
	struct kwhy_wire_sample *out;
	uint32_t number = 0;

	for (uint32_t at = stack->count; at-- > 0;) {
		struct kwhy_wire_frame frame = frame_of(stack, at, labels);

		frame.caller = number;
		number = number_of(nodes, labels->writer, &frame);
	}
	out = number ? kwhy_block_writer_add(labels->writer, KWHY_WIRE_SAMPLE) : NULL;
	if (out)
		*out = (struct kwhy_wire_sample){.time_mono_ns = stack->time_mono_ns,
			.since_mono_ns = stack->since_mono_ns,
			.thread = stack->thread,
			.of_thread = stack->of_thread,
			.frame = number};
}

void kwhy_stacks_write(
	struct kwhy_stacks *stacks, struct kwhy_stack_nodes *nodes, struct kwhy_inject_labels *labels)
{
	const struct kwhy_stack *stack;

	while ((stack = kwhy_stacks_next(stacks))) {
		write_stack(stack, nodes, labels);
		kwhy_stacks_let_go(stacks);
	}
}
