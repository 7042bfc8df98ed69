/* SPDX-License-Identifier: Apache-2.0 */
#include "contract.h"
#include "fakes/cuda/give_kernels.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Tests that a back end does what gpu.h specifies. Command line: contract_test BACKEND [LIBRARY]. LIBRARY: a
 * fake driver (tests/fakes/cuda), to which the test gives its kernels as C functions. Without LIBRARY a real
 * GPU or the host back end is tested.
 */

static int begin(void **state)
{
	(void)state;
	unsetenv("KWHY_FAKE_CUDA");
	if (kwhy_gpu_open(backend, NULL, &gpu, &failure)) {
		print_message("%s\n", failure.text);
		return -1;
	}
	ops = gpu->ops;
	return 0;
}

static int end(void **state)
{
	(void)state;
	ops->close(gpu);
	return 0;
}

static struct kwhy_gpu_stream *new_stream(void)
{
	struct kwhy_gpu_stream *stream = NULL;

	succeeds(ops->stream_new(gpu, &stream, &failure));
	return stream;
}

static struct kwhy_gpu_event *new_event(bool timed)
{
	struct kwhy_gpu_event *event = NULL;

	succeeds(ops->event_new(gpu, timed, &event, &failure));
	return event;
}

static struct kwhy_gpu_host new_host(enum kwhy_gpu_host_kind kind)
{
	struct kwhy_gpu_host host;

	succeeds(ops->host_new(gpu, kind, BYTES, -1, &host, &failure));
	assert_int_equal(host.kind, kind);
	assert_int_equal(host.bytes, BYTES);
	assert_int_equal((uintptr_t)host.memory % 256, 0);
	return host;
}

static void copy(struct kwhy_gpu_stream *stream, uint64_t to, uint64_t from)
{
	const struct kwhy_gpu_copy one = {to, from, BYTES};

	succeeds(ops->copy(gpu, stream, &one, &failure));
}

static void copy_now(uint64_t to, uint64_t from)
{
	const struct kwhy_gpu_copy one = {to, from, BYTES};

	succeeds(ops->copy_now(gpu, &one, &failure));
}

static void step(struct kwhy_gpu_stream *stream, const struct kwhy_gpu_kernel *kernel, uint64_t values,
	uint32_t factor, uint16_t summand)
{
	struct by_value what = {.values = values, .count = VALUES, .factor = factor};
	void *arguments[] = {&what, &summand};
	struct kwhy_gpu_launch launch = {.kernel = kernel,
		.blocks = 4,
		.threads_per_block = 256,
		.arguments = arguments,
		.stream = stream};

	succeeds(ops->launch(gpu, &launch, &failure));
	memset(&what, 0xff, sizeof(what));
}

static void assert_values(uint64_t device, uint32_t expected)
{
	uint32_t values[VALUES];

	copy_now(kwhy_gpu_address(values), device);
	for (int i = 0; i < VALUES; i++)
		assert_int_equal(values[i], expected);
}

/* Returns the kernel "step". Its module is freed when end() closes the GPU. */
static const struct kwhy_gpu_kernel *find_step(void)
{
	const struct kwhy_gpu_kernel *kernel = NULL;
	struct kwhy_gpu_module *module = NULL;

	succeeds(ops->module_new(gpu, &source, &module, &failure));
	succeeds(ops->kernel_find(gpu, module, "step", &kernel, &failure));
	return kernel;
}

static void a_gpu_says_what_it_is(void **state)
{
	uint32_t count = 0;

	(void)state;
	succeeds(kwhy_gpu_count(backend, &count, &failure));
	if (library || backend == KWHY_GPU_HOST)
		assert_int_equal(count, 2);
	assert_string_equal(ops->name, kwhy_gpu_backend_name(backend));
	assert_true(gpu->facts.name[0] != '\0');
	assert_int_equal(gpu->facts.index, 0);
	assert_int_equal(gpu->facts.pci_address[0] == '\0', backend == KWHY_GPU_HOST);
	assert_int_equal(gpu->facts.architecture == 0, backend == KWHY_GPU_HOST);
	assert_true(gpu->facts.sm_count > 0);
}

static void a_gpu_that_is_not_there_is_an_error(void **state)
{
	static const char *const wrong[] = {"7", "0000:ff:00.0", "x"};
	struct kwhy_gpu *none = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(kwhy_gpu_open(backend, wrong[i], &none, &failure), KWHY_E_UNSUPPORTED);
	assert_null(none);
}

/*
 * The CUDA driver may return from a synchronous copy before the bytes have arrived, and other streams do
 * not wait for them. The back end must not return before they have arrived.
 */
