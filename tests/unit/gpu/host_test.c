/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "gpu/host.h"

#include <stdlib.h>
#include <string.h>

/* Tests the host back end. Its streams are threads, so these tests are also run under ThreadSanitizer. */

static struct kwhy_error error;
static struct kwhy_gpu *gpu;
static const struct kwhy_gpu_ops *ops;

static int open_gpu(void **state)
{
	(void)state;
	if (kwhy_gpu_open(KWHY_GPU_HOST, NULL, &gpu, &error))
		return -1;
	ops = gpu->ops;
	return 0;
}

static int close_gpu(void **state)
{
	(void)state;
	ops->close(gpu);
	return 0;
}

static void succeeds(enum kwhy_status status)
{
	if (status)
		fail_msg("%s", error.text);
}

/*
 * Kernel "step": replaces each value by value * factor + summand. The result of several launches depends on
 * their order.
 */
static void run_step(const struct kwhy_gpu_grid *grid, void **arguments)
{
	uint32_t *value = *(uint32_t **)arguments[0];
	uint32_t factor = *(uint32_t *)arguments[1];
	uint16_t summand = *(uint16_t *)arguments[2];

	for (uint32_t i = 0; i < grid->blocks * grid->threads_per_block; i++)
		value[i] = value[i] * factor + summand;
	*(uint32_t *)arguments[1] = 0;
}

static const struct kwhy_gpu_host_kernel kernels[] = {
	{"step", run_step, {8, 4, 2}},
	{"many", run_step, {KWHY_GPU_HOST_ARGUMENT_BYTES_MAX + 8}},
	{0},
};
static const struct kwhy_gpu_source source = {.title = "test", .text = "", .on_host = kernels};

static const struct kwhy_gpu_kernel *find(const char *name)
{
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernel;

	succeeds(ops->module_new(gpu, &source, &module, &error));
	succeeds(ops->kernel_find(gpu, module, name, &kernel, &error));
	return kernel;
}

static void step(struct kwhy_gpu_stream *stream, const struct kwhy_gpu_kernel *kernel, uint64_t values,
	uint32_t factor, uint16_t summand)
{
	void *arguments[] = {&values, &factor, &summand};
	struct kwhy_gpu_launch launch = {.kernel = kernel,
		.blocks = 2,
		.threads_per_block = 4,
		.arguments = arguments,
		.stream = stream};

	succeeds(ops->launch(gpu, &launch, &error));
	values = 0;
	factor = summand = 99;
}

static uint32_t *values_new(void)
{
	uint64_t address;

	succeeds(ops->memory_new(gpu, 8 * sizeof(uint32_t), &address, &error));
	return memset((void *)(uintptr_t)address, 0, 8 * sizeof(uint32_t));
}

static struct kwhy_gpu_stream *stream_new(void)
{
	struct kwhy_gpu_stream *stream;

	succeeds(ops->stream_new(gpu, &stream, &error));
	return stream;
}

static struct kwhy_gpu_event *event_new(bool timed)
{
	struct kwhy_gpu_event *event;

	succeeds(ops->event_new(gpu, timed, &event, &error));
	return event;
}

static struct kwhy_gpu_gate *gate_new(void)
{
	struct kwhy_gpu_gate *gate;

	succeeds(ops->gate_new(gpu, &gate, &error));
	return gate;
}

static void work_of_a_stream_runs_in_order_with_the_arguments_of_its_launch(void **state)
{
	const struct kwhy_gpu_kernel *kernel = find("step");
	uint32_t *values = values_new(), expected = 0;

	(void)state;
	for (uint32_t i = 0; i < 3 * KWHY_GPU_HOST_QUEUE; i++) {
		step(NULL, kernel, kwhy_gpu_address(values), 3, (uint16_t)i);
		expected = expected * 3 + i;
	}
	succeeds(ops->synchronize(gpu, NULL, &error));
	for (int i = 0; i < 8; i++)
		assert_int_equal(values[i], expected);
}

