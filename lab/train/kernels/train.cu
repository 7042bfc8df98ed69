/* SPDX-License-Identifier: Apache-2.0 */
/* --- Kernels between the matrix products --- */

#define RATE 1e-3f
#define DECAY_RATE 1e-2f
#define BETA1 0.9f
#define BETA2 0.999f
#define EPSILON 1e-8f
#define SEED_OF_WEIGHTS (42ull << 48 ^ 1ull << 40)

/* Loops over this thread's share of the integers from 0 to end - 1. */
#define FOR_EACH(i, end) \
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (end); i += (u64)gridDim.x * blockDim.x)

static __device__ u32 rows_of(const struct lab_train_args *a) { return a->batch / a->parts; }
static __device__ u64 matrix_at(const struct lab_train_args *a, u32 layer) { return (u64)layer * a->width * a->width; }
static __device__ u64 bias_at(const struct lab_train_args *a, u32 layer) { return matrix_at(a, a->layers) + (u64)layer * a->width; }
static __device__ u64 plane_at(const struct lab_train_args *a, u32 slot) { return (u64)slot * rows_of(a) * a->width; }

/* --- Start of a run, and of a step --- */

static __device__ float first_weight(u64 place, float bound)
{
	return (float)((int)(mix(SEED_OF_WEIGHTS ^ place) >> 40) - (1 << 23)) * (1.0f / 8388608.0f) * bound;
}

static __device__ void set_clock(struct lab_train_clock *clock, float power1, float power2, u32 step)
{
	clock->power1 = power1;
	clock->power2 = power2;
	clock->rate = RATE / (1.0f - power1);
	clock->root = 1.0f / sqrtf(1.0f - power2);
	clock->step = step;
}

KERNEL void lab_train_begin(const struct lab_train_args a, const struct lab_train_call c)
{
	u64 matrices = matrix_at(&a, a.layers), count = bias_at(&a, a.layers);
	float bound = 1.0f / sqrtf((float)a.width);

	FOR_EACH(i, count) {
		float value = first_weight(i, bound);

		a.weights[i] = value;
		a.first[i] = 0;
		a.second[i] = 0;
		if (i < matrices)
			put(a.type, a.factors, i, value);
	}
	if (blockIdx.x + threadIdx.x == 0)
		set_clock(a.clock, BETA1, BETA2, 0);
}

/*
 * Copies the step's batch from `staged` to `inputs` (converted to the type of products) and `labels`, so that the
 * next batch can be sent.
 */
KERNEL void lab_train_take(const struct lab_train_args a, const struct lab_train_call c)
{
	u64 count = (u64)a.batch * a.width;
	const float *staged = a.staged + a.clock->step % 2 * (count + a.batch);

	FOR_EACH(i, count)
		put(a.type, a.inputs, i, staged[i]);
	FOR_EACH(i, a.batch)
		a.labels[i] = ((const u32 *)(staged + count))[i];
}

/* --- Kernels after a product --- */

KERNEL void lab_train_bias(const struct lab_train_args a, const struct lab_train_call c)
{
	u32 is_last = c.layer + 1 == a.layers, type = is_last ? LAB_FP32 : a.type;
	u64 count = (u64)rows_of(&a) * a.width, first = is_last ? 0 : plane_at(&a, c.slot);
	const float *biases = a.weights + bias_at(&a, c.layer);
	void *sums = is_last ? (void *)a.logits : a.hidden;

	FOR_EACH(i, count) {
		float sum = get(type, sums, first + i) + biases[(u32)i % a.width];

		put(type, sums, first + i, is_last ? sum : fmaxf(sum, 0));
	}
}

/*
 * Cross entropy of a sample (`row` of the part of the batch) with softmax, and the gradients of its logits, divided
 * by the number of samples of the whole batch. A block processes one sample.
 */
static __device__ void soften(const struct lab_train_args *a, u32 row, u32 label, float *loss)
{
	const float *logits = a->logits + (u64)row * a->width;
	float most = logits[0], sum = 0, share = 1.0f / (float)a->whole_batch;

	for (u32 n = threadIdx.x; n < a->width; n += blockDim.x)
		most = fmaxf(most, logits[n]);
	most = reduce(most, 0);
	for (u32 n = threadIdx.x; n < a->width; n += blockDim.x)
		sum += expf(logits[n] - most);
	sum = reduce(sum, 1);
	for (u32 n = threadIdx.x; n < a->width; n += blockDim.x)
		put(a->type, a->errors, (u64)row * a->width + n, share * (expf(logits[n] - most) / sum - (n == label)));
	if (threadIdx.x == 0)
		*loss = logf(sum) + most - logits[label];
}

