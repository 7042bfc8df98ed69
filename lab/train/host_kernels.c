/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/numbers.h"
#include "lab/train/device.h"
#include "lab/train/rules.h"

/* The host forms of kernels/train.cu: each runs its whole grid. */

/* One launch, with the addresses as pointers. */
struct work {
	const struct lab_train_args *a;
	const struct lab_train_call *c;
	enum lab_number type;
	size_t width, rows, matrices, count;
	float *weights, *first, *second, *gradients, *logits, *row_losses;
	void *hidden, *errors;
	struct lab_train_clock *clock;
};

static struct work work_of(void **arguments)
{
	const struct lab_train_args *a = arguments[0];
	size_t matrices = (size_t)a->layers * a->width * a->width;

	return (struct work){.a = a,
		.c = arguments[1],
		.type = (enum lab_number)a->type,
		.width = a->width,
		.rows = a->batch / a->parts,
		.matrices = matrices,
		.count = matrices + (size_t)a->layers * a->width,
		.weights = kwhy_gpu_at(a->weights),
		.first = kwhy_gpu_at(a->first),
		.second = kwhy_gpu_at(a->second),
		.gradients = kwhy_gpu_at(a->gradients),
		.logits = kwhy_gpu_at(a->logits),
		.row_losses = kwhy_gpu_at(a->row_losses),
		.hidden = kwhy_gpu_at(a->hidden),
		.errors = kwhy_gpu_at(a->errors),
		.clock = kwhy_gpu_at(a->clock)};
}

static size_t bias_at(const struct work *work)
{
	return work->matrices + work->c->layer * work->width;
}

static size_t plane_at(const struct work *work, uint32_t slot)
{
	return slot * work->rows * work->width;
}

/* --- The beginning of a run, and of a step --- */

static void set_clock(struct lab_train_clock *clock, struct lab_train_pace pace, uint32_t step)
{
	lab_train_pace_next(&pace);
	*clock = (struct lab_train_clock){pace.power1, pace.power2, pace.rate, pace.root, step, 0};
}

static void run_begin(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	float bound = lab_train_bound(work.a->width);

	(void)grid;
	memset(work.first, 0, work.count * sizeof(*work.first));
	memset(work.second, 0, work.count * sizeof(*work.second));
	for (size_t i = 0; i < work.count; i++)
		work.weights[i] = lab_train_first_weight(i, bound);
	for (size_t i = 0; i < work.matrices; i++)
		lab_number_put(work.type, kwhy_gpu_at(work.a->factors), i, work.weights[i]);
	set_clock(work.clock, (struct lab_train_pace){.power1 = 1, .power2 = 1}, 0);
}

static void run_take(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	size_t batch = work.a->batch, count = batch * work.width;
	const float *staged = (const float *)kwhy_gpu_at(work.a->staged) +
		work.clock->step % 2 * (count + batch);

	(void)grid;
	for (size_t i = 0; i < count; i++)
		lab_number_put(work.type, kwhy_gpu_at(work.a->inputs), i, staged[i]);
	memcpy(kwhy_gpu_at(work.a->labels), staged + count, batch * sizeof(uint32_t));
}

/* --- What follows a product --- */

static void run_bias(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	bool is_last = work.c->layer + 1 == work.a->layers;
	enum lab_number type = is_last ? LAB_FP32 : work.type;
	size_t first = is_last ? 0 : plane_at(&work, work.c->slot);
	void *sums = is_last ? work.logits : work.hidden;

	(void)grid;
	for (size_t i = 0; i < work.rows * work.width; i++) {
		float sum = lab_number_get(type, sums, first + i) +
			work.weights[bias_at(&work) + i % work.width];

		lab_number_put(type, sums, first + i, is_last ? sum : fmaxf(sum, 0));
	}
}

static float soften(const struct work *work, size_t row, uint32_t label)
{
	const float *logits = work->logits + row * work->width;
	float most = logits[0], sum = 0, share = work->a->scale / (float)work->a->whole_batch;

	for (size_t n = 1; n < work->width; n++)
		most = fmaxf(most, logits[n]);
	for (size_t n = 0; n < work->width; n++)
		sum += expf(logits[n] - most);
	for (size_t n = 0; n < work->width; n++)
		lab_number_put(work->type, work->errors, row * work->width + n,
			share * (expf(logits[n] - most) / sum - (n == label)));
	return logf(sum) + most - logits[label];
}

