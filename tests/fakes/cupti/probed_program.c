/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program for kwhy probe, on the fake driver (libcuda.so.1 of LD_LIBRARY_PATH) and the fake CUPTI,
 * which calls back around the driver's calls as CUPTI does. Its words: work:N (this many rounds of a kernel
 * that adds, one that counts in memory and a collective), managed:N (of a kernel on managed memory), hidden:N
 * (of one that writes where a table in memory says), large:N (of one on a part of a large allocation),
 * unsteady:N (of one that writes next to its memory whenever it runs more than once), allocate:N (a thread of
 * its own that takes and frees memory N times meanwhile), threads:N (this many threads that work:20 on memory
 * of their own), nested-graph:N (launches of a graph with a graph within, whose kernels are changed each
 * time), cooperative:N, fork (a child that works, too), dies:N:STATUS (ends the program in the Nth run of a
 * kernel), sum (prints what is in memory).
 */
#include "fakes/cupti/fake_cupti.h"
#include "gpu/gpu.h"
#include "vendor/cuda_abi.h"
#include "vendor/cupti_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 4096, LARGE_WORDS = 4 << 20, LARGE_FROM = 1 << 20, THREADS_MAX = 16 };

static struct {
	__typeof__(cuInit) *init;
	__typeof__(cuDevicePrimaryCtxRetain) *retain;
	__typeof__(cuCtxSetCurrent) *set_current;
	__typeof__(cuMemAlloc_v2) *allocate;
	__typeof__(cuMemFree_v2) *free;
	__typeof__(cuMemAllocManaged) *allocate_managed;
	__typeof__(cuModuleLoadData) *load;
	__typeof__(cuModuleGetFunction) *get_function;
	__typeof__(cuLaunchKernel) *launch;
	__typeof__(cuMemcpyAsync) *copy;
	__typeof__(cuMemsetD32Async) *set;
	__typeof__(cuMemHostAlloc) *allocate_pinned;
	__typeof__(cuStreamCreate) *new_stream;
	__typeof__(cuStreamBeginCapture_v2) *begin_capture;
	__typeof__(cuStreamEndCapture) *end_capture;
	__typeof__(cuGraphInstantiateWithFlags) *instantiate;
	__typeof__(cuGraphLaunch) *launch_graph;
	__typeof__(cuGraphExecDestroy) *destroy_exec;
	__typeof__(cuGraphGetNodes) *get_nodes;
	__typeof__(cuGraphAddChildGraphNode) *add_child;
	__typeof__(cuGraphExecKernelNodeSetParams_v2) *set_kernel;
	__typeof__(cuGraphExecChildGraphNodeSetParams) *set_child;
	__typeof__(cuGraphDestroy) *destroy_graph;
	__typeof__(cuStreamSynchronize) *wait;
	void (*give)(const struct kwhy_gpu_host_kernel *kernels);
} cuda;

static __typeof__(fake_cupti_tell) *tell;
static __typeof__(fake_cupti_kernel) *record;
static __typeof__(fake_cupti_call) *record_call;
static kwhy_cuda_context context;
static kwhy_cuda_module module;
static atomic_uint correlation = 100;
static unsigned dies_at, dies_with, runs;

static void *find(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "no %s: %s\n", name, library ? "" : dlerror());
		exit(99);
	}
	return found;
}

static uint64_t *words_at(void **arguments, int argument)
{
	return *(uint64_t **)arguments[argument];
}

static void add(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	for (int i = 0; i < WORDS; i++)
		words_at(arguments, 1)[i] = words_at(arguments, 0)[i] + (uint64_t)i;
	if (dies_at && ++runs == dies_at)
		_exit((int)dies_with);
}

static void count(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	words_at(arguments, 0)[0]++;
}

static void follow(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	((uint64_t *)(uintptr_t)words_at(arguments, 0)[0])[0] += 3;
}

/* What a kernel with state in memory that nobody sees would do. */
static void unsteady(const struct kwhy_gpu_grid *grid, void **arguments)
{
	static unsigned since;
	uint64_t *elsewhere = words_at(arguments, 1);

	(void)grid;
	words_at(arguments, 0)[0] = 7;
	if (++since > 1)
		((uint64_t *)(uintptr_t)(elsewhere[0] ^ UINT64_MAX))[0]++;
}

