/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/graph_costs.h"

#include "base/clock.h"
#include "base/settle.h"
#include "bench/calibration/costs.h"

#include <math.h>

/*
 * FEW, MANY: numbers of empty kernels in the short and in the long chain. A chain is queued completely behind
 * a closed gate, so the long one must fit into the queue, which holds about a hundred operations. TRIES:
 * pairs of chains that are timed; WARM: untimed pairs before them.
 */
enum { FEW = 16, MANY = 80, TRIES = 101, WARM = 5 };

/*
 * Number of pairs of launches (of the short and of the long graph), timed on the host, between two pauses of
 * the host. The pair that follows a pause is launched twice, and only its second launches are timed.
 */
enum { TURN = 10 };

enum { SHORT, LONG, CHAINS };

static const int kernels_of[CHAINS] = {[SHORT] = FEW, [LONG] = MANY};

struct chains {
	struct kwhy_gpu *gpu;
	const struct kwhy_gpu_launch *launch;
	struct kwhy_gpu_gate *gate;
	struct kwhy_gpu_event *start, *end;
	struct kwhy_gpu_graph *graphs[CHAINS];
};

typedef enum kwhy_status issue_chain(const struct chains *chains, size_t which, struct kwhy_error *error);

static enum kwhy_status issue_kernels(const struct chains *chains, size_t which, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < kernels_of[which]; i++)
		status = chains->gpu->ops->launch(chains->gpu, chains->launch, error);
	return status;
}

static enum kwhy_status issue_graph(const struct chains *chains, size_t which, struct kwhy_error *error)
{
	return chains->gpu->ops->graph_launch(chains->gpu, NULL, chains->graphs[which], error);
}

static enum kwhy_status issue_between_events(
	const struct chains *chains, issue_chain *issue, size_t which, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = chains->gpu->ops;
	enum kwhy_status status = ops->event_record(chains->gpu, chains->start, NULL, error);

	if (!status)
		status = issue(chains, which, error);
	return status ? status : ops->event_record(chains->gpu, chains->end, NULL, error);
}

/*
 * Measures with events on the device how long a chain takes, in nanoseconds. A gate holds the stream until
 * the whole chain is queued, so that no kernel of the chain has to wait for the host.
 */
static enum kwhy_status time_on_device(const struct chains *chains, issue_chain *issue, size_t which,
	double *out_ns, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = chains->gpu->ops;
	struct kwhy_error unused;
	enum kwhy_status status = ops->gate_hold(chains->gpu, chains->gate, NULL, error), opened;

	if (status)
		return status;
	status = issue_between_events(chains, issue, which, error);
	opened = ops->gate_open(chains->gpu, chains->gate, status ? &unused : error);
	if (!status)
		status = opened;
	if (!status)
		status = ops->synchronize(chains->gpu, NULL, error);
	return status ? status
		      : ops->event_elapsed_ns(chains->gpu, chains->start, chains->end, out_ns, error);
}

/*
 * Measures on the host, while the GPU is idle, how long the call that launches a graph takes (out_call_ns),
 * and the time from that call until a synchronisation reports the end of the graph (out_done_ns), both in
 * nanoseconds.
 */
static enum kwhy_status time_launch(const struct chains *chains, size_t which, double *out_call_ns,
	double *out_done_ns, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = chains->gpu->ops;
	enum kwhy_status status = ops->synchronize(chains->gpu, NULL, error);
	int64_t start_ns = kwhy_clock_mono_ns();

	if (!status)
		status = issue_graph(chains, which, error);
	*out_call_ns = (double)(kwhy_clock_mono_ns() - start_ns);
	if (!status)
		status = ops->synchronize(chains->gpu, NULL, error);
	*out_done_ns = (double)(kwhy_clock_mono_ns() - start_ns);
	return status;
}

/*
 * Time per kernel in seconds: the difference between the times of the long and the short chain, divided by
 * the difference of their numbers of kernels.
 */
static double each_s(const double chains_ns[CHAINS])
{
	return (chains_ns[LONG] - chains_ns[SHORT]) * 1e-9 / (MANY - FEW);
}

static enum kwhy_status measure_on_device(
	const struct chains *chains, issue_chain *issue, struct kwhy_measured *out, struct kwhy_error *error)
{
	double kernel_s[TRIES], times_ns[CHAINS] = {0};
	enum kwhy_status status = KWHY_OK;

	for (int i = -WARM; !status && i < TRIES; i++) {
		for (size_t which = 0; !status && which < CHAINS; which++)
			status = time_on_device(chains, issue, which, &times_ns[which], error);
		if (i >= 0)
			kernel_s[i] = each_s(times_ns);
	}
	if (!status)
		status = chains->gpu->ops->synchronize(chains->gpu, NULL, error);
	if (!status)
		*out = kwhy_cost_summary(kernel_s, TRIES);
	return status;
}