KERNEL void lab_train_loss(const struct lab_train_args a, const struct lab_train_call c)
{
	u32 first = c.part * rows_of(&a);

	for (u32 row = blockIdx.x; row < rows_of(&a); row += gridDim.x)
		soften(&a, row, a.labels[first + row], &a.row_losses[first + row]);
}

/*
 * Backward pass of ReLU: sets the gradients of a layer's inputs to 0 where the input, which is the ReLU's output,
 * is 0.
 */
KERNEL void lab_train_mask(const struct lab_train_args a, const struct lab_train_call c)
{
	u64 count = (u64)rows_of(&a) * a.width, errors = plane_at(&a, c.errors), inputs = plane_at(&a, c.slot);

	FOR_EACH(i, count)
		if (!(get(a.type, a.hidden, inputs + i) > 0))
			put(a.type, a.errors, errors + i, 0);
}

/*
 * Gradients of a layer's biases: sums of `errors` over the samples of a part of the batch. A block adds up
 * LAB_TRAIN_COLUMNS columns; several threads share a column, each with every n-th sample, if the block has more
 * threads than that.
 */
KERNEL void lab_train_bias_gradient(const struct lab_train_args a, const struct lab_train_call c)
{
	__shared__ float sums[LAB_TRAIN_THREADS];
	u32 columns = blockDim.x < LAB_TRAIN_COLUMNS ? blockDim.x : LAB_TRAIN_COLUMNS, lane = threadIdx.x % columns;
	float *gradients = a.gradients + bias_at(&a, c.layer);

	for (u32 n = blockIdx.x * columns + lane; n < a.width; n += gridDim.x * columns) {
		float sum = 0;

		for (u32 m = threadIdx.x / columns; m < rows_of(&a); m += blockDim.x / columns)
			sum += get(a.type, a.errors, plane_at(&a, c.errors) + (u64)m * a.width + n);
		sums[threadIdx.x] = sum;
		__syncthreads();
		for (u32 i = lane + columns; i < blockDim.x && threadIdx.x < columns; i += columns)
			sum += sums[i];
		if (threadIdx.x < columns)
			gradients[n] = c.mode ? gradients[n] + sum : sum;
		__syncthreads();
	}
}

/* --- AdamW --- */

/* Does those parts of AdamW whose bits (DECAY to ROUND) are set in `mode`, for all weights. */
KERNEL void lab_train_adamw(const struct lab_train_args a, const struct lab_train_call c)
{
	u64 matrices = matrix_at(&a, a.layers), count = bias_at(&a, a.layers);
	float rate = a.clock->rate, root = a.clock->root;

	FOR_EACH(i, count) {
		float weight = c.mode & (DECAY | MOVE | ROUND) ? a.weights[i] : 0,
		      gradient = c.mode & (FIRST_MOMENT | SECOND_MOMENT) ? a.gradients[i] : 0,
		      first = c.mode & (FIRST_MOMENT | MOVE) ? a.first[i] : 0,
		      second = c.mode & (SECOND_MOMENT | MOVE) ? a.second[i] : 0;

		if (c.mode & DECAY)
			weight *= 1.0f - RATE * DECAY_RATE;
		if (c.mode & FIRST_MOMENT)
			a.first[i] = first = BETA1 * first + (1.0f - BETA1) * gradient;
		if (c.mode & SECOND_MOMENT)
			a.second[i] = second = BETA2 * second + (1.0f - BETA2) * gradient * gradient;
		if (c.mode & MOVE)
			weight -= rate * first / (sqrtf(second) * root + EPSILON);
		if (c.mode & (DECAY | MOVE))
			a.weights[i] = weight;
		if (c.mode & ROUND && i < matrices)
			put(a.type, a.factors, i, weight);
	}
}

/*
 * Ends a step: losses[step] becomes the sum of the losses of this GPU's samples, divided by the samples of the
 * whole batch; the clock gets the factors of the next step.
 */
KERNEL void lab_train_advance(const struct lab_train_args a, const struct lab_train_call c)
{
	float sum = 0;

	for (u32 i = threadIdx.x; i < a.batch; i += blockDim.x)
		sum += a.row_losses[i];
	sum = reduce(sum, 1);
	if (blockIdx.x + threadIdx.x)
		return;
	a.losses[a.clock->step] = sum / (float)a.whole_batch;
	set_clock(a.clock, a.clock->power1 * BETA1, a.clock->power2 * BETA2, a.clock->step + 1);
}
