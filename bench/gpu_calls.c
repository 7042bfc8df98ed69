/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long each call of the back end's interface (src/gpu/gpu.h) takes on the host, in ns: the
 * median of CALLS calls with its 95 % interval, and the 5th and 95th percentile, as CSV. Between the calls it
 * waits for queued work from time to time, so that no queue fills up; these waits are not measured.
 *
 * Usage: bench_gpu_calls [cuda|hip|host] [CALLS]
 */
#include "base/clock.h"
#include "fit/median.h"
#include "gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, PIECES_MAX = 4096, PIECE_BYTES = 32, QUEUE = 64, RECORDED = 10 };

static struct kwhy_error error;
static struct kwhy_gpu *gpu;
static const struct kwhy_gpu_ops *ops;
static const struct kwhy_gpu_kernel *kernel;
static struct kwhy_gpu_host host;
static struct kwhy_gpu_event *event;
static struct kwhy_gpu_graph *graph;
static struct kwhy_gpu_gate *gate;
static struct kwhy_gpu_copy pieces[PIECES_MAX];
static uint64_t device;

static void must(enum kwhy_status status)
{
	if (!status)
		return;
	fprintf(stderr, "bench_gpu_calls: %s\n", error.text);
	exit(1);
}

static void run_nothing(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	(void)arguments;
}

static const struct kwhy_gpu_host_kernel kernels[] = {{"nothing", run_nothing, {8}}, {0}};
static const struct kwhy_gpu_source source = {.title = "nothing.cu",
	.text = "extern \"C\" __global__ void nothing(unsigned long long *) {}\n",
	.on_host = kernels};

static enum kwhy_status enter(size_t count)
{
	(void)count;
	return ops->enter(gpu, &error);
}

static enum kwhy_status launch(size_t count)
{
	void *arguments[] = {&device};
	struct kwhy_gpu_launch one = {
		.kernel = kernel, .blocks = 1, .threads_per_block = 32, .arguments = arguments};

	(void)count;
	return ops->launch(gpu, &one, &error);
}

static enum kwhy_status copy(size_t count)
{
	(void)count;
	return ops->copy(gpu, NULL, &pieces[0], &error);
}

static enum kwhy_status copy_each(size_t count)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = ops->copy(gpu, NULL, &pieces[i], &error);
	return status;
}

static enum kwhy_status copy_batch(size_t count)
{
	return ops->copy_batch(gpu, NULL, pieces, count, &error);
}

static enum kwhy_status copy_now(size_t count)
{
	(void)count;
	return ops->copy_now(gpu, &pieces[0], &error);
}

static enum kwhy_status fill(size_t count)
{
	return ops->fill(gpu, NULL, device, 1, count, &error);
}

static enum kwhy_status record(size_t count)
{
	(void)count;
	return ops->event_record(gpu, event, NULL, &error);
}

static enum kwhy_status record_and_wait(size_t count)
{
	enum kwhy_status status = record(count);

	return status ? status : ops->event_synchronize(gpu, event, &error);
}

static enum kwhy_status replay(size_t count)
{
	(void)count;
	return ops->graph_launch(gpu, NULL, graph, &error);
}

static enum kwhy_status hold_and_open(size_t count)
{
	enum kwhy_status status = ops->gate_hold(gpu, gate, NULL, &error);

	(void)count;
	return status ? status : ops->gate_open(gpu, gate, &error);
}

static enum kwhy_status synchronize(size_t count)
{
	(void)count;
	return ops->synchronize(gpu, NULL, &error);
}

static enum kwhy_status lend(size_t count)
{
	uint64_t address;
	enum kwhy_status status = ops->pool_new(gpu, NULL, count, &address, &error);

	return status ? status : ops->pool_free(gpu, NULL, address, &error);
}

static enum kwhy_status compile(size_t count)
{
	struct kwhy_gpu_module *module;
	enum kwhy_status status = ops->module_new(gpu, &source, &module, &error);

	(void)count;
	if (!status)
		ops->module_free(gpu, module);
	return status;
}

