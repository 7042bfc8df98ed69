// SPDX-License-Identifier: Apache-2.0
// Measures how well a plain CUDA program's medians of copy times repeat, between processes and within one process.
// Prints part,clock,way,direction,bytes,samples,median_us,p5_us. Parts:
//   whole      sizes from 1 B to 16 MiB, one after another, with up to 200 samples or 40 ms each
//   first ...  small copies, and a kernel that moves as many bytes; then the same again after one object was made anew: none ("again"), the stream, the
//              page-locked memory, the device's memory, the context
// usage: repeat_copies
#include "copies.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

enum { BYTES = 16 << 20 };

static __global__ void move(char *to, const char *from, size_t bytes)
{
	for (size_t i = threadIdx.x; i < bytes; i += blockDim.x)
		to[i] = from[i];
}

static void *device, *pinned, *pageable;

static bool by_kernel;

static double back_to_back(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	float ms;

	*(volatile int *)latch = 0;
	spin<<<1, 1, 0, stream>>>(latch);
	for (int i = 0; i < 20; i++) {
		if (i == 4)
			MUST(cudaEventRecord(first, stream));
		if (by_kernel)
			move<<<1, 256, 0, stream>>>((char *)to, (const char *)from, bytes);
		else
			MUST(cudaMemcpyAsync(to, from, bytes, kind, stream));
	}
	MUST(cudaEventRecord(last, stream));
	*(volatile int *)latch = 1;
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaEventElapsedTime(&ms, first, last));
	return 1e3 * ms / 16;
}

static double isolated(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	float ms;

	MUST(cudaEventRecord(first, stream));
	MUST(cudaMemcpyAsync(to, from, bytes, kind, stream));
	MUST(cudaEventRecord(last, stream));
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaEventElapsedTime(&ms, first, last));
	return 1e3 * ms;
}

static double by_host(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	double start = microseconds();

	MUST(cudaMemcpyAsync(to, from, bytes, kind, stream));
	MUST(cudaStreamSynchronize(stream));
	return microseconds() - start;
}

typedef double sampler(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);

static void show(const char *part, const char *clock, sampler *sample, bool locked, bool back, size_t bytes)
{
	void *host = locked ? pinned : pageable;
	std::vector<double> us;
	double end = 0;

	for (int i = 0; i < 210 && (i < 13 || microseconds() < end); i++) {
		double value = back ? sample(host, device, bytes, cudaMemcpyDeviceToHost) : sample(device, host, bytes, cudaMemcpyHostToDevice);

		if (i == 2)
			end = microseconds() + 4e4;
		if (i >= 3)
			us.push_back(value);
	}
	std::sort(us.begin(), us.end());
	printf("%s,%s,%s,%s,%zu,%zu,%.4f,%.4f\n", part, clock, by_kernel ? "kernel" : locked ? "pinned" : "pageable", back ? "d2h" : "h2d", bytes, us.size(),
		us[us.size() / 2], us[us.size() / 20]);
}

static void make_stream()
{
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

static void make_all()
{
	MUST(cudaMalloc(&device, BYTES));
	MUST(cudaMallocHost(&pinned, BYTES));
	MUST(cudaMallocHost((void **)&latch, sizeof(*latch)));
	MUST(cudaEventCreate(&first));
	MUST(cudaEventCreate(&last));
	make_stream();
	memset(pinned, 7, BYTES);
}

static void show_small(const char *part)
{
	for (size_t bytes = 1; bytes <= 4096; bytes *= 16)
		for (int back = 0; back < 2; back++) {
			show(part, "back-to-back", back_to_back, true, back, bytes);
			show(part, "isolated", isolated, true, back, bytes);
			by_kernel = true;
			show(part, "back-to-back", back_to_back, true, back, bytes);
			by_kernel = false;
		}
}

// The old object is freed after the new one is made, so that the new one has another address.
static void show_anew()
{
	void *was_device = device, *was_pinned = pinned;
	cudaStream_t was = stream;

	show_small("first");
	show_small("again");
	make_stream();
	show_small("stream");
	MUST(cudaMallocHost(&pinned, BYTES));
	memset(pinned, 7, BYTES);
	show_small("pinned");
	MUST(cudaMalloc(&device, BYTES));
	show_small("device");
	MUST(cudaStreamDestroy(was));
	MUST(cudaFree(was_device));
	MUST(cudaFreeHost(was_pinned));
	MUST(cudaDeviceReset());
	make_all();
	show_small("context");
}

int main(void)
{
	pageable = malloc(BYTES);
	memset(pageable, 7, BYTES);
	make_all();
	for (size_t bytes = 1; bytes <= BYTES; bytes *= 16)
		for (int back = 0; back < 2; back++) {
			show("whole", "back-to-back", back_to_back, true, back, bytes);
			show("whole", "isolated", isolated, true, back, bytes);
			show("whole", "host", by_host, true, back, bytes);
			show("whole", "host", by_host, false, back, bytes);
		}
	show_anew();
	return 0;
}
