/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/host.h"

#include "gpu/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	GPUS_MIN = 2
}; /* smallest number of GPUs of the host back end, so that work on pairs of GPUs can be tested on any machine
    */

struct kwhy_gpu_module {
	struct kwhy_gpu_host_owned owned;
	const struct kwhy_gpu_source *source;
};

void kwhy_gpu_host_keep(struct kwhy_gpu *gpu, struct kwhy_gpu_host_owned *owned,
	void (*release)(struct kwhy_gpu_host_owned *owned))
{
	struct kwhy_gpu_host_gpu *self = kwhy_gpu_host_of(gpu);

	pthread_mutex_lock(&self->lock);
	*owned = (struct kwhy_gpu_host_owned){
		.previous = &self->owned, .next = self->owned.next, .gpu = self, .release = release};
	owned->next->previous = owned;
	self->owned.next = owned;
	pthread_mutex_unlock(&self->lock);
}

void kwhy_gpu_host_forget(struct kwhy_gpu_host_owned *owned)
{
	pthread_mutex_lock(&owned->gpu->lock);
	owned->previous->next = owned->next;
	owned->next->previous = owned->previous;
	pthread_mutex_unlock(&owned->gpu->lock);
}

void kwhy_gpu_host_monitor_init(struct kwhy_gpu_host_monitor *monitor)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&monitor->lock, NULL);
	pthread_cond_init(&monitor->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

void kwhy_gpu_host_monitor_done(struct kwhy_gpu_host_monitor *monitor)
{
	pthread_cond_destroy(&monitor->changed);
	pthread_mutex_destroy(&monitor->lock);
}

/*
 * Finds the first object in a GPU's list whose release function is `release` or, if `release` is NULL, the
 * first object of the list. Returns NULL if there is none.
 */
static struct kwhy_gpu_host_owned *find_owned(
	struct kwhy_gpu_host_gpu *self, void (*release)(struct kwhy_gpu_host_owned *owned))
{
	struct kwhy_gpu_host_owned *owned = self->owned.next;

	while (owned != &self->owned && release && owned->release != release)
		owned = owned->next;
	return owned != &self->owned ? owned : NULL;
}

/*
 * Frees all objects whose release function is `release` (NULL: all objects). It searches from the start of
 * the list each time, because freeing one object may free others.
 */
static void release_owned(struct kwhy_gpu_host_gpu *self, void (*release)(struct kwhy_gpu_host_owned *owned))
{
	struct kwhy_gpu_host_owned *owned;

	while ((owned = find_owned(self, release)) != NULL)
		owned->release(owned);
}

/*
 * Frees gates first, because they block streams; then streams, because they use the other objects; the
 * other objects last.
 */
static void close_gpu(struct kwhy_gpu *gpu)
{
	struct kwhy_gpu_host_gpu *self = kwhy_gpu_host_of(gpu);

	release_owned(self, kwhy_gpu_host_gate_release);
	release_owned(self, kwhy_gpu_host_stream_release);
	release_owned(self, NULL);
	pthread_mutex_destroy(&self->lock);
	free(self);
}

static enum kwhy_status enter(struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	(void)gpu;
	(void)error;
	return KWHY_OK;
}

static void module_release(struct kwhy_gpu_host_owned *owned)
{
	kwhy_gpu_host_forget(owned);
	free(owned);
}

static enum kwhy_status module_new(struct kwhy_gpu *gpu, const struct kwhy_gpu_source *source,
	struct kwhy_gpu_module **out, struct kwhy_error *error)
{
	struct kwhy_gpu_module *module;

	if (!source->on_host)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no kernels for the host; run it on a GPU (back end cuda or hip)",
			source->title);
	module = calloc(1, sizeof(*module));
	if (!module)
		return kwhy_fail_memory(error, source->title);
	module->source = source;
	kwhy_gpu_host_keep(gpu, &module->owned, module_release);
	*out = module;
	return KWHY_OK;
}

static void module_free(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module)
{
	(void)gpu;
	if (module)
		module_release(&module->owned);
}

static enum kwhy_status kernel_find(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module, const char *name,
	const struct kwhy_gpu_kernel **out, struct kwhy_error *error)
{
	const struct kwhy_gpu_host_kernel *kernel = module->source->on_host;

	(void)gpu;
	while (kernel->name && strcmp(kernel->name, name) != 0)
		kernel++;
	if (!kernel->name)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no kernel %s for the host; run it on a GPU (back end cuda or hip)",
			module->source->title, name);
	*out = (const struct kwhy_gpu_kernel *)(const void *)kernel;
	return KWHY_OK;
}

static enum kwhy_status resident_blocks(struct kwhy_gpu *gpu, const struct kwhy_gpu_kernel *kernel,
	uint32_t threads_per_block, uint32_t *out, struct kwhy_error *error)
{
	(void)gpu;
	(void)kernel;
	(void)threads_per_block;
	(void)error;
	*out = 1;
	return KWHY_OK;
}

static enum kwhy_status peer_enable(struct kwhy_gpu *gpu, struct kwhy_gpu *other, struct kwhy_error *error)
{
	(void)gpu;
	(void)other;
	(void)error;
	return KWHY_OK;
}