static void what_is_copied_now_is_there_for_every_stream(void **state)
{
	uint64_t device = device_memory(), other = device_memory();
	const struct kwhy_gpu_kernel *kernel = find_step();
	struct kwhy_gpu_stream *stream = NULL;
	uint32_t values[VALUES];

	(void)state;
	succeeds(ops->stream_new(gpu, &stream, &failure));
	for (uint32_t i = 0; i < 20; i++) {
		for (int k = 0; k < VALUES; k++)
			values[k] = i;
		copy_now(i % 2 ? other : device, kwhy_gpu_address(values));
		if (i % 2)
			copy_now(device, other);
		step(stream, kernel, device, 3, 1);
		succeeds(ops->synchronize(gpu, stream, &failure));
		assert_values(device, 3 * i + 1);
	}
	ops->stream_free(gpu, stream);
	ops->memory_free(gpu, other);
	ops->memory_free(gpu, device);
}

static void host_memory_of_every_kind_goes_to_the_device_and_back(void **state)
{
	uint64_t device = device_memory();

	(void)state;
	for (int kind = 0; kind < KWHY_GPU_HOST_KIND_COUNT; kind++) {
		struct kwhy_gpu_host host;

		/* managed memory is tested with fake drivers only */
		if (kind == KWHY_GPU_HOST_MANAGED && (!library || !gpu->facts.can_manage))
			continue;
		host = new_host((enum kwhy_gpu_host_kind)kind);
		if (kind != KWHY_GPU_HOST_PAGEABLE)
			assert_int_not_equal(host.address, 0);
		memset(host.memory, 0x40 + kind, BYTES);
		copy(NULL, device, kwhy_gpu_address(host.memory));
		succeeds(ops->synchronize(gpu, NULL, &failure));
		memset(host.memory, 0, BYTES);
		copy_now(kwhy_gpu_address(host.memory), device);
		for (size_t i = 0; i < BYTES; i++)
			assert_int_equal(((unsigned char *)host.memory)[i], 0x40 + kind);
		ops->host_free(gpu, &host);
		ops->host_free(gpu, &host);
	}
	ops->memory_free(gpu, device);
	ops->memory_free(gpu, 0);
}

static void work_of_a_stream_runs_in_order(void **state)
{
	const struct kwhy_gpu_kernel *kernel = find_step();
	struct kwhy_gpu_stream *stream = new_stream();
	uint64_t device = device_memory();
	uint32_t expected = 0x03030303;

	(void)state;
	succeeds(ops->fill(gpu, stream, device, 3, BYTES, &failure));
	for (uint16_t i = 0; i < 100; i++) {
		step(stream, kernel, device, 5, i);
		expected = expected * 5 + i;
	}
	succeeds(ops->synchronize(gpu, stream, &failure));
	assert_values(device, expected);
	ops->stream_free(gpu, stream);
	ops->stream_free(gpu, NULL);
	ops->memory_free(gpu, device);
}

static void a_gate_holds_what_is_behind_it(void **state)
{
	struct kwhy_gpu_stream *first = new_stream(), *second = new_stream();
	struct kwhy_gpu_event *start = new_event(true), *end_event = new_event(true);
	uint64_t device = device_memory();
	struct kwhy_gpu_gate *gate = NULL;
	bool reached = true;
	double ns = -1;

	(void)state;
	succeeds(ops->gate_new(gpu, &gate, &failure));
	for (int round = 0; round < 3; round++) {
		succeeds(ops->gate_hold(gpu, gate, first, &failure));
		succeeds(ops->event_record(gpu, start, first, &failure));
		succeeds(ops->fill(gpu, first, device, (uint8_t)round, BYTES, &failure));
		succeeds(ops->event_record(gpu, end_event, first, &failure));
		succeeds(ops->stream_wait(gpu, second, end_event, &failure));
		succeeds(ops->fill(gpu, second, device, (uint8_t)(10 + round), BYTES / 2, &failure));
		succeeds(ops->event_reached(gpu, end_event, &reached, &failure));
		assert_false(reached);
		succeeds(ops->gate_open(gpu, gate, &failure));
		succeeds(ops->synchronize(gpu, second, &failure));
		succeeds(ops->event_synchronize(gpu, end_event, &failure));
		succeeds(ops->event_reached(gpu, end_event, &reached, &failure));
		assert_true(reached);
		succeeds(ops->event_elapsed_ns(gpu, start, end_event, &ns, &failure));
		assert_true(ns >= 0 && ns < 10e9);
	}
	ops->gate_free(gpu, gate);
	ops->gate_free(gpu, NULL);
	ops->event_free(gpu, start);
	ops->event_free(gpu, end_event);
	ops->event_free(gpu, NULL);
	ops->stream_free(gpu, first);
	ops->stream_free(gpu, second);
	ops->memory_free(gpu, device);
}