/*
 * Launches the graph of the short and that of the long chain alternately, `times` times each. out_call_ns[]
 * and out_done_ns[] receive the times of the last launch of each graph, as in time_launch().
 */
static enum kwhy_status time_launches(const struct chains *chains, int times, double out_call_ns[CHAINS],
	double out_done_ns[CHAINS], struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < times * CHAINS; i++)
		status = time_launch(
			chains, i % CHAINS, &out_call_ns[i % CHAINS], &out_done_ns[i % CHAINS], error);
	return status;
}

static enum kwhy_status measure_launches(const struct chains *chains, struct kwhy_measured *out_call,
	struct kwhy_measured *out_done, struct kwhy_error *error)
{
	double call_s[TRIES], done_s[TRIES], call_ns[CHAINS] = {0}, done_ns[CHAINS] = {0};
	enum kwhy_status status = time_launches(chains, WARM, call_ns, done_ns, error);

	for (int i = 0; !status && i < TRIES; i++) {
		bool rested = i && i % TURN == 0;

		if (rested)
			kwhy_settle(KWHY_COST_SETTLE_NS);
		status = time_launches(chains, rested ? 2 : 1, call_ns, done_ns, error);
		call_s[i] = each_s(call_ns);
		done_s[i] = each_s(done_ns);
	}
	if (status)
		return status;
	*out_call = kwhy_cost_summary(call_s, TRIES);
	*out_done = kwhy_cost_summary(done_s, TRIES);
	return KWHY_OK;
}

struct chain {
	const struct chains *chains;
	size_t which;
};

static enum kwhy_status issue_chain_kernels(void *context, struct kwhy_error *error)
{
	const struct chain *chain = context;

	return issue_kernels(chain->chains, chain->which, error);
}

static enum kwhy_status measure_graphs(
	struct chains *chains, struct kwhy_graph_costs *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (!chains->gpu->ops->capture_begin)
		return KWHY_OK;
	for (size_t which = 0; !status && which < CHAINS; which++) {
		struct chain chain = {chains, which};

		status = kwhy_gpu_capture(
			chains->gpu, NULL, issue_chain_kernels, &chain, &chains->graphs[which], error);
	}
	/*
	 * measure_launches() is called first, because a graph must have run once before it is queued behind a
	 * gate.
	 */
	if (!status)
		status = measure_launches(chains, &out->launch_node_s, &out->start_node_s, error);
	if (!status)
		status = measure_on_device(chains, issue_graph, &out->node_s, error);
	for (size_t which = 0; which < CHAINS; which++)
		chains->gpu->ops->graph_free(chains->gpu, chains->graphs[which]);
	return status;
}

struct kwhy_graph_costs kwhy_graph_costs_unknown(void)
{
	const struct kwhy_measured unknown = {.value = NAN, .sd = NAN};

	return (struct kwhy_graph_costs){unknown, unknown, unknown, unknown};
}

/*
 * Completes the results and corrects impossible ones. On entry, start_node_s is the time per node from the
 * launch to the end of the graph. Subtracting node_s gives the time per node to the start of the first
 * kernel. A negative launch_node_s or start_node_s becomes 0. A queued_kernel_s or node_s that is not
 * positive becomes unknown (NAN). If node_s is unknown, start_node_s becomes unknown, too.
 */
static void judge(struct kwhy_graph_costs *costs)
{
	const struct kwhy_graph_costs unknown = kwhy_graph_costs_unknown();

	costs->launch_node_s.value = costs->launch_node_s.value < 0 ? 0 : costs->launch_node_s.value;
	if (!(costs->queued_kernel_s.value > 0))
		costs->queued_kernel_s = unknown.queued_kernel_s;
	if (!(costs->node_s.value > 0)) {
		costs->node_s = unknown.node_s;
		costs->start_node_s = unknown.start_node_s;
		return;
	}
	costs->start_node_s.value -= costs->node_s.value;
	costs->start_node_s.value = costs->start_node_s.value < 0 ? 0 : costs->start_node_s.value;
}

enum kwhy_status kwhy_graph_costs_measure(struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch,
	struct kwhy_graph_costs *out, struct kwhy_error *error)
{
	struct chains chains = {.gpu = gpu, .launch = launch};
	enum kwhy_status status = gpu->ops->gate_new(gpu, &chains.gate, error);

	*out = kwhy_graph_costs_unknown();
	if (!status)
		status = gpu->ops->event_new(gpu, true, &chains.start, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &chains.end, error);
	if (!status)
		status = gpu->ops->launch(gpu, launch, error);
	if (!status)
		status = gpu->ops->synchronize(gpu, NULL, error);
	if (!status)
		status = measure_on_device(&chains, issue_kernels, &out->queued_kernel_s, error);
	if (!status)
		status = measure_graphs(&chains, out, error);
	if (!status)
		judge(out);
	gpu->ops->event_free(gpu, chains.start);
	gpu->ops->event_free(gpu, chains.end);
	gpu->ops->gate_free(gpu, chains.gate);
	return status;
}
