// SPDX-License-Identifier: Apache-2.0
// Five kernels that use different units, of 1 to 4 ms each on an H200. Runs one of them, or a random mixture with 5 to 40 launches of a kernel in a row.
// usage: five KIND|mix SECONDS [SEED]     KIND: 0 fp32, 1 tensor, 2 memory, 3 integer, 4 one block
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#define CHECK(call)                                                                                  \
	do {                                                                                         \
		cudaError_t failed = (call);                                                         \
		if (failed) {                                                                        \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(failed));              \
			exit(1);                                                                     \
		}                                                                                    \
	} while (0)

__global__ void five_fp32(float *out, int rounds)
{
	float a = threadIdx.x * 1e-3f, b = 1.0001f, c = 0.9999f, d = a + 1, e = a + 2, f = a + 3;

	for (int i = 0; i < rounds; i++) {
		a = a * b + c;
		d = d * b + c;
		e = e * b + c;
		f = f * b + c;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = a + d + e + f;
}

__global__ void five_tensor(float *out, int rounds)
{
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, half, row_major> a;
	fragment<matrix_b, 16, 16, 16, half, col_major> b;
	fragment<accumulator, 16, 16, 16, float> sums[4];

	fill_fragment(a, __float2half(0.01f * (threadIdx.x % 7)));
	fill_fragment(b, __float2half(0.02f * (threadIdx.x % 5)));
	for (int s = 0; s < 4; s++)
		fill_fragment(sums[s], 0.0f);
	for (int i = 0; i < rounds; i++)
		for (int s = 0; s < 4; s++)
			mma_sync(sums[s], a, b, sums[s]);
	out[blockIdx.x * blockDim.x + threadIdx.x] = sums[0].x[0] + sums[1].x[0] + sums[2].x[0] + sums[3].x[0];
}

__global__ void five_memory(const float4 *from, float4 *to, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
		to[i] = from[i];
}

__global__ void five_integer(unsigned *out, int rounds)
{
	unsigned a = threadIdx.x, b = blockIdx.x | 1, c = a ^ 0x9e3779b9u, d = b * 3;

	for (int i = 0; i < rounds; i++) {
		a = a * b + (c >> 3);
		c = c * d ^ (a << 5);
		d += a ^ c;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = a + c + d;
}

__global__ void five_one_block(float *out, int rounds)
{
	float a = threadIdx.x * 1e-3f;

	for (int i = 0; i < rounds; i++)
		a = a * 1.0001f + 0.9999f;
	out[threadIdx.x] = a;
}

static float *out;
static float4 *from, *to;
static const size_t count = (size_t)64 << 20;

static void launch(int kind)
{
	switch (kind) {
	case 0: five_fp32<<<1056, 256>>>(out, 60000); break;
	case 1: five_tensor<<<1056, 256>>>(out, 12000); break;
	case 2: five_memory<<<2112, 512>>>(from, to, count); break;
	case 3: five_integer<<<1056, 256>>>((unsigned *)out, 25000); break;
	default: five_one_block<<<1, 128>>>(out, 500000); break;
	}
	CHECK(cudaGetLastError());
}

static double now(void)
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	const bool is_mix = !strcmp(argv[1], "mix");
	const double end = now() + atof(argv[2]);

	srand(argc > 3 ? atoi(argv[3]) : 1);
	CHECK(cudaMalloc(&out, 1056 * 256 * sizeof(float)));
	CHECK(cudaMalloc(&from, count * sizeof(float4)));
	CHECK(cudaMalloc(&to, count * sizeof(float4)));
	CHECK(cudaMemset(from, 1, count * sizeof(float4)));
	CHECK(cudaDeviceSynchronize());
	while (now() < end) {
		const int kind = is_mix ? rand() % 5 : atoi(argv[1]);
		const int runs = is_mix ? 5 + rand() % 36 : 50;

		for (int i = 0; i < runs; i++)
			launch(kind);
		CHECK(cudaDeviceSynchronize());
	}
	return 0;
}