static const struct kwhy_gpu_host_kernel kernels[] = {{"add", add, {8, 8}}, {"count", count, {8}},
	{"follow", follow, {8}}, {"unsteady", unsteady, {8, 8}}, {"ncclDevKernel_AllReduce", count, {8}},
	{"vectorized_elementwise_kernel", add, {8, 8}}, {NULL, NULL, {0}}};

static kwhy_cuda_function functions[sizeof(kernels) / sizeof(kernels[0])];

static void initialise(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH"), *cupti_path = getenv("KWHY_CUPTI");
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *injected = path ? dlopen(path, RTLD_NOW) : NULL,
	     *cupti = cupti_path ? dlopen(cupti_path, RTLD_NOW) : NULL;

	cuda.init = find(driver, "cuInit");
	cuda.retain = find(driver, "cuDevicePrimaryCtxRetain");
	cuda.set_current = find(driver, "cuCtxSetCurrent");
	cuda.allocate = find(driver, "cuMemAlloc_v2");
	cuda.free = find(driver, "cuMemFree_v2");
	cuda.allocate_managed = find(driver, "cuMemAllocManaged");
	cuda.load = find(driver, "cuModuleLoadData");
	cuda.get_function = find(driver, "cuModuleGetFunction");
	cuda.launch = find(driver, "cuLaunchKernel");
	cuda.copy = find(driver, "cuMemcpyAsync");
	cuda.set = find(driver, "cuMemsetD32Async");
	cuda.allocate_pinned = find(driver, "cuMemHostAlloc");
	cuda.new_stream = find(driver, "cuStreamCreate");
	cuda.begin_capture = find(driver, "cuStreamBeginCapture_v2");
	cuda.end_capture = find(driver, "cuStreamEndCapture");
	cuda.instantiate = find(driver, "cuGraphInstantiateWithFlags");
	cuda.launch_graph = find(driver, "cuGraphLaunch");
	cuda.destroy_exec = find(driver, "cuGraphExecDestroy");
	cuda.get_nodes = find(driver, "cuGraphGetNodes");
	cuda.add_child = find(driver, "cuGraphAddChildGraphNode");
	cuda.set_kernel = find(driver, "cuGraphExecKernelNodeSetParams_v2");
	cuda.set_child = find(driver, "cuGraphExecChildGraphNodeSetParams");
	cuda.destroy_graph = find(driver, "cuGraphDestroy");
	cuda.wait = find(driver, "cuStreamSynchronize");
	cuda.give = find(driver, "kwhy_fake_gpu_kernels");
	tell = find(cupti, "fake_cupti_tell");
	record = find(cupti, "fake_cupti_kernel");
	record_call = find(cupti, "fake_cupti_call");
	cuda.give(kernels);
	if (cuda.init(0) || cuda.retain(&context, 0) || cuda.set_current(context) || cuda.load(&module, ""))
		exit(98);
	for (size_t i = 0; kernels[i].name; i++)
		if (cuda.get_function(&functions[i], module, kernels[i].name))
			exit(96);
	if (injected) {
		int (*begin)(void) = find(injected, "InitializeInjection");

		begin();
	}
}

static void call(const char *name, struct kwhy_cupti_callback *data, int site)
{
	data->site = site;
	data->function = name;
	data->context = context;
	data->context_id = 1;
	tell(KWHY_CUPTI_DOMAIN_DRIVER, name, data);
}

static uint64_t *allocate(size_t bytes)
{
	kwhy_cuda_address address = 0;
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_memory parameters = {.out_address = &address, .bytes = bytes};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};

	call("cuMemAlloc_v2", &data, KWHY_CUPTI_ENTER);
	result = cuda.allocate(&address, bytes);
	data.result = &result;
	call("cuMemAlloc_v2", &data, KWHY_CUPTI_EXIT);
	if (result)
		exit(97);
	memset((void *)(uintptr_t)address, 0, bytes);
	return (uint64_t *)(uintptr_t)address;
}

static void release(uint64_t *memory)
{
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_free parameters = {(uintptr_t)memory};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};

	call("cuMemFree_v2", &data, KWHY_CUPTI_ENTER);
	result = cuda.free((uintptr_t)memory);
	data.result = &result;
	call("cuMemFree_v2", &data, KWHY_CUPTI_EXIT);
}

static kwhy_cuda_function function_of(const char *name)
{
	for (size_t i = 0; kernels[i].name; i++)
		if (!strcmp(kernels[i].name, name))
			return functions[i];
	exit(96);
}