static void a_gate_that_opened_by_itself_is_told(void **state)
{
	struct kwhy_gpu_gate *gate = NULL;

	(void)state;
	if (!library)
		kwhy_skip("needs a fake driver");
	setenv("KWHY_FAKE_CUDA", "gate-opens", 1);
	succeeds(ops->gate_new(gpu, &gate, &failure));
	succeeds(ops->gate_hold(gpu, gate, NULL, &failure));
	succeeds(ops->synchronize(gpu, NULL, &failure));
	assert_int_equal(ops->gate_open(gpu, gate, &failure), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(failure.text, "10 s"));
	unsetenv("KWHY_FAKE_CUDA");
	succeeds(ops->gate_hold(gpu, gate, NULL, &failure));
	succeeds(ops->gate_open(gpu, gate, &failure));
	ops->gate_free(gpu, gate);
}

static void a_batch_moves_every_piece(void **state)
{
	enum { PIECES = 300, PIECE = 12 };
	struct kwhy_gpu_host host = new_host(KWHY_GPU_HOST_PINNED);
	struct kwhy_gpu_copy copies[PIECES];
	uint64_t device = device_memory();
	unsigned char back[BYTES];

	(void)state;
	if (!ops->copy_batch)
		kwhy_skip("this driver has no batches of copies");
	for (size_t i = 0; i < BYTES; i++)
		((unsigned char *)host.memory)[i] = (unsigned char)(i * 7);
	/* the pieces are in reverse order, and some are empty */
	for (size_t i = 0; i < PIECES; i++)
		copies[i] = (struct kwhy_gpu_copy){device + (PIECES - 1 - i) * PIECE,
			kwhy_gpu_address(host.memory) + i * PIECE, i % 50 == 49 ? 0 : PIECE};
	succeeds(ops->fill(gpu, NULL, device, 0, BYTES, &failure));
	succeeds(ops->copy_batch(gpu, NULL, copies, PIECES, &failure));
	succeeds(ops->copy_batch(gpu, NULL, copies, 0, &failure));
	succeeds(ops->synchronize(gpu, NULL, &failure));
	copy_now(kwhy_gpu_address(back), device);
	for (size_t i = 0; i < PIECES; i++)
		for (size_t k = 0; k < PIECE; k++)
			assert_int_equal(back[(PIECES - 1 - i) * PIECE + k],
				i % 50 == 49 ? 0 : (unsigned char)((i * PIECE + k) * 7));
	ops->host_free(gpu, &host);
	ops->memory_free(gpu, device);
}

struct steps {
	struct kwhy_gpu_stream *stream;
	const struct kwhy_gpu_kernel *kernel;
	uint64_t device;
	enum kwhy_status end;
};

static enum kwhy_status two_steps(void *context, struct kwhy_error *error)
{
	const struct steps *steps = context;

	step(steps->stream, steps->kernel, steps->device, 3, 1);
	step(steps->stream, steps->kernel, steps->device, 2, 5);
	return steps->end ? kwhy_fail(error, steps->end, "no third step") : KWHY_OK;
}

static void work_that_fails_leaves_no_graph_and_a_stream_that_runs(void **state)
{
	struct steps steps = {new_stream(), find_step(), device_memory(), KWHY_E_INPUT};
	struct kwhy_gpu_graph *graph = NULL;

	(void)state;
	succeeds(ops->fill(gpu, steps.stream, steps.device, 0, BYTES, &failure));
	assert_int_equal(
		kwhy_gpu_capture(gpu, steps.stream, two_steps, &steps, &graph, &failure), KWHY_E_INPUT);
	assert_string_equal(failure.text, "no third step");
	assert_null(graph);
	step(steps.stream, steps.kernel, steps.device, 1, 7);
	succeeds(ops->synchronize(gpu, steps.stream, &failure));
	assert_values(steps.device, 7);
	ops->stream_free(gpu, steps.stream);
	ops->memory_free(gpu, steps.device);
}

