/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --- Kernels between products: a block processes one token, except in `reset`, where each thread resets a slot ---
 */

/*
 * Element `row` of a product's result for a token. Results of 8-bit products are multiplied by the scales of the
 * row and of the token.
 */
static __device__ float sum_at(const struct lab_decode_args *a, const struct lab_decode_call *c, u32 token, u32 row)
{
	float sum = get(ACT(a) == LAB_INT8 ? LAB_INT32 : LAB_FP32, a->sums, (u64)token * c->rows + row);

	return IS_SCALED(a) ? sum * a->scales[c->row + row] * a->act_scales[token] : sum;
}

/*
 * Scale by which numbers of magnitude up to `most` are divided before they are stored as 8-bit codes; 1 for other
 * types.
 */
static __device__ float code_scale(const struct lab_decode_args *a, float most)
{
	return IS_SCALED(a) && most > 0 ? most / a->code_most : 1;
}

static __device__ u32 position_of(const struct lab_decode_args *a, u32 token)
{
	return a->each == 1 ? a->at[token] : token % a->each;
}

#ifdef __cplusplus
static __device__ u64 now_ns(void)
{
	u64 ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
#define NOW_NS() now_ns()
#endif

/*
 * Begins a sequence of steps: sets the position of each slot to `at`, and its next token to `first` (with
 * has_first) or token 0.
 */
KERNEL void lab_decode_reset(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 slot = blockIdx.x * blockDim.x + threadIdx.x; slot < a.slots; slot += gridDim.x * blockDim.x) {
		a.at[slot] = c.at;
		a.best[slot] = c.has_first ? a.first[slot] : ~0u;
	}
}

static __device__ void begin(const struct lab_decode_args *a, u32 token)
{
	u32 slot = token / a->each, word, position;

	if (a->each == 1) {
		word = ~(u32)a->best[slot];
		/* the position advances in every slot, also in one without a sequence, up to the last position */
		position = a->at[slot] + (a->at[slot] + 1 < a->positions);
		__syncthreads();
		if (threadIdx.x == 0)
			a->at[slot] = position;
		if (threadIdx.x == 0 && token == 0)
			a->times[position] = NOW_NS();
	} else {
		word = a->prompt[token];
		position = token % a->each;
	}
	if (threadIdx.x == 0)
		a->chosen[(u64)slot * a->positions + position] = word;
	for (u32 k = threadIdx.x; k < a->width / 4; k += blockDim.x) {
		float v[4];

		load_four(a, a->words, (u64)word * (a->width / 4) + k, v);
		for (u32 i = 0; i < 4; i++)
			a->x[(u64)token * a->width + 4 * k + i] = v[i] * a->word_scales[word] +
				a->places[(u64)position * a->width + 4 * k + i];
	}
}

KERNEL void lab_decode_begin(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		begin(&a, token);
}

/*
 * Element k of a token's x, plus the result of the previous product and its bias (if there was one: c->rows is not
 * 0). With several GPUs that result has already been multiplied by its scales and added up.
 */
static __device__ float settled(const struct lab_decode_args *a, const struct lab_decode_call *c, u32 token, u32 k)
{
	u64 place = (u64)token * a->width + k;

	if (!c->rows)
		return a->x[place];
	return a->x[place] + a->biases[c->row + k] + (a->ranks > 1 ? a->sums[place] : sum_at(a, c, token, k));
}

/*
 * Adds the result of the previous product to x, and writes the normalised x as row `to` of the next product's
 * input. Returns the scale of that row.
 */
