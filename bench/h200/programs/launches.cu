// SPDX-License-Identifier: Apache-2.0
// Measures how long the host takes to launch a kernel, by the size of its argument. The kernel has one block of 704 threads and does nothing. It is
// launched in three ways: by cuLaunchKernel with an array of pointers to arguments, by cuLaunchKernel with a buffer that holds the arguments, and as a graph of one
// kernel node whose argument never changes. Each size is launched in batches of 48; the synchronisation after a batch is not timed.
// Also measures what else a step of the transfer engine calls in the driver and the system: making a context current, and a lock.
// Prints bytes,how,launches,median_us,p5_us,p95_us. usage: launches
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <pthread.h>
#include <vector>

#define MUST(call) \
	do { \
		int status_ = (int)(call); \
		if (status_ != 0) { \
			fprintf(stderr, "%s: %d\n", #call, status_); \
			exit(1); \
		} \
	} while (0)

template <int N> struct argument {
	unsigned long long words[N / 8];
};

template <int N> static __global__ void nothing(const __grid_constant__ argument<N> given)
{
	if (given.words[0] == 12345)
		*(volatile unsigned long long *)given.words[1] = given.words[N / 8 - 1];
}

struct kind {
	size_t bytes;
	cudaFunction_t function;
	std::vector<double> us[3];
	cudaGraphExec_t graph;
};

static std::vector<kind> kinds;
static unsigned long long words[512];

template <int N> static void add()
{
	void (*kernel)(const argument<N>) = nothing<N>;
	cudaFunction_t function;

	MUST(cudaGetFuncBySymbol(&function, (const void *)kernel));
	kinds.push_back({N, function, {}, NULL});
}

static double microseconds()
{
	return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double launch(const kind &k, int how, CUstream stream)
{
	bool as_buffer = how == 1;
	void *pointers[] = {words};
	size_t bytes = k.bytes;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, words, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
	double start = microseconds();

	if (how == 2)
		MUST(cudaGraphLaunch(k.graph, stream));
	else
		MUST(cuLaunchKernel((CUfunction)k.function, 1, 1, 1, 704, 1, 1, 0, stream, as_buffer ? NULL : pointers, as_buffer ? extra : NULL));
	return microseconds() - start;
}

static CUcontext context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set_current()
{
	MUST(cuCtxSetCurrent(context));
}

static void get_current()
{
	CUcontext now;

	MUST(cuCtxGetCurrent(&now));
}

static void lock_and_unlock()
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void show_call(const char *name, void (*call)())
{
	std::vector<double> us;

	for (int i = 0; i < 500; i++) {
		double start = microseconds();

		for (int k = 0; k < 100; k++)
			call();
		us.push_back((microseconds() - start) / 100);
	}
	std::sort(us.begin(), us.end());
	printf("0,%s,%zu,%.4f,%.4f,%.4f\n", name, us.size(), us[us.size() / 2], us[us.size() / 20], us[us.size() * 19 / 20]);
}

static void capture(kind &k, cudaStream_t stream)
{
	cudaGraph_t graph;

	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launch(k, 0, stream);
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&k.graph, graph, 0));
}

int main(void)
{
	cudaStream_t stream;

	MUST(cudaFree(0));
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	add<16>();
	add<128>();
	add<512>();
	add<768>();
	add<1024>();
	add<1280>();
	add<1536>();
	add<1792>();
	add<2048>();
	add<3072>();
	add<4096>();
	for (kind &k : kinds)
		capture(k, stream);
	for (int round = -5; round < 60; round++)
		for (kind &k : kinds)
			for (int how = 0; how < 3; how++) {
				for (int i = 0; i < 48; i++) {
					double us = launch(k, how, stream);

					if (round >= 0)
						k.us[how].push_back(us);
				}
				MUST(cudaStreamSynchronize(stream));
			}
	for (kind &k : kinds)
		for (int how = 0; how < 3; how++) {
			std::vector<double> &us = k.us[how];

			std::sort(us.begin(), us.end());
			printf("%zu,%s,%zu,%.3f,%.3f,%.3f\n", k.bytes, how == 2 ? "graph" : how ? "buffer" : "pointer", us.size(), us[us.size() / 2], us[us.size() / 20],
				us[us.size() * 19 / 20]);
		}
	MUST(cuCtxGetCurrent(&context));
	show_call("set-current", set_current);
	show_call("get-current", get_current);
	show_call("lock", lock_and_unlock);
	show_call("clock", [] { microseconds(); });
	return 0;
}
