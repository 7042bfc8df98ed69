/* SPDX-License-Identifier: Apache-2.0 */
/* --- Between products: a block takes a token --- */

static __device__ u32 rows_of(const struct lab_decode_args *a, u32 matrix)
{
	return matrix == ATTENTION ? 3 * a->heads * HEAD : matrix == WIDENING ? a->inner : a->width;
}

/* Where a layer's rows of a matrix begin among its scales and biases. */
static __device__ u64 first_row(const struct lab_decode_args *a, u32 layer, u32 matrix)
{
	u32 mixed = a->heads * HEAD, all = 3 * mixed + 2 * a->width + a->inner;

	return (u64)layer * all + (matrix > ATTENTION ? 3 * mixed : 0) + (matrix > PROJECTION ? a->width : 0) +
		(matrix > WIDENING ? a->inner : 0);
}

/* What a product has left of a row for a token, in its size. */
static __device__ float sum_at(const struct lab_decode_args *a, u32 layer, u32 matrix, u32 token, u32 row)
{
	u64 place = (u64)token * rows_of(a, matrix) + row;
#if IS_SCALED
	float scale = a->scales[first_row(a, layer, matrix) + row] * a->act_scales[token];
#else
	float scale = 1;

	(void)layer;
#endif
#if KIND == INT8
	return (float)((const int *)(const void *)a->sums)[place] * scale;
#else
	return a->sums[place] * scale;
#endif
}

/* The scale that makes codes of numbers up to `most`. */
static __device__ float code_scale(float most)
{
	return IS_SCALED && most > 0 ? most / CODE_MOST : 1;
}

/* What begins a run of tokens: each slot is at `at`, and its next token is `first`, as a key; else token 0. */
KERNEL void lab_decode_reset(const struct lab_decode_args a, u32 at, const u64 *first)
{
	for (u32 slot = blockIdx.x * blockDim.x + threadIdx.x; slot < a.slots; slot += gridDim.x * blockDim.x) {
		a.at[slot] = at;
		a.best[slot] = first ? first[slot] : ~0u;
	}
}

static __device__ void begin(const struct lab_decode_args *a, u32 token)
{
	u32 slot = token / a->each, word, position;

	if (a->each == 1) {
		word = ~(u32)a->best[slot];
		position = a->at[slot] + 1;
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
		float v[4], scale = CODE_MOST > 0 ? a->word_scales[word] : 1;

		load_four(a->words + ((u64)word * (a->width / 4) + k) * FOUR_BYTES, v);
		for (u32 i = 0; i < 4; i++)
			a->x[(u64)token * a->width + 4 * k + i] = v[i] * scale +
				a->places[(u64)position * a->width + 4 * k + i];
	}
}

KERNEL void lab_decode_begin(const struct lab_decode_args a)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		begin(&a, token);
}

/* A number of x with what the product before has to add. */
static __device__ float settled(const struct lab_decode_args *a, u32 layer, u32 matrix, u32 token, u32 k)
{
	u64 place = (u64)token * a->width + k;
	float value = a->x[place];

	if (matrix == NOTHING)
		return value;
	value += a->biases[first_row(a, layer, matrix) + k];
	if (!a->parts)
		return value + sum_at(a, layer, matrix, token, k);
	for (u32 rank = 0; rank < a->ranks; rank++)
		value += a->parts[(u64)rank * a->tokens * a->width + place];
	return value;
}

/* x takes what the product before has left, and its normalised form is what the next one takes, as row `to`;
 * gives the scale of that. */
static __device__ float normalise(const struct lab_decode_args *a, u32 layer, u32 matrix, u32 token, u32 to)
{
	float *x = a->x + (u64)token * a->width, mean = 0, squares = 0, most = 0, size, scale;

	for (u32 k = threadIdx.x; k < a->width; k += blockDim.x) {
		x[k] = settled(a, layer, matrix, token, k);
		mean += x[k];
	}
	mean = sum_of_block(mean) / (float)a->width;
	for (u32 k = threadIdx.x; k < a->width; k += blockDim.x) {
		squares += (x[k] - mean) * (x[k] - mean);
		most = fmaxf(most, fabsf(x[k] - mean));
	}
	size = 1 / sqrtf(sum_of_block(squares) / (float)a->width + 1e-5f);
	scale = IS_SCALED ? code_scale(most_of_block(most) * size) : 1;
	for (u32 k = threadIdx.x; k < a->width; k += blockDim.x)
		a->acts[(u64)to * a->width + k] = act_of((x[k] - mean) * size / scale);
	return scale;
}

