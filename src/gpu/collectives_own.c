/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/collectives.h"
#include "gpu/kernels.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 2 * KWHY_COLLECTIVES_MEMBERS_MAX, THREADS = 256, BLOCK_WORDS = 1024, BLOCKS_MAX = 256 };

/* Argument of the kernels; kernels/collectives.cu defines the same struct and describes it. */
struct places {
	uint64_t to[PLACES], from[PLACES];
	uint32_t count, length;
};

enum kernel { SUM, MAX, SUM_FLOATS, COPY, KERNEL_COUNT };

struct own {
	struct kwhy_collectives group; /* first member of the struct, since callers hold a pointer to it */
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KERNEL_COUNT];
	struct kwhy_gpu_event *ready[KWHY_COLLECTIVES_MEMBERS_MAX], *done;
};

static const uint64_t *host_words(uint64_t address)
{
	return (const uint64_t *)(uintptr_t)address;
}

static void on_host_reduce(const struct places *places, bool is_max)
{
	for (uint32_t i = 0; i < places->length; i++) {
		uint64_t result = 0;

		for (uint32_t k = 0; k < places->count; k++) {
			uint64_t value = host_words(places->from[k])[i];

			result = !is_max ? result + value : value > result ? value : result;
		}
		for (uint32_t k = 0; k < places->count; k++)
			((uint64_t *)(uintptr_t)places->to[k])[i] = result;
	}
}

static void on_host_sum(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	on_host_reduce(arguments[0], false);
}

static void on_host_max(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	on_host_reduce(arguments[0], true);
}

static void on_host_sum_floats(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct places *places = arguments[0];

	(void)grid;
	for (uint32_t i = 0; i < places->length; i++) {
		float total = 0;

		for (uint32_t k = 0; k < places->count; k++)
			total += ((const float *)kwhy_gpu_at(places->from[k]))[i];
		for (uint32_t k = 0; k < places->count; k++)
			((float *)kwhy_gpu_at(places->to[k]))[i] = total;
	}
}

static void on_host_copy(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct places *places = arguments[0];

	(void)grid;
	for (uint32_t k = 0; k < places->count; k++)
		memmove(kwhy_gpu_at(places->to[k]), host_words(places->from[k]),
			places->length * sizeof(float));
}

static const char *const kernel_names[KERNEL_COUNT] = {
	"kwhy_collective_sum", "kwhy_collective_max", "kwhy_collective_sum_floats", "kwhy_collective_copy"};
const struct kwhy_gpu_host_kernel kwhy_collectives_host_kernels[] = {
	{"kwhy_collective_sum", on_host_sum, {sizeof(struct places)}},
	{"kwhy_collective_max", on_host_max, {sizeof(struct places)}},
	{"kwhy_collective_sum_floats", on_host_sum_floats, {sizeof(struct places)}},
	{"kwhy_collective_copy", on_host_copy, {sizeof(struct places)}},
	{NULL, NULL, {0}},
};

/*
 * Whether a member needs events to synchronise with member 0: only a member on another GPU does. Members on
 * the GPU of member 0 share one stream with it, which runs their work in order.
 */
static bool is_apart(const struct own *own, uint32_t member)
{
	return own->group.members[member].gpu != own->group.members[0].gpu;
}

static enum kwhy_status await_members(struct own *own, struct kwhy_error *error)
{
	const struct kwhy_collectives_member *members = own->group.members;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 1; !status && i < own->group.count; i++) {
		if (!is_apart(own, i))
			continue;
		status = members[i].gpu->ops->enter(members[i].gpu, error);
		if (!status)
			status = members[i].gpu->ops->event_record(
				members[i].gpu, own->ready[i], members[i].stream, error);
		if (!status)
			status = members[0].gpu->ops->enter(members[0].gpu, error);
		if (!status)
			status = members[0].gpu->ops->stream_wait(
				members[0].gpu, members[0].stream, own->ready[i], error);
	}
	return status;
}

static enum kwhy_status release_members(struct own *own, struct kwhy_error *error)
{
	const struct kwhy_collectives_member *members = own->group.members;
	enum kwhy_status status = KWHY_OK;

	if (own->done)
		status = members[0].gpu->ops->event_record(
			members[0].gpu, own->done, members[0].stream, error);
	for (uint32_t i = 1; !status && i < own->group.count; i++) {
		if (!is_apart(own, i))
			continue;
		status = members[i].gpu->ops->enter(members[i].gpu, error);
		if (!status)
			status = members[i].gpu->ops->stream_wait(
				members[i].gpu, members[i].stream, own->done, error);
	}
	return status ? status : members[0].gpu->ops->enter(members[0].gpu, error);
}

static enum kwhy_status run(
	struct own *own, enum kernel kernel, struct places *places, struct kwhy_error *error)
{
	const struct kwhy_collectives_member *leader = &own->group.members[0];
	uint32_t blocks = places->length / BLOCK_WORDS + 1;
	void *arguments[] = {places};
	const struct kwhy_gpu_launch launch = {.kernel = own->kernels[kernel],
		.blocks = blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX,
		.threads_per_block = THREADS,
		.arguments = arguments,
		.stream = leader->stream};
	enum kwhy_status status = await_members(own, error);

	if (!status)
		status = leader->gpu->ops->launch(leader->gpu, &launch, error);
	return status ? status : release_members(own, error);
}

