// SPDX-License-Identifier: Apache-2.0
// Measures copies of 1 B to 4 KiB that a CUDA program makes with the run-time API, by three methods:
//   back-to-back  a spin kernel holds the stream while 4 copies and then 16 copies between two events are queued; the result is the mean of the 16
//                 (nvbandwidth's method)
//   isolated      one copy between two events; the queue is empty before it (comm_scope's method)
//   host          by the host's clock: cudaMemcpyAsync with cudaStreamSynchronize for page-locked memory, cudaMemcpy for page-locked and pageable memory
// Prints clock,way,direction,bytes,median_us of COUNT samples. usage: small_copies COUNT
#include "copies.cuh"

#include <algorithm>
#include <vector>

struct copy {
	void *target;
	const void *source;
	size_t bytes;
	cudaMemcpyKind kind;
};

static double back_to_back(const copy &c)
{
	float ms;

	*(volatile int *)latch = 0;
	spin<<<1, 1, 0, stream>>>(latch);
	for (int i = 0; i < 20; i++) {
		if (i == 4)
			MUST(cudaEventRecord(first, stream));
		MUST(cudaMemcpyAsync(c.target, c.source, c.bytes, c.kind, stream));
	}
	MUST(cudaEventRecord(last, stream));
	*(volatile int *)latch = 1;
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaEventElapsedTime(&ms, first, last));
	return 1e3 * ms / 16;
}

static double isolated(const copy &c)
{
	float ms;

	MUST(cudaStreamSynchronize(stream));
	MUST(cudaEventRecord(first, stream));
	MUST(cudaMemcpyAsync(c.target, c.source, c.bytes, c.kind, stream));
	MUST(cudaEventRecord(last, stream));
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaEventElapsedTime(&ms, first, last));
	return 1e3 * ms;
}

static double by_host(const copy &c)
{
	double start = microseconds();

	MUST(cudaMemcpyAsync(c.target, c.source, c.bytes, c.kind, stream));
	MUST(cudaStreamSynchronize(stream));
	return microseconds() - start;
}

static double waiting(const copy &c)
{
	double start = microseconds();

	MUST(cudaMemcpy(c.target, c.source, c.bytes, c.kind));
	return microseconds() - start;
}

static void show(const char *clock, const char *way, const copy &c, int count, double (*sample)(const copy &))
{
	std::vector<double> us;

	for (int i = 0; i < count + 20; i++) {
		double value = sample(c);

		if (i >= 20)
			us.push_back(value);
	}
	std::nth_element(us.begin(), us.begin() + count / 2, us.end());
	printf("%s,%s,%s,%zu,%.4f\n", clock, way, c.kind == cudaMemcpyHostToDevice ? "h2d" : "d2h", c.bytes, us[count / 2]);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 500;
	void *device, *pinned, *pageable = malloc(1 << 20);

	MUST(cudaMalloc(&device, 1 << 20));
	MUST(cudaMallocHost(&pinned, 1 << 20));
	MUST(cudaMallocHost((void **)&latch, sizeof(*latch)));
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	MUST(cudaEventCreate(&first));
	MUST(cudaEventCreate(&last));
	for (size_t i = 0; i < 1 << 20; i++)
		((char *)pageable)[i] = ((char *)pinned)[i] = (char)(i * 2654435761u >> 13);
	for (size_t bytes = 1; bytes <= 4096; bytes *= 16)
		for (int back = 0; back < 2; back++) {
			cudaMemcpyKind kind = back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
			copy locked = {back ? pinned : device, back ? device : pinned, bytes, kind};
			copy plain = {back ? pageable : device, back ? device : pageable, bytes, kind};

			show("back-to-back", "pinned", locked, count / 4 + 1, back_to_back);
			show("isolated", "pinned", locked, count, isolated);
			show("host", "pinned", locked, count, by_host);
			show("host", "pinned-waiting", locked, count, waiting);
			show("host", "pageable", plain, count, waiting);
		}
	return 0;
}
