/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles the CUDA source of the conversion kernels for the host (fakes/cuda_text.h), runs it, and compares
 * the results, bit by bit, with the CPU's conversions.
 */
#include "fakes/cuda_text.h"

static float __uint_as_float(unsigned bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#include "transfer/kernels/convert.cu"

#include "cmocka_all.h"
#include "kwhy/transfer.h"

enum { COUNT = 20000, BLOCKS = 2, THREADS = 32 };

struct job {
	float *from;
	void *to;
	int format;
};

static const float scale = 0.75F;

static void run(void *context)
{
	const struct job *job = context;

	if (job->format == KWHY_TRANSFER_F16)
		kwhy_transfer_to_f16(job->from, job->to, COUNT, 1);
	else if (job->format == KWHY_TRANSFER_BF16)
		kwhy_transfer_to_bf16(job->from, job->to, COUNT, 1);
	else
		kwhy_transfer_to_i8(job->from, job->to, COUNT, 1 / scale);
}

/*
 * Converts floats whose bits cover all exponents, also infinities and NANs, and numbers from -100 to 106 in
 * steps of 2/97, which no format has exactly.
 */
static void a_device_converts_to_the_bits_of_the_host(void **state)
{
	struct job job = {.from = malloc(COUNT * sizeof(float)), .to = malloc(COUNT * sizeof(u16))};
	u16 *expected = malloc(COUNT * sizeof(u16));

	(void)state;
	assert_true(job.from && job.to && expected);
	for (u32 i = 0; i < COUNT; i++)
		job.from[i] = i % 2 ? __uint_as_float(i * 214741u) : (float)i / 97 - 100;
	for (job.format = KWHY_TRANSFER_F16; job.format <= KWHY_TRANSFER_I8; job.format++) {
		assert_int_equal(kwhy_transfer_convert(expected, job.from, COUNT, job.format, scale), 0);
		cuda_text_launch(BLOCKS, THREADS, run, &job);
		assert_memory_equal(job.to, expected, COUNT * kwhy_transfer_format_bytes(job.format));
	}
	free(job.from);
	free(job.to);
	free(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_device_converts_to_the_bits_of_the_host)};

	return kwhy_test_main(tests, NULL, NULL);
}
