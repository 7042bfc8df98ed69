/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `train` (lab/README.md) does between its products, which a library makes: a thread an element, in the
 * order of memory. Matrices of weights are [out][in], activations [sample][feature].
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#endif
#define INLINE static __device__ inline

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

#define RATE 1e-3f
#define DECAY 1e-2f
#define BETA1 0.9f
#define BETA2 0.999f
#define EPSILON 1e-8f

enum { SEED = 42, WEIGHTS_FIELD = 1, THREADS = 256, COLUMNS = 32 };
enum { FP32, TF32, BF16, FP16 };
enum { ADD = 1 };
enum { DECAYS = 1, FIRST_MOMENT = 2, SECOND_MOMENT = 4, MOVES = 8, ROUNDS = 16 };

/* As struct lab_train_clock of device.h. */
struct clock {
	float power1, power2, rate, root;
	u32 step, unused;
};

/* As struct lab_train_args of device.h. */
struct args {
	float *weights, *first, *second, *gradients;
	void *factors;
	const float *staged;
	void *inputs;
	u32 *labels;
	void *hidden, *errors;
	float *logits, *row_losses, *losses;
	struct clock *clock;
	u32 width, layers, batch, parts, whole_batch, type;
	float scale;
	u32 unused;
};

/* As struct lab_train_call of device.h. */
struct call {
	u32 layer, part, slot, mode;
};

/* --- Numbers --- */