static void a_gate_holds_streams_until_the_host_opens_it(void **state)
{
	const struct kwhy_gpu_kernel *kernel = find("step");
	struct kwhy_gpu_stream *a = stream_new(), *b = stream_new();
	struct kwhy_gpu_gate *gate = gate_new();
	struct kwhy_gpu_event *event = event_new(false);
	uint32_t *values = values_new();
	bool reached = true;

	(void)state;
	for (int round = 0; round < 3; round++) {
		memset(values, 0, sizeof(*values));
		succeeds(ops->gate_hold(gpu, gate, a, &error));
		succeeds(ops->gate_hold(gpu, gate, b, &error));
		step(a, kernel, kwhy_gpu_address(values), 1, 7);
		succeeds(ops->event_record(gpu, event, a, &error));
		succeeds(ops->stream_wait(gpu, b, event, &error));
		step(b, kernel, kwhy_gpu_address(values), 2, 1);
		succeeds(ops->event_reached(gpu, event, &reached, &error));
		assert_false(reached);
		assert_int_equal(values[0], 0);
		succeeds(ops->gate_open(gpu, gate, &error));
		succeeds(ops->event_synchronize(gpu, event, &error));
		succeeds(ops->event_reached(gpu, event, &reached, &error));
		assert_true(reached);
		succeeds(ops->synchronize(gpu, b, &error));
		assert_int_equal(values[0], 15);
	}
}

static void a_gate_that_nobody_opens_opens_and_says_so_once(void **state)
{
	struct kwhy_gpu_gate *gate = gate_new();

	(void)state;
	gate->limit_ns = 1000;
	succeeds(ops->gate_hold(gpu, gate, NULL, &error));
	succeeds(ops->synchronize(gpu, NULL, &error));
	assert_int_equal(ops->gate_open(gpu, gate, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "10 s"));
	gate->limit_ns = INT64_MAX / 4;
	succeeds(ops->gate_hold(gpu, gate, NULL, &error));
	succeeds(ops->gate_open(gpu, gate, &error));
	succeeds(ops->synchronize(gpu, NULL, &error));
}

static void what_queued_work_still_needs_may_be_freed(void **state)
{
	const struct kwhy_gpu_kernel *kernel = find("step");
	struct kwhy_gpu_stream *a = stream_new(), *b = stream_new();
	struct kwhy_gpu_gate *gate = gate_new();
	struct kwhy_gpu_event *event = event_new(true);
	struct kwhy_gpu_graph *graph;
	uint32_t *values = values_new();
	uint64_t pool;

	(void)state;
	succeeds(ops->capture_begin(gpu, a, &error));
	step(a, kernel, kwhy_gpu_address(values), 1, 5);
	succeeds(ops->capture_end(gpu, a, &graph, &error));
	succeeds(ops->pool_new(gpu, a, 100, &pool, &error));
	succeeds(ops->gate_hold(gpu, gate, a, &error));
	succeeds(ops->graph_launch(gpu, a, graph, &error));
	succeeds(ops->fill(gpu, a, pool, 1, 100, &error));
	succeeds(ops->pool_free(gpu, a, pool, &error));
	succeeds(ops->event_record(gpu, event, a, &error));
	succeeds(ops->stream_wait(gpu, b, event, &error));
	ops->graph_free(gpu, graph);
	ops->event_free(gpu, event);
	ops->gate_free(gpu, gate); /* also opens the gate, so that the work behind it runs */
	ops->stream_free(gpu, b);
	ops->stream_free(gpu, a);
	assert_int_equal(values[0], 5);
}