/* last: of each slot its last token alone. */
KERNEL void lab_decode_normalise(const struct lab_decode_args a, u32 layer, u32 matrix, u32 last)
{
	for (u32 i = blockIdx.x; i < (last ? a.slots : a.tokens); i += gridDim.x) {
		float scale = normalise(&a, layer, matrix, last ? (i + 1) * a.each - 1 : i, i);

		if (IS_SCALED && threadIdx.x == 0)
			(last ? a.last_scales : a.act_scales)[i] = scale;
	}
}

static __device__ void keep(const struct lab_decode_args *a, u32 layer, u32 token)
{
	u32 slot = token / a->each, mixed = a->heads * HEAD,
	    position = a->each == 1 ? a->at[slot] : token % a->each;

	for (u32 row = threadIdx.x; row < 3 * mixed; row += blockDim.x) {
		float value = sum_at(a, layer, ATTENTION, token, row) +
			a->biases[first_row(a, layer, ATTENTION) + row];
		u32 column = row % mixed;
		u64 place = ((((u64)layer * a->cache_slots + slot) * a->heads + column / HEAD) * a->positions + position) *
				HEAD +
			column % HEAD;

		if (row < mixed)
			a->queries[(u64)token * mixed + column] = value;
		else
			(row < 2 * mixed ? a->keys : a->values)[place] = kept_of(value);
	}
}

/* Queries, keys and values come to where attention finds them. */
KERNEL void lab_decode_keep(const struct lab_decode_args a, u32 layer)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		keep(&a, layer, token);
}

/* What attention or the widening has left, ReLU and all, as the next product takes it. */
static __device__ float activated(const struct lab_decode_args *a, u32 layer, u32 matrix, u32 token, u32 k, u32 columns)
{
	if (matrix == PROJECTION)
		return a->sums[(u64)token * columns + k];
	return fmaxf(
		sum_at(a, layer, WIDENING, token, k) + a->biases[first_row(a, layer, WIDENING) + k], 0);
}

static __device__ void activate(const struct lab_decode_args *a, u32 layer, u32 matrix, u32 token)
{
	u32 columns = matrix == PROJECTION ? a->heads * HEAD : a->inner;
	float scale = 1, most = 0;

	for (u32 k = threadIdx.x; IS_SCALED && k < columns; k += blockDim.x)
		most = fmaxf(most, fabsf(activated(a, layer, matrix, token, k, columns)));
	if (IS_SCALED)
		scale = code_scale(most_of_block(most));
	for (u32 k = threadIdx.x; k < columns; k += blockDim.x)
		a->acts[(u64)token * columns + k] =
			act_of(activated(a, layer, matrix, token, k, columns) / scale);
	__syncthreads(); /* all have read the scale of before */
	if (IS_SCALED && threadIdx.x == 0)
		a->act_scales[token] = scale;
}

/* matrix: the next product, the projection or the narrowing. */
KERNEL void lab_decode_activate(const struct lab_decode_args a, u32 layer, u32 matrix)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		activate(&a, layer, matrix, token);
}

/* Of several GPUs: what a product has left, in its size, comes to this GPU's place among the parts. */
KERNEL void lab_decode_part(const struct lab_decode_args a, u32 layer, u32 matrix)
{
	for (u32 token = blockIdx.x; token < a.tokens; token += gridDim.x)
		for (u32 k = threadIdx.x; k < a.width; k += blockDim.x)
			a.parts[((u64)a.rank * a.tokens + token) * a.width + k] =
				sum_at(&a, layer, matrix, token, k);
}