static kwhy_cuda_stream stream; /* that kernels are launched in */

static void launch_by(const char *driver_call, const char *name, void **arguments)
{
	kwhy_cuda_function function = function_of(name);
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_launch parameters = {
		.grid = {264, 1, 1}, .block = {256, 1, 1}, .stream = stream, .arguments = arguments};
	struct kwhy_cupti_callback data = {.symbol = name, .parameters = &parameters};
	const uint32_t its = ++correlation;

	parameters.function = function;
	data.correlation = its;
	call(driver_call, &data, KWHY_CUPTI_ENTER);
	result = cuda.launch(function, 264, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
	record_call(KWHY_CUPTI_DOMAIN_DRIVER, driver_call, its);
	record(name, its, 1000, 0);
	data.result = &result;
	call(driver_call, &data, KWHY_CUPTI_EXIT);
	if (result)
		exit(95);
}

static void launch(const char *name, void **arguments)
{
	launch_by("cuLaunchKernel", name, arguments);
}

struct memory {
	uint64_t *in, *out, *counter;
};

static struct memory own;

static struct memory new_memory(void)
{
	return (struct memory){allocate(WORDS * 8), allocate(WORDS * 8), allocate(64)};
}

static void work_on(struct memory *memory, int rounds)
{
	void *added[] = {&memory->in, &memory->out}, *counted[] = {&memory->counter};

	for (int i = 0; i < rounds; i++) {
		launch("add", added);
		launch("count", counted);
		launch("ncclDevKernel_AllReduce", counted);
	}
}

static void work(const char *text)
{
	work_on(&own, atoi(text));
}

static void managed(const char *text)
{
	kwhy_cuda_address address = 0;

	if (cuda.allocate_managed(&address, 4096, 1))
		exit(94);
	memset((void *)(uintptr_t)address, 0, 4096);
	for (int i = 0; i < atoi(text); i++)
		launch("count", (void *[]){&address});
}

static void hidden(const char *text)
{
	uint64_t *table = allocate(64);

	table[0] = (uintptr_t)own.out;
	for (int i = 0; i < atoi(text); i++)
		launch("follow", (void *[]){&table});
}

static void large(const char *text)
{
	uint64_t *memory = allocate((size_t)LARGE_WORDS * 8), *from = memory + LARGE_FROM;

	for (int i = 0; i < atoi(text); i++)
		launch("count", (void *[]){&from});
	own.out[1] += from[0];
}

static void unsteadily(const char *text)
{
	uint64_t *memory = allocate(64), *mask = allocate(64);

	mask[0] = ~(uint64_t)(uintptr_t)own.out;
	for (int i = 0; i < atoi(text); i++)
		launch("unsteady", (void *[]){&memory, &mask});
}

static void copy(const char *name, void *to, const void *from, size_t bytes)
{
	struct kwhy_cupti_parameters_copy parameters = {(uintptr_t)to, (uintptr_t)from, bytes, stream};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};
	enum kwhy_cuda_result result;

	call(name, &data, KWHY_CUPTI_ENTER);
	result = cuda.copy((uintptr_t)to, (uintptr_t)from, bytes, stream);
	data.result = &result;
	call(name, &data, KWHY_CUPTI_EXIT);
}

static void set(void *to, unsigned value, size_t count)
{
	struct kwhy_cupti_parameters_set parameters = {(uintptr_t)to, value, count, stream};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};
	enum kwhy_cuda_result result;

	call("cuMemsetD32Async", &data, KWHY_CUPTI_ENTER);
	result = cuda.set((uintptr_t)to, value, count, stream);
	data.result = &result;
	call("cuMemsetD32Async", &data, KWHY_CUPTI_EXIT);
}

enum { COPIED_BYTES = 1 << 17 };