static void run_loss(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const uint32_t *labels = (const uint32_t *)kwhy_gpu_at(work.a->labels) + work.c->part * work.rows;

	(void)grid;
	for (size_t row = 0; row < work.rows; row++)
		work.row_losses[work.c->part * work.rows + row] = soften(&work, row, labels[row]);
}

static void run_mask(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	size_t errors = plane_at(&work, work.c->mode), inputs = plane_at(&work, work.c->slot);

	(void)grid;
	for (size_t i = 0; i < work.rows * work.width; i++)
		if (!(lab_number_get(work.type, work.hidden, inputs + i) > 0))
			lab_number_put(work.type, work.errors, errors + i, 0);
}

/* --- Gradients of biases, and the loss --- */

static void run_bias_gradient(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	float *gradients = work.gradients + bias_at(&work);
	size_t errors = plane_at(&work, work.c->slot);

	(void)grid;
	for (size_t n = 0; n < work.width; n++) {
		float sum = 0;

		for (size_t m = 0; m < work.rows; m++)
			sum += lab_number_get(work.type, work.errors, errors + m * work.width + n);
		gradients[n] = work.c->mode == LAB_TRAIN_ADD ? gradients[n] + sum : sum;
	}
}

static void run_tally(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	float sum = 0;

	(void)grid;
	for (size_t i = 0; i < work.a->batch; i++)
		sum += work.row_losses[i];
	work.gradients[work.count] = sum / (float)work.a->whole_batch;
}

/* --- AdamW --- */

/* Of one weight, the parts that `mode` names; all at once they are lab_train_adamw() of rules.h. */
static void apply(const struct work *work, uint32_t mode, size_t i)
{
	float gradient = 1 / work->a->scale * work->gradients[i], *weight = &work->weights[i],
	      *first = &work->first[i], *second = &work->second[i];

	if (mode & LAB_TRAIN_DECAY)
		*weight *= 1.0f - LAB_TRAIN_RATE * LAB_TRAIN_DECAY_RATE;
	if (mode & LAB_TRAIN_FIRST_MOMENT)
		*first = LAB_TRAIN_BETA1 * *first + (1.0f - LAB_TRAIN_BETA1) * gradient;
	if (mode & LAB_TRAIN_SECOND_MOMENT)
		*second = LAB_TRAIN_BETA2 * *second + (1.0f - LAB_TRAIN_BETA2) * gradient * gradient;
	if (mode & LAB_TRAIN_MOVE)
		*weight -= work->clock->rate * *first /
			(sqrtf(*second) * work->clock->root + LAB_TRAIN_EPSILON);
	if (mode & LAB_TRAIN_ROUND && i < work->matrices)
		lab_number_put(work->type, kwhy_gpu_at(work->a->factors), i, *weight);
}

static void run_adamw(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);

	(void)grid;
	for (size_t i = 0; i < work.count; i++)
		apply(&work, work.c->mode, i);
}

static void run_advance(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct work work = work_of(arguments);
	const struct lab_train_pace pace = {.power1 = work.clock->power1, .power2 = work.clock->power2};

	(void)grid;
	((float *)kwhy_gpu_at(work.a->losses))[work.clock->step] = work.gradients[work.count];
	set_clock(work.clock, pace, work.clock->step + 1);
}

/* All take struct lab_train_args and struct lab_train_call. */
#define ROW(name, run)                                                               \
	{                                                                            \
		name, run,                                                           \
		{                                                                    \
			sizeof(struct lab_train_args), sizeof(struct lab_train_call) \
		}                                                                    \
	}

const struct kwhy_gpu_host_kernel lab_train_host_kernels[] = {
	ROW("lab_train_begin", run_begin),
	ROW("lab_train_take", run_take),
	ROW("lab_train_bias", run_bias),
	ROW("lab_train_loss", run_loss),
	ROW("lab_train_mask", run_mask),
	ROW("lab_train_bias_gradient", run_bias_gradient),
	ROW("lab_train_tally", run_tally),
	ROW("lab_train_adamw", run_adamw),
	ROW("lab_train_advance", run_advance),
	{NULL, NULL, {0}},
};