static const struct kwhy_gpu_ops ops = {
	.name = "host",
	.close = close_gpu,
	.enter = enter,
	.module_new = module_new,
	.module_free = module_free,
	.kernel_find = kernel_find,
	.resident_blocks = resident_blocks,
	.memory_new = kwhy_gpu_host_memory_new,
	.memory_free = kwhy_gpu_host_memory_free,
	.memory_share = kwhy_gpu_host_memory_share,
	.memory_open = kwhy_gpu_host_memory_open,
	.memory_close = kwhy_gpu_host_memory_close,
	.pool_new = kwhy_gpu_host_pool_new,
	.pool_free = kwhy_gpu_host_pool_free,
	.host_new = kwhy_gpu_host_host_new,
	.host_free = kwhy_gpu_host_host_free,
	.copy_now = kwhy_gpu_host_copy_now,
	.copy_host_now = kwhy_gpu_host_copy_now,
	.copy = kwhy_gpu_host_copy,
	.copy_batch = kwhy_gpu_host_copy_batch,
	.fill = kwhy_gpu_host_fill,
	.peer_enable = peer_enable,
	.stream_new = kwhy_gpu_host_stream_new,
	.stream_free = kwhy_gpu_host_stream_free,
	.stream_wait = kwhy_gpu_host_stream_wait,
	.synchronize = kwhy_gpu_host_synchronize,
	.event_new = kwhy_gpu_host_event_new,
	.event_free = kwhy_gpu_host_event_free,
	.event_record = kwhy_gpu_host_event_record,
	.event_synchronize = kwhy_gpu_host_event_synchronize,
	.event_reached = kwhy_gpu_host_event_reached,
	.event_elapsed_ns = kwhy_gpu_host_event_elapsed_ns,
	.launch = kwhy_gpu_host_launch,
	.capture_begin = kwhy_gpu_host_capture_begin,
	.capture_end = kwhy_gpu_host_capture_end,
	.graph_launch = kwhy_gpu_host_graph_launch,
	.graph_free = kwhy_gpu_host_graph_free,
	.gate_new = kwhy_gpu_host_gate_new,
	.gate_free = kwhy_gpu_host_gate_free,
	.gate_hold = kwhy_gpu_host_gate_hold,
	.gate_open = kwhy_gpu_host_gate_open,
};

/* Reads the processor's name from /proc/cpuinfo. */
static void read_name(char *name, size_t name_bytes)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(name, name_bytes, "the host");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *value = strchr(line, ':');

		if (strncmp(line, "model name", strlen("model name")) != 0 || !value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		snprintf(name, name_bytes, "%.*s", (int)strcspn(value, "\n"), value);
		break;
	}
	fclose(file);
}

static void learn_facts(struct kwhy_gpu_host_gpu *self, uint32_t index)
{
	struct kwhy_gpu_facts *facts = &self->gpu.facts;
	int processors = CPU_COUNT(&self->node.cpus);

	read_name(facts->name, sizeof(facts->name));
	facts->index = (int)index;
	facts->numa_node = self->node.node;
	facts->memory_bytes = self->node.memory_bytes;
	facts->sm_count = processors > 0 ? (uint32_t)processors : 1;
	facts->threads_per_sm = 1;
	facts->can_manage = true;
}

static uint32_t gpus_of(const struct kwhy_numa *numa)
{
	return numa->count > GPUS_MIN ? numa->count : GPUS_MIN;
}

enum kwhy_status kwhy_gpu_host_count(uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_numa numa;

	(void)error;
	kwhy_numa_read("/sys", &numa);
	*out = gpus_of(&numa);
	return KWHY_OK;
}

static enum kwhy_status parse_device(
	const char *device, uint32_t count, uint32_t *out, struct kwhy_error *error)
{
	char *end;
	unsigned long number;

	if (!device)
		device = "0";
	errno = 0;
	number = strtoul(device, &end, 10);
	if (device[0] < '0' || device[0] > '9' || *end || errno || number >= count)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the host has no device '%s'; it has %u, counted from 0", device, count);
	*out = (uint32_t)number;
	return KWHY_OK;
}

static void take_node(struct kwhy_gpu_host_gpu *self, const struct kwhy_numa *numa, uint32_t index)
{
	self->node.node = -1;
	if (numa->count > 0)
		self->node = numa->nodes[index % numa->count];
}

enum kwhy_status kwhy_gpu_host_open(const char *device, struct kwhy_gpu **out, struct kwhy_error *error)
{
	struct kwhy_gpu_host_gpu *self;
	struct kwhy_numa numa;
	uint32_t index;
	enum kwhy_status status;

	kwhy_numa_read("/sys", &numa);
	status = parse_device(device, gpus_of(&numa), &index, error);
	if (status)
		return status;
	self = calloc(1, sizeof(*self));
	if (!self)
		return kwhy_fail_memory(error, "the state of a GPU");
	self->gpu.ops = &ops;
	self->owned.previous = self->owned.next = &self->owned;
	pthread_mutex_init(&self->lock, NULL);
	take_node(self, &numa, index);
	learn_facts(self, index);
	status = kwhy_gpu_host_stream_new(&self->gpu, &self->stream, error);
	if (status)
		close_gpu(&self->gpu);
	else
		*out = &self->gpu;
	return status;
}
