/* SPDX-License-Identifier: Apache-2.0 */
/* `bench train` on a fake driver, one kernel of which can be told to do something else. */
#include "lab/train/bench.h"
#include "lab/train/device.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_ADVANCE = 1, MODE_UPDATE };

static int broken; /* which kernel, if any */
static uint32_t calls;

static void run_as_it_is(const char *name, const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_gpu_host_kernel *row = kwhy_train_host_kernels;

	while (strcmp(row->name, name) != 0)
		row++;
	row->run(grid, arguments);
}

/* Leaves the gradients out. */
static void run_update(const struct kwhy_gpu_grid *grid, void **arguments)
{
	if (broken != MODE_UPDATE)
		run_as_it_is("kwhy_train_update_large", grid, arguments);
}

/* A loss that is another one in the end, as of a GPU that miscalculates now and then. */
static void run_advance(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_train_args *a = arguments[0];

	run_as_it_is("kwhy_train_advance", grid, arguments);
	if (broken == MODE_ADVANCE && a->half && ++calls == 20)
		((float *)(uintptr_t)a->losses)[1] += 1e-6f;
}

static const struct kwhy_gpu_host_kernel replaced[] = {
	{"kwhy_train_update_large", run_update,
		{sizeof(struct kwhy_train_args), sizeof(struct kwhy_train_call)}},
	{"kwhy_train_advance", run_advance, {sizeof(struct kwhy_train_args), sizeof(struct kwhy_train_call)}},
	{NULL, NULL, {0}}};

static struct kwhy_bench_train *bench_of(const char *variants)
{
	const struct kwhy_bench_train_request request = {.backend = KWHY_GPU_CUDA,
		.variants = variants,
		.shape = {.width = 64, .layers = 2, .batch = 32, .parts = 1, .samples = 64, .steps = 3},
		.check_width = 64,
		.repeat = 6};
	struct kwhy_bench_train *bench;
	struct kwhy_error error;

	if (kwhy_bench_train(&request, &bench, &error))
		fail_msg("%s", error.text);
	return bench;
}

static void a_variant_that_is_another_training_says_so_and_the_others_are_measured(void **state)
{
	struct kwhy_bench_train *bench;

	(void)state;
	broken = MODE_UPDATE;
	bench = bench_of("fp32,graph");
	broken = 0;
	assert_true(bench->is_wrong);
	assert_int_equal(bench->row_count, 2);
	assert_null(bench->rows[0].missing);
	assert_true(bench->rows[0].run_s.median > 0);
	assert_non_null(strstr(bench->rows[1].missing, "graph is not the training of the reference"));
	kwhy_bench_train_free(bench);
}

static void a_run_that_gives_another_bit_is_told(void **state)
{
	struct kwhy_bench_train *bench;

	(void)state;
	broken = MODE_ADVANCE;
	bench = bench_of("fp32,queued");
	broken = 0;
	assert_true(bench->is_wrong);
	assert_null(bench->rows[0].missing);
	assert_non_null(strstr(bench->rows[1].missing, "in step 1 where the first had"));
	kwhy_bench_train_free(bench);
}

static void nothing_is_wrong_where_nothing_is_broken(void **state)
{
	struct kwhy_bench_train *bench = bench_of(NULL);

	(void)state;
	assert_false(bench->is_wrong);
	assert_int_equal(bench->row_count, 8); /* of one GPU */
	for (size_t i = 0; i < bench->row_count; i++)
		assert_null(bench->rows[i].missing);
	assert_string_equal(bench->energy_missing, "not asked for");
	kwhy_bench_train_free(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variant_that_is_another_training_says_so_and_the_others_are_measured),
		cmocka_unit_test(a_run_that_gives_another_bit_is_told),
		cmocka_unit_test(nothing_is_wrong_where_nothing_is_broken),
	};

	give_kernels_to_the_fake("libcuda.so.1", replaced);
	give_kernels_to_the_fake("libcuda.so.1", kwhy_train_host_kernels);
	return kwhy_test_main(tests, NULL, NULL);
}