static void copies(const char *text)
{
	uint64_t *first = allocate(COPIED_BYTES), *second = allocate(COPIED_BYTES),
		 *pageable = calloc(1, COPIED_BYTES);
	void *pinned = NULL;

	if (!pageable || cuda.allocate_pinned(&pinned, COPIED_BYTES, 0))
		exit(91);
	memset(pinned, 5, COPIED_BYTES);
	for (int i = 0; i < atoi(text); i++) {
		set(first, 0x07070707, COPIED_BYTES / 8);
		copy("cuMemcpyHtoDAsync_v2", (char *)first + COPIED_BYTES / 2, pinned, COPIED_BYTES / 2);
		copy("cuMemcpyDtoDAsync_v2", second, first, COPIED_BYTES);
		copy("cuMemcpyHtoDAsync_v2", first, pageable, COPIED_BYTES);
		memset(pageable, i, COPIED_BYTES);
	}
	cuda.wait(stream);
	for (size_t i = 0; i < COPIED_BYTES / 8; i++)
		own.out[i % WORDS] += 3 * first[i] + second[i];
	free(pageable);
}

static kwhy_cuda_graph_exec instantiate(kwhy_cuda_graph graph)
{
	kwhy_cuda_graph_exec exec = NULL;
	struct kwhy_cupti_parameters_instantiate parameters = {&exec, graph};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};
	enum kwhy_cuda_result result;

	call("cuGraphInstantiateWithFlags", &data, KWHY_CUPTI_ENTER);
	result = cuda.instantiate(&exec, graph, 0);
	data.result = &result;
	call("cuGraphInstantiateWithFlags", &data, KWHY_CUPTI_EXIT);
	return exec;
}

static void launch_graph(kwhy_cuda_graph_exec exec)
{
	struct kwhy_cupti_parameters_graph parameters = {exec, stream};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};
	enum kwhy_cuda_result result;

	call("cuGraphLaunch", &data, KWHY_CUPTI_ENTER);
	result = cuda.launch_graph(exec, stream);
	data.result = &result;
	call("cuGraphLaunch", &data, KWHY_CUPTI_EXIT);
}

/* Nothing of it runs outside of the graph. */
static void cold_graph(const char *text)
{
	void *added[] = {&own.in, &own.out}, *counted[] = {&own.counter};
	kwhy_cuda_graph made;
	kwhy_cuda_graph_exec exec;

	if (cuda.new_stream(&stream, 0) || cuda.begin_capture(stream, KWHY_CUDA_CAPTURE_THREAD_LOCAL))
		exit(93);
	launch("vectorized_elementwise_kernel", added);
	launch("count", counted);
	launch("add", added);
	if (cuda.end_capture(stream, &made))
		exit(92);
	exec = instantiate(made);
	cuda.destroy_graph(made);
	for (int i = 0; exec && i < atoi(text); i++)
		launch_graph(exec);
	cuda.wait(stream);
	stream = NULL;
}

/* The kernel that is fit runs once outside of the graph, as in a warm-up. */
static void graph(const char *text)
{
	void *added[] = {&own.in, &own.out};

	launch("vectorized_elementwise_kernel", added);
	cold_graph(text);
}

static kwhy_cuda_graph capture(const struct memory *memory)
{
	struct memory its = *memory;
	kwhy_cuda_graph made;

	if (cuda.begin_capture(stream, KWHY_CUDA_CAPTURE_THREAD_LOCAL))
		exit(93);
	launch("vectorized_elementwise_kernel", (void *[]){&its.in, &its.out});
	if (cuda.end_capture(stream, &made))
		exit(92);
	return made;
}

static void tell_change(const char *name, kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node,
	const struct kwhy_cuda_kernel_node *kernel, kwhy_cuda_graph child)
{
	struct kwhy_cupti_parameters_set_node parameters = {.exec = exec, .node = node};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};
	enum kwhy_cuda_result result;

	if (kernel)
		parameters.to.kernel = kernel;
	else
		parameters.to.child = child;
	call(name, &data, KWHY_CUPTI_ENTER);
	result = kernel ? cuda.set_kernel(exec, node, kernel) : cuda.set_child(exec, node, child);
	data.result = &result;
	call(name, &data, KWHY_CUPTI_EXIT);
	if (result)
		exit(90);
}

/* Of the kernel in the graph and of that in the graph within, each to memory of its own. */
static void change(kwhy_cuda_graph_exec exec, const kwhy_cuda_graph_node nodes[2], struct memory memory[2])
{
	void *arguments[] = {&memory[0].in, &memory[0].out};
	const struct kwhy_cuda_kernel_node kernel = {.function = function_of("vectorized_elementwise_kernel"),
		.grid = {264, 1, 1},
		.block = {256, 1, 1},
		.arguments = arguments};
	kwhy_cuda_graph child = capture(&memory[1]);

	tell_change("cuGraphExecKernelNodeSetParams_v2", exec, nodes[0], &kernel, NULL);
	tell_change("cuGraphExecChildGraphNodeSetParams", exec, nodes[1], NULL, child);
	cuda.destroy_graph(child);
}