static void a_graph_does_again_what_was_recorded(void **state)
{
	struct kwhy_gpu_stream *stream = new_stream();
	uint64_t device = device_memory();
	struct steps steps = {stream, find_step(), device, KWHY_OK};
	struct kwhy_gpu_graph *graph = NULL;

	(void)state;
	succeeds(ops->fill(gpu, stream, device, 0, BYTES, &failure));
	succeeds(kwhy_gpu_capture(gpu, stream, two_steps, &steps, &graph, &failure));
	succeeds(ops->synchronize(gpu, stream, &failure));
	assert_values(device, 0);
	for (int i = 0; i < 3; i++)
		succeeds(ops->graph_launch(gpu, stream, graph, &failure));
	succeeds(ops->synchronize(gpu, stream, &failure));
	assert_values(device, 301);
	ops->graph_free(gpu, graph);
	ops->graph_free(gpu, NULL);
	ops->stream_free(gpu, stream);
	ops->memory_free(gpu, device);
}

static void a_pool_lends_memory_in_the_order_of_a_stream(void **state)
{
	struct kwhy_gpu_stream *stream = new_stream();
	uint32_t values[VALUES] = {0};
	uint64_t address = 0;

	(void)state;
	if (!ops->pool_new)
		kwhy_skip("this driver has no pools of memory");
	succeeds(ops->pool_new(gpu, stream, BYTES, &address, &failure));
	succeeds(ops->fill(gpu, stream, address, 9, BYTES, &failure));
	copy(stream, kwhy_gpu_address(values), address);
	succeeds(ops->synchronize(gpu, stream, &failure));
	succeeds(ops->pool_free(gpu, stream, address, &failure));
	succeeds(ops->pool_free(gpu, stream, 0, &failure));
	succeeds(ops->synchronize(gpu, stream, &failure));
	assert_int_equal(values[VALUES - 1], 0x09090909);
	ops->stream_free(gpu, stream);
}

static void two_gpus_reach_each_other(void **state)
{
	uint64_t here = device_memory(), there = 0;
	struct kwhy_gpu *other = NULL;
	uint32_t count = 0;

	(void)state;
	succeeds(kwhy_gpu_count(backend, &count, &failure));
	if (count < 2)
		kwhy_skip("there are no two GPUs");
	succeeds(kwhy_gpu_open(backend, "1", &other, &failure));
	succeeds(other->ops->memory_new(other, BYTES, &there, &failure));
	succeeds(other->ops->fill(other, NULL, there, 0x21, BYTES, &failure));
	succeeds(other->ops->synchronize(other, NULL, &failure));
	succeeds(ops->enter(gpu, &failure));
	succeeds(ops->peer_enable(gpu, other, &failure));
	succeeds(ops->peer_enable(gpu, other, &failure));
	copy(NULL, here, there);
	succeeds(ops->synchronize(gpu, NULL, &failure));
	assert_values(here, 0x21212121);
	other->ops->close(other);
	succeeds(ops->enter(gpu, &failure));
	ops->memory_free(gpu, here);
}

/*
 * Runs in another process: opens the memory that the test shares, whose handle is `hex`, checks that all its
 * bytes are 0x21, and sets them to 0x33.
 */
static int reach_from_outside(const char *hex)
{
	struct kwhy_gpu_shared shared;
	uint32_t values[VALUES];
	struct kwhy_gpu_copy copy = {.to = kwhy_gpu_address(values), .bytes = BYTES};
	unsigned byte;

	for (size_t i = 0; i < sizeof(shared.bytes); i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return 1;
		shared.bytes[i] = (unsigned char)byte;
	}
	if (kwhy_gpu_open(backend, NULL, &gpu, &failure) || gpu->ops->enter(gpu, &failure) ||
		gpu->ops->memory_open(gpu, &shared, &copy.from, &failure) ||
		gpu->ops->copy_now(gpu, &copy, &failure))
		return 2;
	if (values[0] != 0x21212121 || values[VALUES - 1] != 0x21212121)
		return 3;
	if (gpu->ops->fill(gpu, NULL, copy.from, 0x33, BYTES, &failure) ||
		gpu->ops->synchronize(gpu, NULL, &failure))
		return 4;
	gpu->ops->memory_close(gpu, copy.from);
	gpu->ops->close(gpu);
	return 0;
}

static void another_process_reaches_what_is_shared(void **state)
{
	struct kwhy_gpu_shared shared;
	char name[] = "gpu_contract", hex[2 * sizeof(shared.bytes) + 1];
	char *words[] = {name, (char *)(uintptr_t)kwhy_gpu_backend_name(backend),
		(char *)(uintptr_t)(library ? library : ""), hex, NULL};
	uint64_t device;
	pid_t child;
	int end_state = -1;

	(void)state;
	if (!ops->memory_share)
		kwhy_skip("this driver shares no memory between processes");
	setenv("KWHY_FAKE_CUDA_SHARED", "1", 1);
	device = device_memory();
	succeeds(ops->fill(gpu, NULL, device, 0x21, BYTES, &failure));
	succeeds(ops->synchronize(gpu, NULL, &failure));
	succeeds(ops->memory_share(gpu, device, &shared, &failure));
	for (size_t i = 0; i < sizeof(shared.bytes); i++)
		snprintf(hex + 2 * i, 3, "%02x", shared.bytes[i]);
	assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ), 0);
	assert_int_equal(waitpid(child, &end_state, 0), child);
	assert_int_equal(end_state, 0);
	assert_values(device, 0x33333333);
	ops->memory_free(gpu, device);
	unsetenv("KWHY_FAKE_CUDA_SHARED");
}

