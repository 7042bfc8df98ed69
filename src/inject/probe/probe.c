/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/probe.h"

#include "base/clock.h"
#include "base/collective_name.h"
#include "base/waiting_kernel.h"
#include "inject/pool.h"
#include "inject/probe/copies.h"
#include "inject/probe/fit.h"
#include "inject/probe/hold.h"
#include "inject/probe/known.h"
#include "inject/probe/progress.h"

#include <fcntl.h>
#include <string.h>

static _Atomic(struct kwhy_probe *) current;

struct kwhy_probe *kwhy_probe_get(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

static enum kwhy_probe_reason reason_of(const char *name)
{
	const struct kwhy_probe *probe = kwhy_probe_get();

	if (kwhy_collective_name(name))
		return KWHY_PROBE_COLLECTIVE;
	if (kwhy_waiting_kernel(name))
		return KWHY_PROBE_WAITS;
	return probe && kwhy_probe_options_skip(&probe->options, name) ? KWHY_PROBE_SKIPPED : KWHY_PROBE_NONE;
}

struct wish {
	struct kwhy_probe *probe;
	int64_t now_mono_ns;
};

/*
 * Whether a kernel may be repeated after a graph that contains it, on the memory contents that the graph
 * left: a repeat on its own output has been observed to give the same memory contents again, or its name
 * shows that it may run on any contents.
 */
static bool may_repeat_after_graph(const struct kwhy_probe_account *account)
{
	return account->form == KWHY_PROBE_IDEMPOTENT || kwhy_probe_may_begin_in_graph(account->name);
}

static bool wants_node(void *context, struct kwhy_probe_account *account)
{
	const struct wish *wish = context;

	if (!may_repeat_after_graph(account)) {
		if (!atomic_load(&account->reason))
			atomic_store(&account->reason, KWHY_PROBE_GRAPH);
		return false;
	}
	return kwhy_probe_pace_wants(&wish->probe->pace, &wish->probe->accounts, account, wish->now_mono_ns);
}

/*
 * After the launch of a graph: if one of its kernels is due for a burst, repeats it by itself. Such a burst
 * contains no launch of the program.
 */
static void repeat_of_graph(
	struct kwhy_probe *probe, const struct kwhy_cupti_callback *data, bool is_of_thread)
{
	const struct kwhy_cupti_parameters_graph *parameters = data->parameters;
	struct wish wish = {probe, kwhy_clock_mono_ns()};
	struct kwhy_probe_launch launch;
	struct kwhy_probe_node node;

	if (kwhy_probe_pace_is_paused(&probe->pace, wish.now_mono_ns) || !kwhy_probe_take_hold(probe))
		return;
	if (!kwhy_probe_graphs_choose(&probe->graphs, parameters->exec,
		    (uint64_t)data->correlation * 2654435761U, wants_node, &wish, &node)) {
		kwhy_probe_let_go(probe);
		return;
	}
	node.config.attributes = node.attributes;
	kwhy_probe_launch_of_node(&launch, data, &node, is_of_thread);
	kwhy_probe_begin_burst(probe, node.account, &launch, true);
	if (kwhy_probe_has_burst())
		kwhy_probe_finish_burst(probe);
}

/* Applies a change that the program has made to an executable graph to the prober's copy of it. */
static void follow_change(struct kwhy_probe *probe, const struct kwhy_probe_graph_maker *maker,
	enum kwhy_probe_handler handler, const void *parameters)
{
	const struct kwhy_cupti_parameters_update *update = parameters;
	const struct kwhy_cupti_parameters_set_node *set = parameters;
	struct kwhy_probe_graphs *graphs = &probe->graphs;

	if (handler == KWHY_PROBE_UPDATE_GRAPH)
		kwhy_probe_graphs_update(graphs, maker, update->exec, update->graph);
	else if (handler == KWHY_PROBE_SET_KERNEL)
		kwhy_probe_graphs_set_kernel(graphs, maker, set->exec, set->node, set->to.kernel);
	else if (handler == KWHY_PROBE_SET_CHILD)
		kwhy_probe_graphs_set_child(graphs, maker, set->exec, set->node, set->to.child);
	else if (handler == KWHY_PROBE_SET_ENABLED)
		kwhy_probe_graphs_set_enabled(graphs, set->exec, set->node, set->to.is_enabled);
	else if (set->to.node->type == KWHY_CUDA_GRAPH_NODE_KERNEL)
		kwhy_probe_graphs_set_kernel(
			graphs, maker, set->exec, set->node, &set->to.node->parameters.kernel);
	else if (set->to.node->type == KWHY_CUDA_GRAPH_NODE_CHILD)
		kwhy_probe_graphs_set_child(
			graphs, maker, set->exec, set->node, set->to.node->parameters.child);
}

/* Called after a successful call that changes an executable graph. */
static void on_changed_graph(
	struct kwhy_probe *probe, enum kwhy_probe_handler handler, const struct kwhy_cupti_callback *data)
{
	const struct kwhy_cupti_parameters_instantiate *made = data->parameters;
	const struct kwhy_probe_graph_maker maker = {&probe->driver, &probe->accounts, reason_of};
	const struct kwhy_probe_own own = kwhy_probe_enter(probe);

	if (handler == KWHY_PROBE_MAKE_GRAPH)
		kwhy_probe_graphs_add(&probe->graphs, &maker, *made->out_exec, made->graph);
	else
		follow_change(probe, &maker, handler, data->parameters);
	kwhy_probe_leave(probe, own);
}

static void on_graph(struct kwhy_probe *probe, enum kwhy_probe_handler handler,
	const struct kwhy_cupti_callback *data, bool is_of_thread)
{
	const struct kwhy_cupti_parameters_graph *graph = data->parameters;
	const enum kwhy_cuda_result *result = data->result;
	const bool has_failed = result && *result;

	if (data->site == KWHY_CUPTI_ENTER) {
		kwhy_probe_wait_for_others(probe);
		if (handler == KWHY_PROBE_END_GRAPH)
			kwhy_probe_graphs_forget(&probe->graphs, graph->exec);
	} else if (has_failed && handler == KWHY_PROBE_UPDATE_GRAPH) {
		kwhy_probe_graphs_forget(&probe->graphs, graph->exec);
	} else if (has_failed || handler == KWHY_PROBE_END_GRAPH) {
		return;
	} else if (handler != KWHY_PROBE_LAUNCH_GRAPH) {
		on_changed_graph(probe, handler, data);
	} else if (kwhy_probe_graphs_launched(&probe->graphs, graph->exec)) {
		repeat_of_graph(probe, data, is_of_thread);
	} else {
		atomic_fetch_add(&probe->graph_launches, 1);
	}
}

static struct kwhy_probe_account *account_of(struct kwhy_probe *probe, const struct kwhy_probe_shape *shape)
{
	struct kwhy_probe_account *account = kwhy_probe_account_of(&probe->accounts, shape, reason_of);

	if (account)
		atomic_fetch_add_explicit(&account->launches, 1, memory_order_relaxed);
	else
		atomic_fetch_add(&probe->accounts.overflow, 1);
	return account;
}

/*
 * Counts a cooperative launch and sets the reason of its account to KWHY_PROBE_COOPERATIVE, since it cannot
 * be repeated.
 */
static void on_cooperative_launch(struct kwhy_probe *probe, const struct kwhy_cupti_callback *data)
{
	const struct kwhy_cupti_parameters_launch *launch = data->parameters;
	const struct kwhy_probe_shape shape = {.function = launch->function,
		.grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
		.block = {launch->block[0], launch->block[1], launch->block[2]},
		.name = data->symbol ? data->symbol : ""};
	struct kwhy_probe_account *account;

	if (data->site != KWHY_CUPTI_ENTER)
		return;
	kwhy_probe_wait_for_others(probe);
	account = account_of(probe, &shape);
	if (account && !atomic_load(&account->reason))
		atomic_store(&account->reason, KWHY_PROBE_COOPERATIVE);
}

static void on_launch(
	struct kwhy_probe *probe, const struct kwhy_cupti_callback *data, bool is_with, bool is_of_thread)
{
	struct kwhy_probe_launch launch;
	struct kwhy_probe_account *account;

	if (data->site == KWHY_CUPTI_EXIT) {
		if (kwhy_probe_has_burst())
			kwhy_probe_end_burst(probe, data);
		return;
	}
	if (kwhy_probe_has_burst()) /* CUPTI never reported the end of an earlier launch, for which this
				       thread holds the burst */
		kwhy_probe_end_attempt(probe);
	kwhy_probe_wait_for_others(probe);
	kwhy_probe_launch_read(&launch, data, is_with, is_of_thread);
	const struct kwhy_probe_shape shape = {.function = launch.function,
		.grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
		.block = {launch.block[0], launch.block[1], launch.block[2]},
		.name = launch.name};

	account = account_of(probe, &shape);
	if (!account)
		return;
	if (atomic_load_explicit(&account->reason, memory_order_relaxed) == KWHY_PROBE_WAITS)
		kwhy_probe_pace_hold(&probe->pace, kwhy_clock_mono_ns());
	else if (kwhy_probe_pace_wants(&probe->pace, &probe->accounts, account, kwhy_clock_mono_ns()) &&
		kwhy_probe_take_hold(probe))
		kwhy_probe_begin_burst(probe, account, &launch, false);
}

/*
 * At the end of a copy or memset of the program: counts it and may repeat it. A repeat then writes the bytes
 * that are already there.
 */
static void on_copy(
	struct kwhy_probe *probe, const struct kwhy_cupti_callback *data, unsigned width, bool is_of_thread)
{
	const enum kwhy_cuda_result *result = data->result;
	char name[KWHY_PROBE_COPY_NAME_BYTES];
	struct kwhy_probe_account *account;
	struct kwhy_probe_launch launch;
	struct kwhy_probe_shape shape;
	struct kwhy_probe_own own;

	if (data->site == KWHY_CUPTI_ENTER)
		kwhy_probe_wait_for_others(probe);
	if (data->site == KWHY_CUPTI_ENTER || (result && *result) ||
		!kwhy_probe_copy_read(&launch, data, width, is_of_thread))
		return;
	own = kwhy_probe_enter(probe);
	shape = kwhy_probe_copy_shape(&probe->driver, &launch.copy, name);
	kwhy_probe_leave(probe, own);
	account = account_of(probe, &shape);
	if (!account)
		return;
	if (!kwhy_probe_pace_wants(&probe->pace, &probe->accounts, account, kwhy_clock_mono_ns()) ||
		!kwhy_probe_take_hold(probe))
		return;
	launch.name = account->name;
	kwhy_probe_begin_burst(probe, account, &launch, false);
	if (kwhy_probe_has_burst())
		kwhy_probe_finish_burst(probe);
}

/*
 * Keeps the list of the program's memory up to date. At the start of a call removes the memory that it frees;
 * at the end of a successful call adds the memory that it has allocated, or marks what it has shared.
 */
static void on_memory(
	struct kwhy_probe *probe, enum kwhy_probe_handler handler, const struct kwhy_cupti_callback *data)
{
	const struct kwhy_cupti_parameters_map *map = data->parameters;
	const enum kwhy_cuda_result *result = data->result;
	struct kwhy_probe_allocation given;

	if (data->site == KWHY_CUPTI_ENTER) {
		kwhy_probe_wait_for_others(probe);
		if (handler == KWHY_PROBE_FREE || handler == KWHY_PROBE_UNMAP)
			kwhy_probe_memory_remove(
				&probe->memory, map->address, handler == KWHY_PROBE_UNMAP ? map->bytes : 0);
		return;
	}
	if (result && *result)
		return;
	kwhy_probe_handler_given(handler, data, &given);
	if (given.is_shared)
		kwhy_probe_memory_share(&probe->memory, given.address);
	else if (given.bytes)
		kwhy_probe_memory_add(&probe->memory, &given);
}

static void on_driver_call(struct kwhy_probe *probe, uint32_t id, const struct kwhy_cupti_callback *data)
{
	const enum kwhy_probe_handler handler = (enum kwhy_probe_handler)probe->calls[id].handler;

	if (handler >= KWHY_PROBE_LAUNCH_GRAPH && handler <= KWHY_PROBE_END_GRAPH) {
		on_graph(probe, handler, data, probe->calls[id].is_of_thread);
		return;
	}
	switch (handler) {
	case KWHY_PROBE_IGNORED:
		return;
	case KWHY_PROBE_LAUNCH:
	case KWHY_PROBE_LAUNCH_WITH:
		on_launch(probe, data, handler == KWHY_PROBE_LAUNCH_WITH, probe->calls[id].is_of_thread);
		return;
	case KWHY_PROBE_COPY:
	case KWHY_PROBE_SET_8:
	case KWHY_PROBE_SET_16:
	case KWHY_PROBE_SET_32:
		on_copy(probe, data, kwhy_probe_handler_width(handler), probe->calls[id].is_of_thread);
		return;
	case KWHY_PROBE_LAUNCH_COOPERATIVE:
		on_cooperative_launch(probe, data);
		return;
	case KWHY_PROBE_LAUNCH_OVER_DEVICES:
	case KWHY_PROBE_OTHER:
		if (data->site != KWHY_CUPTI_ENTER)
			return;
		kwhy_probe_wait_for_others(probe);
		if (handler == KWHY_PROBE_LAUNCH_OVER_DEVICES)
			atomic_fetch_add(&probe->cooperative_launches, 1);
		return;
	default:
		on_memory(probe, handler, data);
	}
}

static void on_resource(struct kwhy_probe *probe, uint32_t id, const struct kwhy_cupti_resource *resource)
{
	if (id == KWHY_CUPTI_RESOURCE_STREAM_BEGINS) {
		kwhy_probe_memory_add_stream(&probe->memory, resource->context, resource->stream);
		return;
	}
	kwhy_probe_wait_for_others(probe);
	if (id == KWHY_CUPTI_RESOURCE_STREAM_ENDS) {
		kwhy_probe_memory_remove_stream(&probe->memory, resource->stream);
		return;
	}
	kwhy_probe_memory_remove_context(&probe->memory, resource->context);
	for (size_t i = 0; i < KWHY_PROBE_CONTEXTS; i++)
		if (probe->probe_contexts[i].context == resource->context)
			probe->probe_contexts[i] = (struct kwhy_probe_context){
				.context = (kwhy_cuda_context)(uintptr_t)1, .has_failed = true};
}

void kwhy_probe_on_call(void *context, int domain, uint32_t id, const void *data)
{
	struct kwhy_probe *probe = context;

	if (kwhy_probe_is_inside() || !atomic_load_explicit(&probe->is_on, memory_order_acquire))
		return;
	if (domain == KWHY_CUPTI_DOMAIN_RESOURCE)
		on_resource(probe, id, data);
	else if (domain == KWHY_CUPTI_DOMAIN_DRIVER && id < KWHY_PROBE_CALLS)
		on_driver_call(probe, id, data);
}

static void ask_for_calls(struct kwhy_probe *probe, const struct kwhy_cupti *cupti)
{
	const char *name = NULL;

	for (uint32_t id = 1;
		id < KWHY_PROBE_CALLS && !cupti->cuptiGetCallbackName(KWHY_CUPTI_DOMAIN_DRIVER, id, &name);
		id++) {
		const enum kwhy_probe_handler handler = name
			? kwhy_probe_handler_of(name, &probe->calls[id].is_of_thread)
			: KWHY_PROBE_IGNORED;

		probe->calls[id].handler = (uint8_t)handler;
		if (handler)
			cupti->cuptiEnableCallback(1, probe->subscriber, KWHY_CUPTI_DOMAIN_DRIVER, id);
		name = NULL;
	}
	for (uint32_t id = KWHY_CUPTI_RESOURCE_CONTEXT_ENDS; id <= KWHY_CUPTI_RESOURCE_STREAM_ENDS; id++)
		cupti->cuptiEnableCallback(1, probe->subscriber, KWHY_CUPTI_DOMAIN_RESOURCE, id);
}

static const char *begin(struct kwhy_probe *probe, const struct kwhy_cupti *cupti)
{
	struct kwhy_error error;

	if (!cupti->cuptiSubscribe || !cupti->cuptiEnableCallback)
		return "this CUPTI has no callbacks";
	if (kwhy_cuda_probe_open(&probe->driver, &error))
		return "the CUDA driver lacks a call that probing needs; it has them all since CUDA 12.0";
	if (cupti->cuptiSubscribe(&probe->subscriber, kwhy_probe_on_call, probe))
		return "another profiler of this process has CUPTI's callbacks, of which there is one "
		       "subscriber";
	atomic_store(&probe->is_on, true);
	atomic_store(&current, probe);
	ask_for_calls(probe, cupti);
	return NULL;
}

const char *kwhy_probe_start(const struct kwhy_cupti *cupti, char *(*get)(const char *name))
{
	struct kwhy_probe_options options;
	struct kwhy_probe *probe;

	if (!kwhy_probe_options_read(&options, get))
		return NULL;
	probe = kwhy_inject_pool_memory(sizeof(*probe));
	if (!probe)
		return "there is no memory for it";
	probe->options = options;
	probe->log = options.log[0] ? open(options.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	kwhy_probe_pace_init(&probe->pace, &options.plan, kwhy_probe_process_begun());
	kwhy_probe_progress_open(get);
	kwhy_probe_accounts_read_known(&probe->accounts, get("KWHY_PROBE_KNOWN"), options.plan.within);
	return begin(probe, cupti);
}

void kwhy_probe_stop(void)
{
	struct kwhy_probe *probe = kwhy_probe_get();

	if (!probe)
		return;
	atomic_store(&probe->pace.is_over, true);
	kwhy_probe_wait_for_others(probe);
	atomic_store(&probe->is_on, kwhy_probe_has_burst());
}

void kwhy_probe_forget(void)
{
	struct kwhy_probe *probe = kwhy_probe_get();

	if (probe)
		atomic_store(&probe->is_on, false);
	atomic_store(&current, NULL);
	kwhy_probe_forget_hold();
}
