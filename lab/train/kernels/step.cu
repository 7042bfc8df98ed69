/* SPDX-License-Identifier: Apache-2.0 */
/* --- The rest of a step --- */

enum { ROW_THREADS = 256 };

/* What follows a product of another's making, which lies where the logits do. */
KERNEL void kwhy_train_finish(const struct args a, const struct call c)
{
	u64 count = (u64)rows_of(&a) * a.width;

	for (u64 i = 2 * thread_index(); i < count; i += 2 * thread_count())
		finish_pair(&a, &c, (enum product)c.mode, a.half, (u32)(i / a.width), (u32)(i % a.width), get_pair(a.logits, 0, i));
}

/* Of all threads of a block of ROW_THREADS; everybody gets it. */
INLINE float reduce(float value, u32 is_sum)
{
	__shared__ float values[ROW_THREADS];
	float result;

	values[threadIdx.x] = value;
	__syncthreads();
	for (u32 half = ROW_THREADS / 2; half; half /= 2) {
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

/* A block a row: its loss, and the errors of its logits. */
KERNEL void kwhy_train_soften(const struct args a, const struct call c)
{
	const float *logits = a.logits + (u64)blockIdx.x * a.width;
	u32 label = a.labels[first_sample(&a, c.part) + blockIdx.x];
	u64 place = slot_at(&a, c.out) + (u64)blockIdx.x * a.width;
	float most = logits[0], sum = 0, share = 1.0f / (float)a.batch;

	for (u32 n = threadIdx.x; n < a.width; n += ROW_THREADS)
		most = fmaxf(most, logits[n]);
	most = reduce(most, 0);
	for (u32 n = threadIdx.x; n < a.width; n += ROW_THREADS)
		sum += expf(logits[n] - most);
	sum = reduce(sum, 1);
	for (u32 n = 2 * threadIdx.x; n < a.width; n += 2 * ROW_THREADS)
		put_pair(a.errors, a.half, place + n, share * (expf(logits[n] - most) / sum - (n == label)),
			share * (expf(logits[n + 1] - most) / sum - (n + 1 == label)));
	if (threadIdx.x == 0)
		a.row_losses[c.part * rows_of(&a) + blockIdx.x] = logf(sum) + most - logits[label];
}

/* Sums over rows, of 64 columns a block: a thread has a pair of columns and every eighth row. */
KERNEL void kwhy_train_bias(const struct args a, const struct call c)
{
	__shared__ float2 sums[ROW_THREADS];
	u32 lane = threadIdx.x % 32, n = blockIdx.x * 64 + 2 * lane, rows = rows_of(&a);
	float2 sum = {0, 0};
	u64 place = bias_at(&a, c.layer) + n;

	for (u32 m = threadIdx.x / 32; m < rows && n < a.width; m += ROW_THREADS / 32) {
		float2 pair = get_pair(a.errors, a.half, slot_at(&a, c.in) + (u64)m * a.width + n);

		sum.x += pair.x;
		sum.y += pair.y;
	}
	sums[threadIdx.x] = sum;
	__syncthreads();
	if (threadIdx.x >= 32 || n >= a.width)
		return;
	for (u32 i = 1; i < ROW_THREADS / 32; i++) {
		sum.x += sums[32 * i + lane].x;
		sum.y += sums[32 * i + lane].y;
	}
	take_gradients(&a, c.mode, &place, &sum, 1);
}

/* AdamW by itself, from all gradients. */
KERNEL void kwhy_train_apply(const struct args a, const struct call c)
{
	u64 count = bias_at(&a, a.layers);

	(void)c;
	for (u64 i = 2 * thread_index(); i < count; i += 2 * thread_count()) {
		float2 gradient = get_pair(a.gradients, 0, i);

		take_gradients(&a, APPLY, &i, &gradient, 1);
	}
}

/*
 * AdamW of one GPU's share of the weights: it adds up all GPUs' gradients, in their order, and hands out what
 * products need: matrices as copies, biases as they are.
 */
KERNEL void kwhy_train_share(const struct args a, const struct call c, const struct peers p)
{
	u64 matrices = matrix_at(&a, a.layers);
	struct pace pace = *a.pace;

	(void)c;
	for (u64 i = p.first + 2 * thread_index(); i < p.end; i += 2 * thread_count()) {
		struct trained pair;
		float2 gradient = pair_of(0, 0);

		pair.weight = get_pair(a.weights, 0, i);
		pair.first = get_pair(a.first, 0, i);
		pair.second = get_pair(a.second, 0, i);
		for (u32 k = 0; k < p.count; k++) {
			float2 part = get_pair(p.gradients[k], 0, i);

			gradient.x += part.x;
			gradient.y += part.y;
		}
		apply_pair(&a, &pace, i, gradient, &pair);
		for (u32 k = 0; k < p.count; k++)
			if (i < matrices)
				put_pair(p.copies[k], 1, i, pair.weight.x, pair.weight.y);
			else
				put_pair(p.weights[k], 0, i, pair.weight.x, pair.weight.y);
	}
}

/* One block, at the end of a step. */
KERNEL void kwhy_train_advance(const struct args a, const struct call c)
{
	float sum = 0;

	(void)c;
	for (u32 i = threadIdx.x; i < a.batch; i += ROW_THREADS)
		sum += a.row_losses[i];
	sum = reduce(sum, 1);
	if (threadIdx.x)
		return;
	a.losses[a.pace->step] = sum / (float)a.batch;
	set_pace(a.pace, a.pace->power1 * BETA1, a.pace->power2 * BETA2, a.pace->step + 1);
}