struct worker {
	pthread_t thread;
	const struct kwhy_gpu_kernel *kernel;
	uint32_t got, expected;
	bool ran;
};

/*
 * Runs as a thread next to others: launches kernels in its own stream on its own memory, and reads the result
 * back.
 */
static enum kwhy_status work(struct worker *worker, struct kwhy_error *own)
{
	struct by_value what = {.count = VALUES, .factor = 3};
	struct kwhy_gpu_stream *stream = NULL;
	struct kwhy_gpu_copy last = {.to = kwhy_gpu_address(&worker->got), .bytes = sizeof(worker->got)};
	uint16_t summand = 7;
	void *arguments[] = {&what, &summand};
	struct kwhy_gpu_launch launch = {
		.kernel = worker->kernel, .blocks = 4, .threads_per_block = 256, .arguments = arguments};
	enum kwhy_status status = ops->enter(gpu, own);

	if (!status)
		status = ops->stream_new(gpu, &stream, own);
	if (!status)
		status = ops->memory_new(gpu, BYTES, &what.values, own);
	launch.stream = stream;
	if (!status)
		status = ops->fill(gpu, stream, what.values, 0, BYTES, own);
	for (int i = 0; !status && i < 200; i++) {
		status = ops->launch(gpu, &launch, own);
		worker->expected = worker->expected * 3 + 7;
	}
	last.from = what.values;
	if (!status)
		status = ops->copy(gpu, stream, &last, own);
	if (!status)
		status = ops->synchronize(gpu, stream, own);
	ops->memory_free(gpu, what.values);
	ops->stream_free(gpu, stream);
	return status;
}

static void *run_worker(void *context)
{
	struct kwhy_error own;
	struct worker *worker = context;

	worker->ran = work(worker, &own) == KWHY_OK;
	return NULL;
}

static void threads_use_one_gpu_each_with_streams_of_its_own(void **state)
{
	const struct kwhy_gpu_kernel *kernel = find_step();
	struct worker workers[4] = {0};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		workers[i].kernel = kernel;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_true(workers[i].ran);
		assert_int_equal(workers[i].got, workers[i].expected);
	}
}

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
#define WITH_GPU(test) cmocka_unit_test_setup_teardown(test, begin, end)
		WITH_GPU(a_gpu_says_what_it_is),
		cmocka_unit_test(a_gpu_that_is_not_there_is_an_error),
		WITH_GPU(host_memory_of_every_kind_goes_to_the_device_and_back),
		WITH_GPU(what_is_copied_now_is_there_for_every_stream),
		WITH_GPU(work_of_a_stream_runs_in_order),
		WITH_GPU(a_gate_holds_what_is_behind_it),
		WITH_GPU(a_gate_that_opened_by_itself_is_told),
		WITH_GPU(a_batch_moves_every_piece),
		WITH_GPU(a_graph_does_again_what_was_recorded),
		WITH_GPU(work_that_fails_leaves_no_graph_and_a_stream_that_runs),
		WITH_GPU(a_pool_lends_memory_in_the_order_of_a_stream),
		WITH_GPU(two_gpus_reach_each_other),
		WITH_GPU(another_process_reaches_what_is_shared),
		WITH_GPU(more_than_there_is_is_refused),
		WITH_GPU(threads_use_one_gpu_each_with_streams_of_its_own),
		WITH_GPU(a_lost_gpu_is_lost_for_good),
		WITH_GPU(every_call_that_fails_is_told_and_named),
	};

	while (backend < KWHY_GPU_BACKEND_COUNT &&
		strcmp(kwhy_gpu_backend_name(backend), count > 1 ? words[1] : "host") != 0)
		backend++;
	library = count > 2 && *words[2] ? words[2] : NULL;
	if (library)
		give_kernels_to_the_fake(library, kernels);
	if (count > 3)
		return reach_from_outside(words[3]);
	if (!library && begin(NULL))
		return kwhy_skip_all(failure.text);
	if (!library)
		end(NULL);
	return kwhy_test_main(tests, NULL, NULL);
}