static enum kwhy_status reduce(struct kwhy_collectives *group, enum kernel kernel, const uint64_t *places,
	uint32_t count, struct kwhy_error *error)
{
	struct places all = {.count = group->count, .length = count};

	memcpy(all.to, places, group->count * sizeof(*places));
	memcpy(all.from, places, group->count * sizeof(*places));
	return run((struct own *)group, kernel, &all, error);
}

static enum kwhy_status own_sum(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	return reduce(group, SUM, places, count, error);
}

static enum kwhy_status own_max(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	return reduce(group, MAX, places, count, error);
}

static enum kwhy_status own_sum_floats(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	return reduce(group, SUM_FLOATS, places, count, error);
}

static enum kwhy_status own_broadcast(
	struct kwhy_collectives *group, const uint64_t *places, uint32_t count, struct kwhy_error *error)
{
	struct places all = {.count = group->count, .length = count};

	for (uint32_t i = 0; i < group->count; i++) {
		all.to[i] = places[i];
		all.from[i] = places[0];
	}
	return run((struct own *)group, COPY, &all, error);
}

static enum kwhy_status own_exchange(struct kwhy_collectives *group,
	const struct kwhy_collectives_edges *edges, uint32_t count, struct kwhy_error *error)
{
	struct places all = {.count = 2 * group->count, .length = count};

	for (uint32_t i = 0; i < group->count; i++) {
		uint32_t next = (i + 1) % group->count;

		all.from[2 * i] = edges[i].from_last;
		all.to[2 * i] = edges[next].to_above;
		all.from[2 * i + 1] = edges[next].from_first;
		all.to[2 * i + 1] = edges[i].to_below;
	}
	return run((struct own *)group, COPY, &all, error);
}

/* Copies by one launch for each member, which gathers the values of all members in that member's memory. */
static enum kwhy_status own_gather(struct kwhy_collectives *group, const uint64_t *from, const uint64_t *to,
	uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < group->count; i++) {
		struct places all = {.count = group->count, .length = 2 * count};

		for (uint32_t k = 0; k < group->count; k++) {
			all.from[k] = from[k];
			all.to[k] = to[i] + (uint64_t)k * count * sizeof(uint64_t);
		}
		status = run((struct own *)group, COPY, &all, error);
	}
	return status;
}

static void own_free(struct kwhy_collectives *group)
{
	struct own *own = (struct own *)group;
	struct kwhy_gpu *leader = group->members[0].gpu;

	for (uint32_t i = 0; i < group->count; i++)
		if (own->ready[i])
			group->members[i].gpu->ops->event_free(group->members[i].gpu, own->ready[i]);
	if (own->done)
		leader->ops->event_free(leader, own->done);
	leader->ops->module_free(leader, own->module);
	free(own);
}

static const struct kwhy_collectives_ops own_ops = {
	.name = "own",
	.free = own_free,
	.sum = own_sum,
	.max = own_max,
	.sum_floats = own_sum_floats,
	.broadcast = own_broadcast,
	.exchange = own_exchange,
	.gather = own_gather,
};

static enum kwhy_status find_kernels(struct own *own, struct kwhy_error *error)
{
	static const struct kwhy_gpu_source source = {.title = "collectives.cu",
		.text = kwhy_kernels_collectives,
		.on_host = kwhy_collectives_host_kernels};
	struct kwhy_gpu *leader = own->group.members[0].gpu;
	enum kwhy_status status = leader->ops->enter(leader, error);

	if (!status)
		status = leader->ops->module_new(leader, &source, &own->module, error);
	for (size_t i = 0; !status && i < KERNEL_COUNT; i++)
		status = leader->ops->kernel_find(
			leader, own->module, kernel_names[i], &own->kernels[i], error);
	return status;
}

/*
 * Makes the events by which GPUs synchronise, and lets the first member's GPU access the memory of the other
 * members' GPUs.
 */
static enum kwhy_status join(struct own *own, struct kwhy_error *error)
{
	const struct kwhy_collectives_member *members = own->group.members;
	struct kwhy_gpu *leader = members[0].gpu;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 1; !status && i < own->group.count; i++) {
		if (!is_apart(own, i))
			continue;
		status = members[i].gpu->ops->enter(members[i].gpu, error);
		if (!status)
			status = members[i].gpu->ops->event_new(members[i].gpu, false, &own->ready[i], error);
		if (!status)
			status = leader->ops->enter(leader, error);
		if (!status)
			status = leader->ops->peer_enable(leader, members[i].gpu, error);
		if (!status && !own->done)
			status = leader->ops->event_new(leader, false, &own->done, error);
	}
	return status;
}

enum kwhy_status kwhy_collectives_own_new(const struct kwhy_collectives_member *members, uint32_t count,
	struct kwhy_collectives **out, struct kwhy_error *error)
{
	struct own *own;
	enum kwhy_status status;

	if (count < 1 || count > KWHY_COLLECTIVES_MEMBERS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "a group of %u members; there may be 1 to %d", count,
			KWHY_COLLECTIVES_MEMBERS_MAX);
	own = calloc(1, sizeof(*own));
	if (!own)
		return kwhy_fail_memory(error, "a group of GPUs");
	own->group.ops = &own_ops;
	own->group.count = count;
	memcpy(own->group.members, members, count * sizeof(*members));
	status = find_kernels(own, error);
	if (!status)
		status = join(own, error);
	if (status)
		own_free(&own->group);
	else
		*out = &own->group;
	return status;
}