static void a_graph_runs_again_what_it_was_given_and_nothing_before(void **state)
{
	const struct kwhy_gpu_kernel *kernel = find("step");
	struct kwhy_gpu_stream *stream = stream_new();
	struct kwhy_gpu_graph *graph;
	uint32_t *values = values_new(), *other = values_new();
	struct kwhy_gpu_copy copies[] = {
		{kwhy_gpu_address(other), kwhy_gpu_address(values), sizeof(*values)},
		{kwhy_gpu_address(other + 1), kwhy_gpu_address(values), sizeof(*values)},
	};

	(void)state;
	succeeds(ops->capture_begin(gpu, stream, &error));
	step(stream, kernel, kwhy_gpu_address(values), 2, 1);
	succeeds(ops->copy_batch(gpu, stream, copies, 2, &error));
	succeeds(ops->fill(gpu, stream, kwhy_gpu_address(values + 1), 0xff, sizeof(*values), &error));
	succeeds(ops->copy(gpu, stream, &copies[0], &error));
	succeeds(ops->capture_end(gpu, stream, &graph, &error));
	memset(copies, 0, sizeof(copies));
	succeeds(ops->synchronize(gpu, stream, &error));
	assert_int_equal(values[0], 0);
	for (int i = 0; i < 5; i++)
		succeeds(ops->graph_launch(gpu, stream, graph, &error));
	succeeds(ops->synchronize(gpu, stream, &error));
	assert_int_equal(values[0], 31);
	assert_int_equal(values[1], UINT32_MAX);
	assert_int_equal(other[0], 31);
	assert_int_equal(other[1], 31);
	ops->graph_free(gpu, graph);
}

static void a_recording_refuses_what_a_graph_of_the_host_cannot_hold(void **state)
{
	struct kwhy_gpu_stream *stream = stream_new();
	struct kwhy_gpu_event *event = event_new(false);
	struct kwhy_gpu_gate *gate = gate_new();
	struct kwhy_gpu_graph *graph, *other = NULL;
	uint64_t pool;
	bool reached;

	(void)state;
	succeeds(ops->pool_new(gpu, stream, 1, &pool, &error));
	succeeds(ops->capture_begin(gpu, stream, &error));
	assert_int_equal(ops->capture_begin(gpu, stream, &error), KWHY_E_UNSUPPORTED);
	assert_int_equal(ops->event_record(gpu, event, stream, &error), KWHY_E_UNSUPPORTED);
	assert_int_equal(ops->stream_wait(gpu, stream, event, &error), KWHY_E_UNSUPPORTED);
	assert_int_equal(ops->gate_hold(gpu, gate, stream, &error), KWHY_E_UNSUPPORTED);
	assert_int_equal(ops->pool_free(gpu, stream, pool, &error), KWHY_E_UNSUPPORTED);
	assert_int_equal(ops->synchronize(gpu, stream, &error), KWHY_E_UNSUPPORTED);
	succeeds(ops->event_reached(gpu, event, &reached, &error));
	assert_true(reached);
	succeeds(ops->capture_end(gpu, stream, &graph, &error));
	assert_int_equal(ops->capture_end(gpu, stream, &other, &error), KWHY_E_UNSUPPORTED);
	assert_null(other);
	succeeds(ops->graph_launch(gpu, stream, graph, &error));
	succeeds(ops->pool_free(gpu, stream, pool, &error));
	succeeds(ops->synchronize(gpu, stream, &error));
}

static void times_between_events_are_told_of_timed_and_reached_ones_alone(void **state)
{
	struct kwhy_gpu_event *start = event_new(true), *end = event_new(true), *untimed = event_new(false);
	double elapsed_ns = -1;

	(void)state;
	assert_int_equal(ops->event_elapsed_ns(gpu, start, end, &elapsed_ns, &error), KWHY_E_UNSUPPORTED);
	succeeds(ops->event_record(gpu, start, NULL, &error));
	succeeds(ops->event_record(gpu, untimed, NULL, &error));
	succeeds(ops->event_record(gpu, end, NULL, &error));
	succeeds(ops->event_synchronize(gpu, end, &error));
	succeeds(ops->event_elapsed_ns(gpu, start, end, &elapsed_ns, &error));
	assert_true(elapsed_ns >= 0);
	assert_int_equal(ops->event_elapsed_ns(gpu, start, untimed, &elapsed_ns, &error), KWHY_E_UNSUPPORTED);
}

