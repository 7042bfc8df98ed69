/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests decode's kernels as CUDA code with all their threads, not as the host back end runs them (one
 * thread). The fake driver runs this code on the host, and a fake of cuBLASLt makes the products; the
 * decoder's logits are compared with the reference.
 */
#include "fakes/cuda_text.h"

#include "lab/decode/decode.h"
#include "lab/tests/shuffle.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <stdio.h>

#define NOW_NS() (++ticks)

static uint64_t ticks;

#include "lab/kernels/decode.cu"

enum { BLOCKS_AT_ONCE = 16, TOKENS = 4, PROMPT = 4 };

/* A launch, of which the blocks `first` to `first` + `blocks` - 1 are run at the same time. */
struct call {
	void (*run)(void **arguments);
	void **arguments;
	unsigned first, blocks;
};

static void run_thread(void *context)
{
	const struct call *call = context;

	blockIdx.x = call->first + cuda_text_here->index;
	gridDim.x = call->blocks;
	call->run(call->arguments);
}

static void launch(const struct kwhy_gpu_grid *grid, void **arguments, void (*run)(void **arguments))
{
	for (unsigned first = 0; first < grid->blocks; first += BLOCKS_AT_ONCE) {
		struct call call = {run, arguments, first, grid->blocks};
		unsigned left = grid->blocks - first;

		cuda_text_launch(left < BLOCKS_AT_ONCE ? left : BLOCKS_AT_ONCE, grid->threads_per_block,
			run_thread, &call);
	}
}

/* Runs a kernel whose threads do not synchronise, one thread after the other. */
static void launch_apart(const struct kwhy_gpu_grid *grid, void **arguments, void (*run)(void **arguments))
{
	blockDim.x = grid->threads_per_block;
	gridDim.x = grid->blocks;
	for (blockIdx.x = 0; blockIdx.x < grid->blocks; blockIdx.x++)
		for (threadIdx.x = 0; threadIdx.x < grid->threads_per_block; threadIdx.x++)
			run(arguments);
}

#define launch_fill launch
#define launch_fill_floats launch_apart
#define launch_expand launch_apart
#define launch_reset launch_apart
#define launch_begin launch
#define launch_normalise launch
#define launch_keep launch_apart
#define launch_attend launch
#define launch_activate launch
#define launch_scale launch_apart
#define launch_pick launch
#define launch_choose launch

#define TEXT(upper, lower, threads)                                                 \
	static void text_##lower(void **arguments)                                  \
	{                                                                           \
		lab_decode_##lower(*(const struct lab_decode_args *)arguments[0],   \
			*(const struct lab_decode_call *)arguments[1]);             \
	}                                                                           \
	static void run_##lower(const struct kwhy_gpu_grid *grid, void **arguments) \
	{                                                                           \
		launch_##lower(grid, arguments, text_##lower);                      \
	}
#define ROW(upper, lower, threads) \
	{"lab_decode_" #lower, run_##lower, {sizeof(struct lab_decode_args), sizeof(struct lab_decode_call)}},

LAB_DECODE_KERNELS(TEXT)

static const struct kwhy_gpu_host_kernel texts[] = {LAB_DECODE_KERNELS(ROW){NULL, NULL, {0}}};

static struct kwhy_gpu *gpus[2], *host;
static enum lab_decode_weights weights;

static struct lab_decode *opened(struct kwhy_gpu **on, uint32_t tp, float temperature)
{
	const struct lab_decode_request request = {.gpus = on,
		.tp = tp,
		.shape = &lab_decode_shapes[2],
		.weights = weights,
		.launching = LAB_DECODE_CALLS,
		.batch = 2,
		.prompt = PROMPT,
		.tokens = TOKENS,
		.choice = {.temperature = temperature, .top_p = 0.8F, .top_k = 20, .seed = 3}};
	struct lab_decode *decode;
	struct kwhy_error error;

	if (lab_decode_open(&request, &decode, &error))
		fail_msg("%s", error.text);
	return decode;
}

static void logits_of_two_gpus_are_the_references(void **state)
{
	static const double relative[] = {1e-5, 1e-3, 0.02, 0.003, 0.12, 0.03, 0.35, 0.005};
	struct lab_decode *decode = opened(gpus, 2, 0);
	struct lab_decode_answer answer;
	struct lab_decode_error found;
	struct kwhy_error error;

	(void)state;
	if (lab_decode_answer_init(&lab_decode_shapes[2], weights == LAB_DECODE_SPARSE, &answer, &error) ||
		lab_decode_check(decode, &answer, &found, &error))
		fail_msg("%s", error.text);
	if (!(found.relative <= relative[weights]) || found.agreed < 0.7)
		fail_msg("%g, %g", found.relative, found.agreed);
	lab_decode_answer_done(&answer);
	lab_decode_close(decode);
}

static void draw(struct kwhy_gpu **on, uint32_t tokens[2 * TOKENS])
{
	struct lab_decode *decode = opened(on, 1, 1);
	struct kwhy_error error;

	if (lab_decode_prefill(decode, NULL, &error) || lab_decode_write(decode, NULL, &error) ||
		lab_decode_tokens(decode, 0, tokens, &error) ||
		lab_decode_tokens(decode, 1, tokens + TOKENS, &error))
		fail_msg("%s", error.text);
	lab_decode_close(decode);
}

static void draws_of_one_gpu_are_those_of_the_forms_in_c(void **state)
{
	uint32_t text[2 * TOKENS], c[2 * TOKENS];

	(void)state;
	draw(gpus, text);
	draw(&host, c);
	assert_memory_equal(text, c, sizeof(c));
}

/* The argument is the kind of weights; without it, fp32. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logits_of_two_gpus_are_the_references),
		cmocka_unit_test(draws_of_one_gpu_are_those_of_the_forms_in_c),
	};
	struct kwhy_error error;
	int failed;

	if (!CUDA_TEXT_RUNS)
		return 77;
	weights = argc > 1 ? (enum lab_decode_weights)atoi(argv[1]) : LAB_DECODE_FP32;
	give_kernels_to_the_fake(FAKE_CUDA, texts);
	if (kwhy_gpu_open(KWHY_GPU_CUDA, "0", &gpus[0], &error) ||
		kwhy_gpu_open(KWHY_GPU_CUDA, "1", &gpus[1], &error) ||
		kwhy_gpu_open(KWHY_GPU_HOST, "0", &host, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = kwhy_test_main(tests, NULL, NULL);
	host->ops->close(host);
	for (int i = 2; i--;)
		gpus[i]->ops->close(gpus[i]);
	return failed;
}
