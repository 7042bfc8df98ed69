/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether CUPTI can be switched to recording whole graphs (GRAPH_TRACE) after it has recorded their kernels one by one. Each way of switching runs in
 * a process of its own. Prints how the process ended and what was recorded.
 *
 * usage: graph_switch WAY...
 *
 *   none             never switched: kernels are recorded one by one
 *   start            whole graphs are recorded from before the context is made
 *   idle             switched by the launching thread while no work is in flight
 *   busy             switched by the launching thread while work is in flight
 *   beside           switched by another thread while launches continue
 *   without-kernels  as idle; recording of kernels is off while it is switched
 *   early            on before the context is made, off after that, on again while launches continue
 *   early-graph      as early, but off only after the graph is made
 *   back             on from the start, off while launches continue
 *   kernels-late     recording of kernels is off while the graph is made, and on while launches continue
 *
 * With "-calls" appended to a way, calls that launch graphs are recorded, too.
 *
 * build: nvcc -O2 -arch=native -o graph_switch graph_switch.cu -ldl -lpthread
 * The environment variable CUPTI names CUPTI's library. Without it, the loader looks for libcupti.so.13.
 */
#include <atomic>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DRIVER = 4, RUNTIME = 5, CONCURRENT_KERNEL = 10, GRAPH_TRACE = 51, NODES = 20, LAUNCHES = 3000, BUFFER_BYTES = 4 << 20 };
static struct {
	int (*enable)(int), (*disable)(int), (*buffers)(void (*)(uint8_t **, size_t *, size_t *), void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*flush)(uint32_t), (*next)(uint8_t *, size_t, uint32_t **);
} cupti;
static std::atomic<uint64_t> kernels, graphs, calls;

static __global__ void tiny(float *x) { x[threadIdx.x] += 1; }

static void wanted(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = (uint8_t *)aligned_alloc(8, BUFFER_BYTES), *bytes = BUFFER_BYTES, *most = 0;
}

static void done(void *, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	uint32_t *record = NULL;
	while (!cupti.next(buffer, valid, &record))
		kernels += *record == CONCURRENT_KERNEL, graphs += *record == GRAPH_TRACE, calls += *record == DRIVER || *record == RUNTIME;
	free(buffer);
}

static void load()
{
	const char *name = getenv("CUPTI");
	void *library = dlopen(name ? name : "libcupti.so.13", RTLD_NOW);
	if (!library) fprintf(stderr, "%s\n", dlerror()), exit(3);
	*(void **)&cupti.enable = dlsym(library, "cuptiActivityEnable"), *(void **)&cupti.disable = dlsym(library, "cuptiActivityDisable");
	*(void **)&cupti.buffers = dlsym(library, "cuptiActivityRegisterCallbacks"), *(void **)&cupti.flush = dlsym(library, "cuptiActivityFlushAll");
	*(void **)&cupti.next = dlsym(library, "cuptiActivityGetNextRecord");
}

static cudaGraphExec_t make_graph(cudaStream_t stream, float *x)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
	for (int i = 0; i < NODES; i++) tiny<<<1, 32, 0, stream>>>(x);
	cudaStreamEndCapture(stream, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	return exec;
}

static void launch(cudaGraphExec_t exec, cudaStream_t stream)
{
	for (int i = 0; i < LAUNCHES; i++) {
		cudaGraphLaunch(exec, stream);
		if (i % 10 == 9) cudaStreamSynchronize(stream);
	}
}

static bool is_off;
static int kind = GRAPH_TRACE;
static void *switch_soon(void *)
{
	usleep(20000);
	printf(" [switch: %d]", is_off ? cupti.disable(kind) : cupti.enable(kind));
	return NULL;
}

static void say(const char *when)
{
	cudaDeviceSynchronize();
	cupti.flush(1);
	printf(" %s: %lu kernels, %lu graphs, %lu calls;", when, (unsigned long)kernels.exchange(0), (unsigned long)graphs.exchange(0), (unsigned long)calls.exchange(0));
	fflush(stdout);
}

static void run(const char *way)
{
	const bool with_calls = strstr(way, "-calls") != NULL, early = !strncmp(way, "early", 5), early_graph = !strncmp(way, "early-graph", 11), back = !strncmp(way, "back", 4), late = !strncmp(way, "kernels-late", 12);
	const bool beside = !strncmp(way, "beside", 6) || early || back || late;
	cudaStream_t stream;
	pthread_t thread;
	float *x;
	load();
	cupti.buffers(wanted, done);
	if (with_calls) cupti.enable(RUNTIME), cupti.enable(DRIVER);
	cupti.enable(CONCURRENT_KERNEL);
	if (!strncmp(way, "start", 5) || early || back) cupti.enable(GRAPH_TRACE);
	cudaMalloc(&x, 4096), cudaStreamCreate(&stream);
	if (early && !early_graph) cupti.disable(GRAPH_TRACE);
	if (late) cupti.disable(kind = CONCURRENT_KERNEL);
	cudaGraphExec_t first = make_graph(stream, x);
	if (early_graph) cupti.disable(GRAPH_TRACE);
	launch(first, stream), say("before");
	is_off = back;
	if (beside) pthread_create(&thread, NULL, switch_soon, NULL);
	if (!strncmp(way, "busy", 4)) for (int i = 0; i < 100; i++) cudaGraphLaunch(first, stream);
	if (!strncmp(way, "without-kernels", 15)) cupti.disable(CONCURRENT_KERNEL);
	if (!strncmp(way, "idle", 4) || !strncmp(way, "busy", 4) || !strncmp(way, "without", 7)) printf(" [switch: %d]", cupti.enable(GRAPH_TRACE));
	launch(first, stream);
	if (!strncmp(way, "without-kernels", 15)) cupti.enable(CONCURRENT_KERNEL);
	say("across");
	if (beside) pthread_join(thread, NULL);
	launch(first, stream), say("same graph");
	launch(make_graph(stream, x), stream), say("new graph");
}

int main(int count, char **words)
{
	int status;
	for (int i = 1; i < count; i++) {
		printf("%s:", words[i]), fflush(stdout);
		if (!fork()) run(words[i]), fflush(stdout), _exit(0);
		wait(&status);
		printf(WIFSIGNALED(status) ? " killed by signal %d\n" : " status %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)), fflush(stdout);
	}
	return 0;
}
