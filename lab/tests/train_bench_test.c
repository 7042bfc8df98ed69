/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmark `train` on a fake driver. Two of its kernels are replaced by versions that can be told to
 * compute wrongly.
 */
#include "lab/kernels.h"
#include "lab/train/inside.h"
#include "lab/train/train.h"

#include "cmocka_all.h"
#include "fakes/cuda/give_kernels.h"

enum breakage { NOTHING, ONE_LOSS, ADAMW } broken;
static uint32_t steps_done;

const struct kwhy_program kwhy_program = {.name = "train", .purpose = "", .notes = ""};
const struct kwhy_command *const kwhy_commands[] = {&lab_train.command, NULL};

static void run_as_it_is(const char *name, const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct kwhy_gpu_host_kernel *row = lab_train_host_kernels;

	while (strcmp(row->name, name) != 0)
		row++;
	row->run(grid, arguments);
}

static void run_adamw(const struct kwhy_gpu_grid *grid, void **arguments)
{
	if (broken != ADAMW)
		run_as_it_is("lab_train_adamw", grid, arguments);
}

/*
 * With ONE_LOSS, changes one loss in step 14 counted over all runs, like a GPU that rarely computes wrongly.
 */
static void run_advance(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct lab_train_args *a = arguments[0];

	run_as_it_is("lab_train_advance", grid, arguments);
	if (broken == ONE_LOSS && ++steps_done == 14)
		((float *)kwhy_gpu_at(a->losses))[1] += 1e-6f;
}

#define ARGUMENTS                                                            \
	{                                                                    \
		sizeof(struct lab_train_args), sizeof(struct lab_train_call) \
	}

static const struct kwhy_gpu_host_kernel replaced[] = {{"lab_train_adamw", run_adamw, ARGUMENTS},
	{"lab_train_advance", run_advance, ARGUMENTS}, {NULL, NULL, {0}}};

static struct lab_bench *bench_of(struct lab_train_options *options, enum breakage what)
{
	struct lab_bench *bench;
	struct kwhy_error error;

	broken = what;
	steps_done = 0;
	lab_train.command.defaults(options);
	options->shared.variants = "graph";
	options->shared.runs.repeat = 6;
	options->shared.runs.seconds = 0;
	options->width = 64;
	options->batch = 32;
	options->samples = 64;
	options->steps = 3;
	if (lab_bench_run(&options->shared, NULL, NULL, &bench, &error))
		fail_msg("%s", error.text);
	return bench;
}

static void a_training_that_is_right_has_figures(void **state)
{
	struct lab_train_options options;
	struct lab_bench *bench = bench_of(&options, NOTHING);

	(void)state;
	assert_null(bench->rows[0].wrong);
	assert_null(bench->rows[0].missing);
	assert_true(lab_row_has_run(&bench->rows[0]));
	lab_bench_free(bench);
}

static void a_training_that_is_not_the_references_has_none(void **state)
{
	struct lab_train_options options;
	struct lab_bench *bench = bench_of(&options, ADAMW);

	(void)state;
	assert_non_null(strstr(bench->rows[0].wrong, "graph is not the training of the reference"));
	assert_false(lab_row_has_run(&bench->rows[0]));
	lab_bench_free(bench);
}

static void losses_that_change_from_run_to_run_are_wrong(void **state)
{
	struct lab_train_options options;
	struct lab_bench *bench = bench_of(&options, ONE_LOSS);

	(void)state;
	assert_string_equal(bench->rows[0].wrong, "graph gave other losses in another run");
	assert_false(lab_row_has_run(&bench->rows[0]));
	lab_bench_free(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_training_that_is_right_has_figures),
		cmocka_unit_test(a_training_that_is_not_the_references_has_none),
		cmocka_unit_test(losses_that_change_from_run_to_run_are_wrong),
	};

	give_kernels_to_the_fake(FAKE_CUDA, replaced);
	give_kernels_to_the_fake(FAKE_CUDA, lab_train_host_kernels);
	return kwhy_test_main(tests, NULL, NULL);
}