static void memory_of_every_kind_is_there_and_zero(void **state)
{
	struct kwhy_gpu_host host;
	uint64_t address;

	(void)state;
	for (int kind = 0; kind < KWHY_GPU_HOST_KIND_COUNT; kind++) {
		succeeds(ops->host_new(
			gpu, (enum kwhy_gpu_host_kind)kind, 5000, gpu->facts.numa_node, &host, &error));
		assert_int_equal((uintptr_t)host.memory % 4096, 0);
		assert_int_equal(host.bytes, 5000);
		assert_int_equal(host.kind, kind);
		assert_int_equal(((char *)host.memory)[4999], 0);
		assert_int_equal(
			host.address, kind == KWHY_GPU_HOST_PAGEABLE ? 0 : kwhy_gpu_address(host.memory));
		ops->host_free(gpu, &host);
		assert_null(host.memory);
		ops->host_free(gpu, &host);
	}
	ops->memory_free(gpu, 0);
	succeeds(ops->memory_new(gpu, 0, &address, &error));
	ops->memory_free(gpu, address);
	assert_int_equal(ops->memory_new(gpu, SIZE_MAX - 1, &address, &error), KWHY_E_MEMORY);
	assert_int_equal(ops->memory_new(gpu, SIZE_MAX / 4, &address, &error), KWHY_E_MEMORY);
	assert_int_equal(
		ops->host_new(gpu, KWHY_GPU_HOST_PINNED, SIZE_MAX / 4, 0, &host, &error), KWHY_E_MEMORY);
}

static void there_are_two_devices_at_least_and_copies_go_between_them(void **state)
{
	struct kwhy_gpu *other, *none = NULL;
	struct kwhy_gpu_copy copy = {.bytes = 4};
	uint32_t *values = values_new(), count;
	static const char *const wrong[] = {"", "x", "-1", "1x", "999", "0000:19:00.0"};

	(void)state;
	succeeds(kwhy_gpu_count(KWHY_GPU_HOST, &count, &error));
	assert_true(count >= 2);
	succeeds(kwhy_gpu_open(KWHY_GPU_HOST, "1", &other, &error));
	assert_int_equal(other->facts.index, 1);
	assert_true(other->facts.name[0] && other->facts.sm_count > 0);
	assert_int_equal(other->facts.architecture, 0);
	succeeds(ops->peer_enable(gpu, other, &error));
	succeeds(ops->memory_new(other, 4, &copy.to, &error));
	values[0] = 0x12345678;
	copy.from = kwhy_gpu_address(values);
	succeeds(ops->copy(gpu, NULL, &copy, &error));
	succeeds(ops->synchronize(gpu, NULL, &error));
	copy.from = copy.to;
	copy.to = kwhy_gpu_address(values + 1);
	succeeds(ops->copy_now(other, &copy, &error));
	assert_int_equal(values[1], 0x12345678);
	other->ops->close(other);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(kwhy_gpu_open(KWHY_GPU_HOST, wrong[i], &none, &error), KWHY_E_UNSUPPORTED);
	assert_null(none);
}

static void what_the_host_has_no_kernel_for_is_said(void **state)
{
	static const struct kwhy_gpu_source without = {.title = "other", .text = ""};
	const struct kwhy_gpu_kernel *kernel = NULL;
	struct kwhy_gpu_module *module = NULL;
	struct kwhy_gpu_launch launch = {.blocks = 1, .threads_per_block = 1};

	(void)state;
	assert_int_equal(ops->module_new(gpu, &without, &module, &error), KWHY_E_UNSUPPORTED);
	assert_null(module);
	succeeds(ops->module_new(gpu, &source, &module, &error));
	assert_int_equal(ops->kernel_find(gpu, module, "none", &kernel, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "none"));
	launch.kernel = find("many");
	assert_int_equal(ops->launch(gpu, &launch, &error), KWHY_E_UNSUPPORTED);
	launch.kernel = find("step");
	launch.blocks = 0;
	assert_int_equal(ops->launch(gpu, &launch, &error), KWHY_E_UNSUPPORTED);
	ops->module_free(gpu, module);
	ops->module_free(gpu, NULL);
}