static void measure(const char *what, enum kwhy_status (*run)(size_t count), size_t count, size_t calls)
{
	double *ns = calloc(calls, sizeof(*ns));
	struct kwhy_median median;

	if (!ns)
		exit(1);
	for (size_t i = 0; i < calls + calls / 10; i++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		must(run(count));
		if (i >= calls / 10)
			ns[i - calls / 10] = (double)(kwhy_clock_mono_ns() - start_ns);
		if (i % QUEUE == QUEUE - 1 || count > QUEUE)
			must(synchronize(0));
	}
	must(synchronize(0));
	kwhy_median_of(ns, calls, &median);
	printf("%s,%zu,%zu,%.0f,%.0f,%.0f,%.0f,%.0f\n", what, count, calls, median.median, median.low,
		median.high, median.p5, median.p95);
	fflush(stdout);
	free(ns);
}

static void prepare(void)
{
	struct kwhy_gpu_module *module;

	must(ops->module_new(gpu, &source, &module, &error));
	must(ops->kernel_find(gpu, module, "nothing", &kernel, &error));
	must(ops->memory_new(gpu, BYTES, &device, &error));
	must(ops->host_new(gpu, KWHY_GPU_HOST_PINNED, BYTES, -1, &host, &error));
	memset(host.memory, 1, BYTES);
	for (size_t i = 0; i < PIECES_MAX; i++)
		pieces[i] = (struct kwhy_gpu_copy){device + 2 * i * PIECE_BYTES,
			kwhy_gpu_address(host.memory) + i * PIECE_BYTES, PIECE_BYTES};
	must(ops->event_new(gpu, false, &event, &error));
	must(ops->gate_new(gpu, &gate, &error));
	if (!ops->capture_begin)
		return;
	must(ops->capture_begin(gpu, NULL, &error));
	for (int i = 0; i < RECORDED; i++)
		must(launch(0));
	must(ops->capture_end(gpu, NULL, &graph, &error));
}

static void measure_all(size_t calls)
{
	static const size_t counts[] = {1, 16, 64, 256, 1024, PIECES_MAX};

	measure("enter", enter, 0, calls);
	measure("synchronize", synchronize, 0, calls);
	measure("launch", launch, 0, calls);
	measure("copy", copy, 0, calls);
	measure("copy_now", copy_now, 0, calls);
	measure("fill", fill, PIECE_BYTES, calls);
	measure("event_record", record, 0, calls);
	measure("event_record and wait", record_and_wait, 0, calls);
	measure("gate_hold and open", hold_and_open, 0, calls);
	if (graph)
		measure("graph_launch of 10 kernels", replay, 0, calls);
	if (ops->pool_new)
		measure("pool_new and free", lend, PIECE_BYTES, calls);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		measure("copies one by one", copy_each, counts[i], calls / 10);
		if (ops->copy_batch)
			measure("copy_batch", copy_batch, counts[i], calls / 10);
	}
	measure("module_new, kept", compile, 0, 20);
}

int main(int count, char **words)
{
	size_t calls = count > 2 ? strtoul(words[2], NULL, 10) : 2000;
	int backend = 0;

	while (backend < KWHY_GPU_BACKEND_COUNT - 1 &&
		strcmp(kwhy_gpu_backend_name((enum kwhy_gpu_backend)backend),
			count > 1 ? words[1] : "host") != 0)
		backend++;
	must(kwhy_gpu_open((enum kwhy_gpu_backend)backend, NULL, &gpu, &error));
	ops = gpu->ops;
	fprintf(stderr, "%s, driver for %s, compiler %s, %s\n", gpu->facts.name, gpu->facts.driver_api,
		gpu->facts.compiler, ops->name);
	prepare();
	puts("call,pieces,calls,median_ns,low_ns,high_ns,p5_ns,p95_ns");
	measure_all(calls < 20 ? 20 : calls);
	ops->gate_free(gpu, gate);
	ops->event_free(gpu, event);
	if (graph)
		ops->graph_free(gpu, graph);
	ops->host_free(gpu, &host);
	ops->memory_free(gpu, device);
	ops->close(gpu);
	return 0;
}