static __device__ float normalise(const struct lab_decode_args *a, const struct lab_decode_call *c, u32 token, u32 to)
{
	float *x = a->x + (u64)token * a->width, mean = 0, squares = 0, most = 0, size, scale = 1;

	for (u32 k = threadIdx.x; k < a->width; k += blockDim.x) {
		x[k] = settled(a, c, token, k);
		mean += x[k];
	}
	mean = reduce(mean, 1) / (float)a->width;
	for (u32 k = threadIdx.x; k < a->width; k += blockDim.x) {
		squares += (x[k] - mean) * (x[k] - mean);
		most = fmaxf(most, fabsf(x[k] - mean));
	}
	size = 1 / sqrtf(reduce(squares, 1) / (float)a->width + 1e-5f);
	if (IS_SCALED(a))
		scale = code_scale(a, reduce(most, 0) * size);
	for (u32 k = threadIdx.x; k < a->width; k += blockDim.x)
		put(ACT(a), a->acts, (u64)to * a->width + k, (x[k] - mean) * size / scale);
	return scale;
}

KERNEL void lab_decode_normalise(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 i = blockIdx.x; i < (c.is_last ? a.slots : a.tokens); i += gridDim.x) {
		float scale = normalise(&a, &c, c.is_last ? (i + 1) * a.each - 1 : i, i);

		if (IS_SCALED(&a) && threadIdx.x == 0)
			(c.is_last ? a.last_scales : a.act_scales)[i] = scale;
	}
}

static __device__ void keep(const struct lab_decode_args *a, const struct lab_decode_call *c, u32 token)
{
	u32 slot = token / a->each, mixed = a->heads * HEAD, position = position_of(a, token);

	for (u32 row = threadIdx.x; row < 3 * mixed; row += blockDim.x) {
		float value = sum_at(a, c, token, row) + a->biases[c->row + row];
		u32 head = row % mixed / HEAD;
		u64 place = ((((u64)c->layer * a->cache_slots + slot) * a->heads + head) * a->positions + position) * HEAD +
			row % HEAD;

		if (row < mixed)
			a->queries[(u64)token * mixed + row] = value;
		else
			put(KEPT(a), row < 2 * mixed ? a->keys : a->values, place, value);
	}
}

/* Stores queries, keys and values where attention reads them. */
KERNEL void lab_decode_keep(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		keep(&a, &c, token);
}

/*
 * Element k of the next product's input, unscaled: the result of attention (c->rows is 0), or the ReLU of the
 * up-projection's result and bias.
 */
static __device__ float activated(const struct lab_decode_args *a, const struct lab_decode_call *c, u32 token, u32 k)
{
	return c->rows ? fmaxf(sum_at(a, c, token, k) + a->biases[c->row + k], 0)
		       : a->sums[(u64)token * a->heads * HEAD + k];
}

static __device__ void activate(const struct lab_decode_args *a, const struct lab_decode_call *c, u32 token)
{
	u32 columns = c->rows ? a->inner : a->heads * HEAD;
	float scale = 1, most = 0;

	for (u32 k = threadIdx.x; IS_SCALED(a) && k < columns; k += blockDim.x)
		most = fmaxf(most, fabsf(activated(a, c, token, k)));
	if (IS_SCALED(a))
		scale = code_scale(a, reduce(most, 0));
	for (u32 k = threadIdx.x; k < columns; k += blockDim.x)
		put(ACT(a), a->acts, (u64)token * columns + k, activated(a, c, token, k) / scale);
	__syncthreads(); /* all threads have read the scale of the product's input, which is now overwritten */
	if (IS_SCALED(a) && threadIdx.x == 0)
		a->act_scales[token] = scale;
}

/*
 * Writes the input of the next product: from the result of attention (launched only if activations have 8 bits), or
 * from the up-projection.
 */
KERNEL void lab_decode_activate(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		activate(&a, &c, token);
}

/* Multiplies the result of a product by its scales, so that results of several GPUs can be added. */
KERNEL void lab_decode_scale(const struct lab_decode_args a, const struct lab_decode_call c)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		for (u32 k = threadIdx.x; k < a.width; k += blockDim.x)
			a.sums[(u64)token * a.width + k] = sum_at(&a, &c, token, k);
}