/* The stream and the memory of one of the threads. */
struct pair {
	struct kwhy_gpu_stream *stream;
	uint32_t *values;
};

static void *fill_and_copy(void *context)
{
	struct pair *pair = context;
	struct kwhy_error own;

	for (uint32_t i = 0; i < 500; i++) {
		struct kwhy_gpu_copy copy = {
			kwhy_gpu_address(pair->values + 1), kwhy_gpu_address(pair->values), 4};

		if (ops->fill(gpu, pair->stream, kwhy_gpu_address(pair->values), (uint8_t)i, 4, &own) ||
			ops->copy(gpu, pair->stream, &copy, &own) ||
			(i % 50 == 0 && ops->synchronize(gpu, pair->stream, &own)))
			return pair;
	}
	return ops->synchronize(gpu, pair->stream, &own) ? pair : NULL;
}

static void threads_use_one_device_each_with_its_stream(void **state)
{
	struct pair pairs[3];
	pthread_t threads[3];
	void *failure;

	(void)state;
	for (int i = 0; i < 3; i++) {
		pairs[i] = (struct pair){stream_new(), values_new()};
		assert_int_equal(pthread_create(&threads[i], NULL, fill_and_copy, &pairs[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &failure), 0);
		assert_null(failure);
		assert_int_equal(pairs[i].values[1], 0xf3f3f3f3);
	}
}

static void closing_ends_what_is_left(void **state)
{
	struct kwhy_gpu *other;
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_event *event;
	struct kwhy_gpu_gate *gate;
	struct kwhy_gpu_module *module;
	struct kwhy_gpu_host host;
	uint64_t address;

	(void)state;
	succeeds(kwhy_gpu_open(KWHY_GPU_HOST, "1", &other, &error));
	succeeds(ops->memory_new(other, 100, &address, &error));
	succeeds(ops->host_new(other, KWHY_GPU_HOST_PINNED, 100, -1, &host, &error));
	succeeds(ops->module_new(other, &source, &module, &error));
	succeeds(ops->event_new(other, true, &event, &error));
	succeeds(ops->gate_new(other, &gate, &error));
	succeeds(ops->stream_new(other, &stream, &error));
	succeeds(ops->gate_hold(other, gate, stream, &error));
	succeeds(ops->fill(other, stream, address, 1, 100, &error));
	succeeds(ops->event_record(other, event, stream, &error));
	succeeds(ops->stream_wait(other, NULL, event, &error));
	succeeds(ops->capture_begin(other, NULL, &error));
	succeeds(ops->fill(other, NULL, address, 2, 100, &error));
	other->ops->close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_of_a_stream_runs_in_order_with_the_arguments_of_its_launch),
		cmocka_unit_test(a_gate_holds_streams_until_the_host_opens_it),
		cmocka_unit_test(a_gate_that_nobody_opens_opens_and_says_so_once),
		cmocka_unit_test(what_queued_work_still_needs_may_be_freed),
		cmocka_unit_test(a_graph_runs_again_what_it_was_given_and_nothing_before),
		cmocka_unit_test(a_recording_refuses_what_a_graph_of_the_host_cannot_hold),
		cmocka_unit_test(times_between_events_are_told_of_timed_and_reached_ones_alone),
		cmocka_unit_test(memory_of_every_kind_is_there_and_zero),
		cmocka_unit_test(there_are_two_devices_at_least_and_copies_go_between_them),
		cmocka_unit_test(what_the_host_has_no_kernel_for_is_said),
		cmocka_unit_test(threads_use_one_device_each_with_its_stream),
		cmocka_unit_test(closing_ends_what_is_left),
	};

	return kwhy_test_main(tests, open_gpu, close_gpu);
}