/* What it was made with is gone before its first launch. */
static void nested_graph(const char *text)
{
	struct memory memory[2] = {new_memory(), new_memory()}, first[2] = {new_memory(), new_memory()};
	kwhy_cuda_graph_node nodes[2];
	kwhy_cuda_graph made, child;
	kwhy_cuda_graph_exec exec;
	size_t count = 1;

	if (cuda.new_stream(&stream, 0))
		exit(93);
	made = capture(&first[0]);
	child = capture(&first[1]);
	if (cuda.get_nodes(made, nodes, &count) || cuda.add_child(&nodes[1], made, NULL, 0, child))
		exit(89);
	exec = instantiate(made);
	for (int i = 0; i < 2; i++) {
		release(first[i].in);
		release(first[i].out);
	}
	for (int i = 0; i < atoi(text); i++) {
		memory[i % 2].in[0] += (uint64_t)i;
		change(exec, nodes, memory);
		launch_graph(exec);
		cuda.wait(stream);
	}
	for (size_t i = 0; i < WORDS; i++)
		own.out[i] += memory[0].out[i] + 3 * memory[1].out[i];
	stream = NULL;
}

static void cooperative(const char *text)
{
	for (int i = 0; i < atoi(text); i++)
		launch_by("cuLaunchCooperativeKernel", "count", (void *[]){&own.counter});
}

static void *take_and_free(void *text)
{
	cuda.set_current(context);
	for (int i = 0; i < atoi(text); i++)
		release(allocate(4096));
	return NULL;
}

static pthread_t allocating;
static bool is_allocating;

static void allocate_meanwhile(const char *text)
{
	is_allocating = !pthread_create(&allocating, NULL, take_and_free, strdup(text));
}

static void *work_in_thread(void *sum)
{
	struct memory memory;

	cuda.set_current(context);
	memory = new_memory();
	work_on(&memory, 20);
	*(uint64_t *)sum = memory.counter[0] + memory.out[WORDS - 1];
	return NULL;
}

static void threads(const char *text)
{
	pthread_t started[THREADS_MAX];
	uint64_t sums[THREADS_MAX];
	int n = atoi(text);

	for (int i = 0; i < n; i++)
		pthread_create(&started[i], NULL, work_in_thread, &sums[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(started[i], NULL);
		own.out[2] += sums[i];
	}
}

static void fork_child(const char *text)
{
	int status = 0;
	pid_t child;

	(void)text;
	fflush(stdout);
	child = fork();
	if (!child) {
		work("3");
		_exit(own.counter[0] ? 5 : 6);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

static void die_within(const char *text)
{
	dies_at = (unsigned)atoi(text);
	dies_with = (unsigned)atoi(strchr(text, ':') + 1);
}

static void print_sum(const char *text)
{
	uint64_t sum = own.counter[0];

	(void)text;
	if (is_allocating)
		pthread_join(allocating, NULL);
	for (int i = 0; i < WORDS; i++)
		sum = 31 * sum + own.out[i];
	printf("sum %llx\n", (unsigned long long)sum);
}

static const struct {
	const char *word;
	void (*act)(const char *text);
} actions[] = {
	{"work", work},
	{"managed", managed},
	{"hidden", hidden},
	{"large", large},
	{"unsteady", unsteadily},
	{"allocate", allocate_meanwhile},
	{"threads", threads},
	{"graph", graph},
	{"cold-graph", cold_graph},
	{"nested-graph", nested_graph},
	{"cooperative", cooperative},
	{"copies", copies},
	{"fork", fork_child},
	{"dies", die_within},
	{"sum", print_sum},
};

int main(int word_count, char **words)
{
	initialise();
	own = new_memory();
	for (int i = 1; i < word_count; i++)
		for (size_t k = 0; k < sizeof(actions) / sizeof(actions[0]); k++) {
			const size_t length = strlen(actions[k].word);

			if (!strncmp(actions[k].word, words[i], length) &&
				(words[i][length] == ':' || !words[i][length]))
				actions[k].act(words[i] + length + (words[i][length] == ':'));
		}
	return 0;
}