INLINE u16 to_bf16(float value)
{
	u32 bits = __float_as_uint(value);

	return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

INLINE u16 to_fp16(float value)
{
	u32 bits = __float_as_uint(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;

	if (size >= 0x47800000)
		return (u16)(sign | (size > 0x7f800000 ? 0x7e00 : 0x7c00));
	if (size < 0x38800000)
		return (u16)(sign | (u32)rintf(__uint_as_float(size) * 16777216.0f));
	return (u16)(sign | (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13);
}

INLINE float from_fp16(u32 bits)
{
	u32 sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, digits = bits & 0x3ff;

	if (exponent == 0)
		return __uint_as_float(sign | __float_as_uint((float)digits * (1.0f / 16777216.0f)));
	if (exponent == 31)
		return __uint_as_float(sign | 0x7f800000 | digits << 13);
	return __uint_as_float(sign | (exponent + 112) << 23 | digits << 13);
}

INLINE float get(const void *from, u32 type, u64 place)
{
	if (type == BF16)
		return __uint_as_float((u32)((const u16 *)from)[place] << 16);
	return type == FP16 ? from_fp16(((const u16 *)from)[place]) : ((const float *)from)[place];
}

INLINE void put(void *to, u32 type, u64 place, float value)
{
	if (type == BF16)
		((u16 *)to)[place] = to_bf16(value);
	else if (type == FP16)
		((u16 *)to)[place] = to_fp16(value);
	else
		((float *)to)[place] = value;
}

/* --- Places --- */

INLINE u64 thread_index(void)
{
	return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

INLINE u64 thread_count(void)
{
	return (u64)gridDim.x * blockDim.x;
}

INLINE u32 rows_of(const struct args *a)
{
	return a->batch / a->parts;
}

INLINE u64 matrix_at(const struct args *a, u32 layer)
{
	return (u64)layer * a->width * a->width;
}

INLINE u64 bias_at(const struct args *a, u32 layer)
{
	return matrix_at(a, a->layers) + (u64)layer * a->width;
}

INLINE u64 plane_at(const struct args *a, u32 slot)
{
	return (u64)slot * rows_of(a) * a->width;
}

/* Of all threads of a block; everybody gets it. */
INLINE float reduce(float value, u32 is_sum)
{
	__shared__ float values[THREADS];
	float result;

	values[threadIdx.x] = value;
	__syncthreads();
	for (u32 half = THREADS / 2; half; half /= 2) {
		if (threadIdx.x < half) {
			float other = values[threadIdx.x + half];

			values[threadIdx.x] = is_sum ? values[threadIdx.x] + other : fmaxf(values[threadIdx.x], other);
		}
		__syncthreads();
	}
	result = values[0];
	__syncthreads();
	return result;
}

/* --- The beginning of a run, and of a step --- */

/* The finaliser of splitmix64 over a place of the weights. */
INLINE float first_weight(u64 place, float bound)
{
	u64 x = ((u64)SEED << 48 ^ (u64)WEIGHTS_FIELD << 40 ^ place) + 0x9E3779B97F4A7C15ull;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
	x ^= x >> 31;
	return (float)((int)(x >> 40) - (1 << 23)) * (1.0f / 8388608.0f) * bound;
}

INLINE void set_clock(struct clock *clock, float power1, float power2, u32 step)
{
	clock->power1 = power1;
	clock->power2 = power2;
	clock->rate = RATE / (1.0f - power1);
	clock->root = 1.0f / sqrtf(1.0f - power2);
	clock->step = step;
}

KERNEL void lab_train_begin(const struct args a, const struct call c)
{
	u64 matrices = matrix_at(&a, a.layers), count = bias_at(&a, a.layers);
	float bound = 1.0f / sqrtf((float)a.width);

	(void)c;
	for (u64 i = thread_index(); i < count; i += thread_count()) {
		float value = first_weight(i, bound);

		a.weights[i] = value;
		a.first[i] = 0;
		a.second[i] = 0;
		if (i < matrices)
			put(a.factors, a.type, i, value);
	}
	if (thread_index() == 0)
		set_clock(a.clock, BETA1, BETA2, 0);
}

/* The batch as products read it, so that the next may be sent. */
KERNEL void lab_train_take(const struct args a, const struct call c)
{
	u64 count = (u64)a.batch * a.width;
	const float *staged = a.staged + a.clock->step % 2 * (count + a.batch);

	(void)c;
	for (u64 i = thread_index(); i < count; i += thread_count())
		put(a.inputs, a.type, i, staged[i]);
	for (u64 i = thread_index(); i < a.batch; i += thread_count())
		a.labels[i] = ((const u32 *)(staged + count))[i];
}

/* --- What follows a product --- */

KERNEL void lab_train_bias(const struct args a, const struct call c)
{
	u32 is_last = c.layer + 1 == a.layers, type = is_last ? (u32)FP32 : a.type;
	u64 count = (u64)rows_of(&a) * a.width, first = is_last ? 0 : plane_at(&a, c.slot);
	const float *biases = a.weights + bias_at(&a, c.layer);
	void *sums = is_last ? (void *)a.logits : a.hidden;

	for (u64 i = thread_index(); i < count; i += thread_count()) {
		float sum = get(sums, type, first + i) + biases[(u32)i % a.width];

		put(sums, type, first + i, is_last ? sum : fmaxf(sum, 0));
	}
}

/* A block a row: its loss, and the errors of its logits. */
KERNEL void lab_train_loss(const struct args a, const struct call c)
{
	const float *logits = a.logits + (u64)blockIdx.x * a.width;
	u32 row = c.part * rows_of(&a) + blockIdx.x, label = a.labels[row];
	float most = logits[0], sum = 0, share = a.scale / (float)a.whole_batch;

	for (u32 n = threadIdx.x; n < a.width; n += THREADS)
		most = fmaxf(most, logits[n]);
	most = reduce(most, 0);
	for (u32 n = threadIdx.x; n < a.width; n += THREADS)
		sum += expf(logits[n] - most);
	sum = reduce(sum, 1);
	for (u32 n = threadIdx.x; n < a.width; n += THREADS)
		put(a.errors, a.type, (u64)blockIdx.x * a.width + n, share * (expf(logits[n] - most) / sum - (n == label)));
	if (threadIdx.x == 0)
		a.row_losses[row] = logf(sum) + most - logits[label];
}

/* Errors of a layer's inputs, in the plane `mode`: none where the rectifier let nothing through. */
KERNEL void lab_train_mask(const struct args a, const struct call c)
{
	u64 count = (u64)rows_of(&a) * a.width, errors = plane_at(&a, c.mode), inputs = plane_at(&a, c.slot);

	for (u64 i = thread_index(); i < count; i += thread_count())
		if (!(get(a.hidden, a.type, inputs + i) > 0))
			put(a.errors, a.type, errors + i, 0);
}

/* --- Gradients of biases, and the loss --- */

/* Sums over rows, of 32 columns a block; a thread has every eighth row. */
KERNEL void lab_train_bias_gradient(const struct args a, const struct call c)
{
	__shared__ float sums[THREADS];
	u32 lane = threadIdx.x % COLUMNS, n = blockIdx.x * COLUMNS + lane;
	float *gradient = a.gradients + bias_at(&a, c.layer) + n, sum = 0;

	for (u32 m = threadIdx.x / COLUMNS; m < rows_of(&a); m += THREADS / COLUMNS)
		sum += get(a.errors, a.type, plane_at(&a, c.slot) + (u64)m * a.width + n);
	sums[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= COLUMNS)
		return;
	for (u32 i = 1; i < THREADS / COLUMNS; i++)
		sum += sums[COLUMNS * i + lane];
	*gradient = c.mode == ADD ? *gradient + sum : sum;
}

/* One block: the loss of this GPU's share, behind the gradients. */
KERNEL void lab_train_tally(const struct args a, const struct call c)
{
	float sum = 0;

	(void)c;
	for (u32 i = threadIdx.x; i < a.batch; i += THREADS)
		sum += a.row_losses[i];
	sum = reduce(sum, 1);
	if (threadIdx.x == 0)
		a.gradients[bias_at(&a, a.layers)] = sum / (float)a.whole_batch;
}

/* --- AdamW --- */

/* All of it, or the parts that `mode` names. */
KERNEL void lab_train_adamw(const struct args a, const struct call c)
{
	u64 matrices = matrix_at(&a, a.layers), count = bias_at(&a, a.layers);
	float rate = a.clock->rate, root = a.clock->root, share = 1.0f / a.scale;

	for (u64 i = thread_index(); i < count; i += thread_count()) {
		float weight = c.mode & (DECAYS | MOVES | ROUNDS) ? a.weights[i] : 0,
		      gradient = c.mode & (FIRST_MOMENT | SECOND_MOMENT) ? share * a.gradients[i] : 0,
		      first = c.mode & (FIRST_MOMENT | MOVES) ? a.first[i] : 0,
		      second = c.mode & (SECOND_MOMENT | MOVES) ? a.second[i] : 0;

		if (c.mode & DECAYS)
			weight *= 1.0f - RATE * DECAY;
		if (c.mode & FIRST_MOMENT)
			a.first[i] = first = BETA1 * first + (1.0f - BETA1) * gradient;
		if (c.mode & SECOND_MOMENT)
			a.second[i] = second = BETA2 * second + (1.0f - BETA2) * gradient * gradient;
		if (c.mode & MOVES)
			weight -= rate * first / (sqrtf(second) * root + EPSILON);
		if (c.mode & (DECAYS | MOVES))
			a.weights[i] = weight;
		if (c.mode & ROUNDS && i < matrices)
			put(a.factors, a.type, i, weight);
	}
}

/* One thread, at the end of a step. */
KERNEL void lab_train_advance(const struct args a, const struct call c)
{
	(void)c;
	if (threadIdx.x)
		return;
	a.losses[a.clock->step] = a.gradients[bias_at(&a, a.layers)];
	set_clock(a.clock, a.clock->power1 * BETA1, a.clock->power2 * BETA2, a.clock->step + 1);
}
