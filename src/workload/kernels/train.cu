/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `train` (docs/train.md): three products of matrices a layer, in fp32 or, by
 * tensor instructions, in bf16, with what follows a product done before it leaves the registers: bias and
 * rectifier, the rectifier's derivative, or AdamW itself. Matrices of weights are [out][in], activations
 * [sample][feature]; all widths are multiples of 32, all numbers of rows of 8.
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#endif
#ifdef __CUDA_ARCH__
#define INLINE static __device__ __forceinline__
#else
#define INLINE static __device__ inline
#endif

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

#define RATE 1e-3f
#define DECAY 1e-2f
#define BETA1 0.9f
#define BETA2 0.999f
#define EPSILON 1e-8f

enum { SEED = 42, WEIGHTS_FIELD = 1, INPUTS_FIELD, LABELS_FIELD };

/* As struct kwhy_train_pace of workload/train_rules.h, and the step. */
struct pace {
	float power1, power2, rate, root;
	u32 step, unused;
};

/* As struct kwhy_train_args of workload/train_device.h. */
struct args {
	float *weights, *first, *second, *gradients; /* matrices [layers][width][width], biases [layers][width] */
	void *copies;	   /* of the matrices, in bf16; in fp32 the weights themselves */
	void *inputs;	   /* [samples][width] */
	u32 *labels;	   /* [samples] */
	void *hidden;	   /* [slots][rows of a part][width] */
	void *errors;	   /* [2][rows of a part][width] */
	float *logits;	   /* [rows of a part][width] */
	float *row_losses; /* [batch] */
	float *losses;	   /* [steps] */
	struct pace *pace;
	u32 width, layers, batch, parts, samples, half;
};

/* As struct kwhy_train_call of workload/train_device.h. */
struct call {
	u32 layer, part;
	u32 in, out; /* slots of hidden or errors */
	u32 kept;    /* slot of the layer's inputs */
	u32 mode;
};

/* As struct kwhy_train_peers of workload/train_device.h. */
struct peers {
	float *gradients[8], *weights[8];
	void *copies[8];
	u64 first, end; /* places of this GPU's share, both even */
	u32 count, unused;
};

#define INPUTS 0xffffffffu
enum { ADD = 1, APPLY = 2 }; /* modes of gradients: onto those of the parts before; AdamW at once */

static __device__ u64 mix(u32 field, u64 place)
{
	u64 x = ((u64)SEED << 48 ^ (u64)field << 40 ^ place) + 0x9E3779B97F4A7C15ull;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
	return x ^ (x >> 31);
}

static __device__ float first_weight(u64 place, float bound)
{
	return (float)((int)(mix(WEIGHTS_FIELD, place) >> 40) - (1 << 23)) * (1.0f / 8388608.0f) * bound;
}

static __device__ float input_of(u64 place)
{
	u64 hash = mix(INPUTS_FIELD, place);
	int sum = (int)(hash & 0xffff) + (int)(hash >> 16 & 0xffff) + (int)(hash >> 32 & 0xffff) + (int)(hash >> 48);

	return (float)(sum - 131070) * (0.8660254f / 32768.0f);
}

INLINE u32 to_half(float value)
{
	u32 bits = __float_as_uint(value);

	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

INLINE float of_half(u32 half)
{
	return __uint_as_float(half << 16);
}

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

INLINE u32 first_sample(const struct args *a, u32 part)
{
	return a->pace->step % (a->samples / a->batch) * a->batch + part * rows_of(a);
}

/* A slot of some memory that holds a part's rows. */
INLINE u64 slot_at(const struct args *a, u32 slot)
{
	return (u64)slot * rows_of(a) * a->width;
}

INLINE float2 pair_of(float x, float y)
{
	float2 pair = {x, y};

	return pair;
}

/* Two neighbours, the first of them at an even place. */
INLINE void put_pair(void *to, u32 half, u64 place, float x, float y)
{
	if (half)
		*(u32 *)((u16 *)to + place) = to_half(x) | to_half(y) << 16;
	else
		*(float2 *)((float *)to + place) = pair_of(x, y);
}

INLINE float2 get_pair(const void *from, u32 half, u64 place)
{
	u32 both;

	if (!half)
		return *(const float2 *)((const float *)from + place);
	both = *(const u32 *)((const u16 *)from + place);
	return pair_of(of_half(both), of_half(both >> 16));
}

/* --- The beginning --- */

INLINE void set_pace(struct pace *pace, float power1, float power2, u32 step)
{
	pace->power1 = power1;
	pace->power2 = power2;
	pace->rate = RATE / (1.0f - power1);
	pace->root = 1.0f / sqrtf(1.0f - power2);
	pace->step = step;
}

KERNEL void kwhy_train_begin(const struct args a, const struct call c)
{
	u64 matrices = matrix_at(&a, a.layers), count = bias_at(&a, a.layers);
	float bound = 1.0f / sqrtf((float)a.width);

	(void)c;
	for (u64 i = 2 * thread_index(); i < count; i += 2 * thread_count()) {
		float x = first_weight(i, bound), y = first_weight(i + 1, bound);

		put_pair(a.weights, 0, i, x, y);
		put_pair(a.first, 0, i, 0, 0);
		put_pair(a.second, 0, i, 0, 0);
		if (a.half && i < matrices)
			put_pair(a.copies, 1, i, x, y);
	}
	if (thread_index() == 0)
		set_pace(a.pace, BETA1, BETA2, 0);
}

KERNEL void kwhy_train_data(const struct args a, const struct call c)
{
	u64 count = (u64)a.samples * a.width;

	(void)c;
	for (u64 i = 2 * thread_index(); i < count; i += 2 * thread_count())
		put_pair(a.inputs, a.half, i, input_of(i), input_of(i + 1));
	for (u64 i = thread_index(); i < a.samples; i += thread_count())
		a.labels[i] = (u32)(mix(LABELS_FIELD, i) % a.width);
}

/* --- What follows a product --- */

INLINE void adamw(const struct pace *pace, float gradient, float *weight, float *first, float *second)
{
	*first = BETA1 * *first + (1.0f - BETA1) * gradient;
	*second = BETA2 * *second + (1.0f - BETA2) * gradient * gradient;
	*weight = *weight * (1.0f - RATE * DECAY) - pace->rate * *first / (sqrtf(*second) * pace->root + EPSILON);
}

/* A pair of weights with what AdamW knows of them. */
struct trained {
	float2 weight, first, second;
};

INLINE void apply_pair(const struct args *a, const struct pace *pace, u64 place, float2 gradient, struct trained *pair)
{
	adamw(pace, gradient.x, &pair->weight.x, &pair->first.x, &pair->second.x);
	adamw(pace, gradient.y, &pair->weight.y, &pair->first.y, &pair->second.y);
	put_pair(a->weights, 0, place, pair->weight.x, pair->weight.y);
	put_pair(a->first, 0, place, pair->first.x, pair->first.y);
	put_pair(a->second, 0, place, pair->second.x, pair->second.y);
	if (a->half && place < matrix_at(a, a->layers))
		put_pair(a->copies, 1, place, pair->weight.x, pair->weight.y);
}

/* Gradients of up to four pairs, all of which are read before one is written. */
INLINE void take_gradients(const struct args *a, u32 mode, const u64 *places, float2 *gradients, u32 count)
{
	struct trained pairs[4];
	struct pace pace = *a->pace;

	if (mode & APPLY)
		for (u32 i = 0; i < count; i++) {
			pairs[i].weight = get_pair(a->weights, 0, places[i]);
			pairs[i].first = get_pair(a->first, 0, places[i]);
			pairs[i].second = get_pair(a->second, 0, places[i]);
		}
	for (u32 i = 0; i < count && mode & ADD; i++) {
		float2 before = get_pair(a->gradients, 0, places[i]);

		gradients[i].x += before.x;
		gradients[i].y += before.y;
	}
	for (u32 i = 0; i < count; i++)
		if (mode & APPLY)
			apply_pair(a, &pace, places[i], gradients[i], &pairs[i]);
		else
			put_pair(a->gradients, 0, places[i], gradients[i].x, gradients[i].y);
}

enum product { FORWARD, BACKWARD, UPDATE };

/* A pair of outputs of a layer, or of errors of its inputs. */
INLINE void finish_pair(const struct args *a, const struct call *c, enum product what, u32 half, u32 m, u32 n, float2 value)
{
	u64 place = (u64)m * a->width + n;

	if (what == FORWARD) {
		float2 bias = get_pair(a->weights, 0, bias_at(a, c->layer) + n);

		value.x += bias.x;
		value.y += bias.y;
		if (c->layer + 1 == a->layers)
			put_pair(a->logits, 0, place, value.x, value.y);
		else
			put_pair(a->hidden, half, slot_at(a, c->out) + place, fmaxf(value.x, 0), fmaxf(value.y, 0));
	} else {
		float2 input = get_pair(a->hidden, half, slot_at(a, c->kept) + place);

		put_pair(a->errors, half, slot_at(a, c->out) + place, input.x > 0 ? value.x : 0, input.y > 0 ? value.y : 0);
	}
}

/*
 * The two matrices of a product, [m][k] and [n][k] where they lie along k, else [k][m] and [k][n]; they are
 * a->width apart from row to row in any case.
 */
struct factors {
	u64 a, b; /* places in elements */
	const void *a_memory, *b_memory;
	u32 m, n, k;
	u32 a_along, b_along;
};

INLINE void inputs_of(const struct args *a, const struct call *c, u32 slot, const void **memory, u64 *place)
{
	*memory = slot == INPUTS ? a->inputs : a->hidden;
	*place = slot == INPUTS ? (u64)first_sample(a, c->part) * a->width : slot_at(a, slot);
}

INLINE struct factors factors_of(const struct args *a, const struct call *c, enum product what)
{
	struct factors f;

	f.m = what == UPDATE ? a->width : rows_of(a);
	f.n = a->width;
	f.k = what == UPDATE ? rows_of(a) : a->width;
	f.a_along = what != UPDATE;
	f.b_along = what == FORWARD;
	f.a_memory = a->errors;
	f.a = slot_at(a, c->in);
	f.b_memory = a->copies;
	f.b = matrix_at(a, c->layer);
	if (what == FORWARD)
		inputs_of(a, c, c->in, &f.a_memory, &f.a);
	if (what == UPDATE)
		inputs_of(a, c, c->kept, &f.b_memory, &f.b);
	return f;
}

/* --- Products in fp32: tiles of 64 x 32 by 128 threads, 4 x 4 each --- */

enum { SINGLE_M = 64, SINGLE_N = 32, SINGLE_K = 16, SINGLE_THREADS = 128 };

INLINE float element(const float *memory, u32 width, u32 along, u32 outer, u32 outer_end, u32 k, u32 k_end)
{
	if (outer >= outer_end || k >= k_end)
		return 0;
	return along ? memory[(u64)outer * width + k] : memory[(u64)k * width + outer];
}

INLINE void load_single(float *to, u32 outer_count, const float *memory, u32 width, u32 along, u32 outer, u32 outer_end, u32 k,
	u32 k_end)
{
	for (u32 i = threadIdx.x; i < outer_count * SINGLE_K; i += SINGLE_THREADS) {
		u32 o = along ? i / SINGLE_K : i % outer_count, d = along ? i % SINGLE_K : i / outer_count;

		to[d * (outer_count + 4) + o] = element(memory, width, along, outer + o, outer_end, k + d, k_end);
	}
}

INLINE void finish_single(const struct args *a, const struct call *c, enum product what, const struct factors *f, u32 m, u32 n,
	float (*sum)[4])
{
	for (u32 i = 0; i < 4 && m + i < f->m && n < f->n; i++) {
		float2 pairs[2] = {{sum[i][0], sum[i][1]}, {sum[i][2], sum[i][3]}};
		u64 place = matrix_at(a, c->layer) + (u64)(m + i) * a->width + n, places[2] = {place, place + 2};

		if (what == UPDATE)
			take_gradients(a, c->mode, places, pairs, 2);
		for (u32 j = 0; j < 2 && what != UPDATE; j++)
			finish_pair(a, c, what, 0, m + i, n + 2 * j, pairs[j]);
	}
}

INLINE void multiply_single(const struct args *a, const struct call *c, enum product what)
{
	__shared__ float left[SINGLE_K * (SINGLE_M + 4)], right[SINGLE_K * (SINGLE_N + 4)];
	const struct factors f = factors_of(a, c, what);
	u32 tiles_m = (f.m + SINGLE_M - 1) / SINGLE_M, m = blockIdx.x % tiles_m * SINGLE_M, n = blockIdx.x / tiles_m * SINGLE_N,
	    own_m = threadIdx.x / 8 * 4, own_n = threadIdx.x % 8 * 4;
	float sum[4][4] = {{0}};

	for (u32 k = 0; k < f.k; k += SINGLE_K) {
		load_single(left, SINGLE_M, (const float *)f.a_memory + f.a, a->width, f.a_along, m, f.m, k, f.k);
		load_single(right, SINGLE_N, (const float *)f.b_memory + f.b, a->width, f.b_along, n, f.n, k, f.k);
		__syncthreads();
#pragma unroll
		for (u32 d = 0; d < SINGLE_K; d++)
#pragma unroll
			for (u32 i = 0; i < 16; i++)
				sum[i / 4][i % 4] += left[d * (SINGLE_M + 4) + own_m + i / 4] * right[d * (SINGLE_N + 4) + own_n + i % 4];
		__syncthreads();
	}
	finish_single(a, c, what, &f, m + own_m, n + own_n, sum);
}

KERNEL void __launch_bounds__(128) kwhy_train_forward_single(const struct args a, const struct call c)
{
	multiply_single(&a, &c, FORWARD);
}

KERNEL void __launch_bounds__(128) kwhy_train_backward_single(const struct args a, const struct call c)
{
	multiply_single(&a, &c, BACKWARD);
}

KERNEL void __launch_bounds__(128) kwhy_train_update_single(const struct args a, const struct call c)
{
	multiply_single(&a, &c, UPDATE);
}

/* --- Products in bf16 by tensor instructions, 256 threads; operands come by asynchronous copies --- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define BY_TENSOR 1
extern __shared__ uint4 room[];

/* 16 bytes; zeros where `bytes` is 0. */
INLINE void copy_ahead(u16 *to, const u16 *from, u32 bytes)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
		     :
		     : "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes)
		     : "memory");
}

#define COPIES_DONE_SO_FAR asm volatile("cp.async.commit_group;" ::: "memory")
#define AWAIT_COPIES(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")

/* Four 8 x 8 matrices; each lane names a row, and gets two neighbours of each matrix. */
INLINE void load_matrices(u32 *out, const u16 *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
		     : "r"((u32)__cvta_generic_to_shared(row))
		     : "memory");
}

INLINE void load_turned(u32 *out, const u16 *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
		     : "r"((u32)__cvta_generic_to_shared(row))
		     : "memory");
}

/* 16 x 8 sums and 16 products for each. */
INLINE void multiply_add(float *sum, const u32 *a, const u32 *b)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
		     "%2, %3};"
		     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

#ifdef BY_TENSOR
enum { DEPTH = 64, PAD = 8, THREADS = 256 };

/* A block's tile: warps_m x warps_n warps have each_m x 16 by each_n x 8 of it. */
struct tile {
	u32 m, n, warps_n, each_m, each_n, stages;
};


/* Two blocks of either fit on a multiprocessor. */
#define SMALL {64, 32, 2, 1, 2, 6}
#define LARGE {128, 128, 4, 4, 4, 3}

/* Elements of one operand of one stage: the longer of its two forms. */
INLINE u32 operand_room(u32 outer)
{
	u32 along = outer * (DEPTH + PAD), across = DEPTH * (outer + PAD);

	return along > across ? along : across;
}

INLINE void load_rows(u16 *to, const u16 *from, u32 width, u32 row, u32 row_end, u32 column, u32 column_end, u32 rows, u32 columns)
{
	u32 chunks = columns / 8;

#pragma unroll
	for (u32 i = 0; i < rows * chunks; i += THREADS) {
		u32 at = i + threadIdx.x, r = at / chunks, k = at % chunks * 8;
		u32 is_inside = row + r < row_end && column + k < column_end;

		if (at < rows * chunks)
			copy_ahead(to + r * (columns + PAD) + k, is_inside ? from + (u64)(row + r) * width + column + k : from,
				is_inside ? 16 : 0);
	}
}

INLINE void load_operand(u16 *to, const u16 *from, u32 width, u32 along, u32 outer, u32 outer_end, u32 outer_count, u32 k, u32 k_end)
{
	if (along)
		load_rows(to, from, width, outer, outer_end, k, k_end, outer_count, DEPTH);
	else
		load_rows(to, from, width, k, k_end, outer, outer_end, DEPTH, outer_count);
}

/* 16 rows of the left operand and 16 steps of k. */
INLINE void left_fragment(u32 *out, const u16 *from, u32 along, u32 outer_count, u32 m, u32 k)
{
	u32 lane = threadIdx.x % 32;

	if (along)
		load_matrices(out, from + (m + lane % 16) * (DEPTH + PAD) + k + lane / 16 * 8);
	else
		load_turned(out, from + (k + lane / 16 * 8 + lane % 8) * (outer_count + PAD) + m + lane / 8 % 2 * 8);
}

/* 16 columns of the right one: two fragments of 8 each. */
INLINE void right_fragments(u32 *out, const u16 *from, u32 along, u32 outer_count, u32 n, u32 k)
{
	u32 lane = threadIdx.x % 32;

	if (along)
		load_matrices(out, from + (n + lane / 16 * 8 + lane % 8) * (DEPTH + PAD) + k + lane / 8 % 2 * 8);
	else
		load_turned(out, from + (k + lane / 8 % 2 * 8 + lane % 8) * (outer_count + PAD) + n + lane / 16 * 8);
}

/* One stage's products. */
INLINE void multiply_stage(const u16 *left, const u16 *right, const struct factors *f, struct tile t, u32 m, u32 n, float (*sum)[4][4])
{
#pragma unroll
	for (u32 k = 0; k < DEPTH; k += 16) {
		u32 a[4][4], b[2][4];

#pragma unroll
		for (u32 i = 0; i < t.each_m; i++)
			left_fragment(a[i], left, f->a_along, t.m, m + 16 * i, k);
#pragma unroll
		for (u32 j = 0; j < t.each_n / 2; j++)
			right_fragments(b[j], right, f->b_along, t.n, n + 16 * j, k);
#pragma unroll
		for (u32 i = 0; i < t.each_m; i++)
#pragma unroll
			for (u32 j = 0; j < t.each_n; j++)
				multiply_add(sum[i][j], a[i], &b[j / 2][j % 2 * 2]);
	}
}

/* A row of a warp's sums, of which each lane has a pair in every 8 columns. */
INLINE void finish_row(const struct args *a, const struct call *c, enum product what, const struct factors *f, struct tile t, u32 m,
	u32 n, float (*sum)[4], u32 lower)
{
	float2 pairs[4];
	u64 places[4];

#pragma unroll
	for (u32 j = 0; j < t.each_n; j++) {
		pairs[j] = pair_of(sum[j][2 * lower], sum[j][2 * lower + 1]);
		places[j] = matrix_at(a, c->layer) + (u64)m * a->width + n + 8 * j;
	}
	if (m >= f->m || n >= f->n)
		return;
	if (what == UPDATE) {
		take_gradients(a, c->mode, places, pairs, t.each_n);
		return;
	}
#pragma unroll
	for (u32 j = 0; j < t.each_n; j++)
		finish_pair(a, c, what, 1, m, n + 8 * j, pairs[j]);
}

INLINE void finish_tile(const struct args *a, const struct call *c, enum product what, const struct factors *f, struct tile t, u32 m,
	u32 n, float (*sum)[4][4])
{
	u32 lane = threadIdx.x % 32;

#pragma unroll
	for (u32 i = 0; i < t.each_m; i++)
#pragma unroll
		for (u32 lower = 0; lower < 2; lower++)
			finish_row(a, c, what, f, t, m + 16 * i + 8 * lower + lane / 4, n + lane % 4 * 2, sum[i], lower);
}

INLINE void load_stage(const struct args *a, const struct factors *f, struct tile t, u32 m, u32 n, u32 chunk)
{
	u16 *left = (u16 *)room + chunk % t.stages * (operand_room(t.m) + operand_room(t.n)), *right = left + operand_room(t.m);

	if (chunk * DEPTH < f->k) {
		load_operand(left, (const u16 *)f->a_memory + f->a, a->width, f->a_along, m, f->m, t.m, chunk * DEPTH, f->k);
		load_operand(right, (const u16 *)f->b_memory + f->b, a->width, f->b_along, n, f->n, t.n, chunk * DEPTH, f->k);
	}
	COPIES_DONE_SO_FAR;
}

/* Chunks of k go through the stages: while one is multiplied, the others are on their way. */
INLINE void multiply_tensor(const struct args *a, const struct call *c, enum product what, const struct tile t)
{
	const struct factors f = factors_of(a, c, what);
	u32 warp = threadIdx.x / 32, tiles_m = (f.m + t.m - 1) / t.m, m = blockIdx.x % tiles_m * t.m, n = blockIdx.x / tiles_m * t.n,
	    own_m = warp / t.warps_n * t.each_m * 16, own_n = warp % t.warps_n * t.each_n * 8;
	float sum[4][4][4] = {{{0}}};

#pragma unroll
	for (u32 chunk = 0; chunk + 1 < t.stages; chunk++)
		load_stage(a, &f, t, m, n, chunk);
	for (u32 chunk = 0; chunk * DEPTH < f.k; chunk++) {
		const u16 *left = (const u16 *)room + chunk % t.stages * (operand_room(t.m) + operand_room(t.n));

		if (t.stages == 6)
			AWAIT_COPIES(4);
		else
			AWAIT_COPIES(1);
		__syncthreads();
		load_stage(a, &f, t, m, n, chunk + t.stages - 1);
		multiply_stage(left, left + operand_room(t.m), &f, t, own_m, own_n, sum);
	}
	finish_tile(a, c, what, &f, t, m + own_m, n + own_n, sum);
}

KERNEL void __launch_bounds__(256, 2) kwhy_train_forward_small(const struct args a, const struct call c)
{
	const struct tile tile = SMALL;

	multiply_tensor(&a, &c, FORWARD, tile);
}

KERNEL void __launch_bounds__(256, 2) kwhy_train_forward_large(const struct args a, const struct call c)
{
	const struct tile tile = LARGE;

	multiply_tensor(&a, &c, FORWARD, tile);
}

KERNEL void __launch_bounds__(256, 2) kwhy_train_backward_small(const struct args a, const struct call c)
{
	const struct tile tile = SMALL;

	multiply_tensor(&a, &c, BACKWARD, tile);
}

KERNEL void __launch_bounds__(256, 2) kwhy_train_backward_large(const struct args a, const struct call c)
{
	const struct tile tile = LARGE;

	multiply_tensor(&a, &c, BACKWARD, tile);
}

KERNEL void __launch_bounds__(256, 2) kwhy_train_update_large(const struct args a, const struct call c)
{
	const struct tile tile = LARGE;

	multiply_tensor(&a, &c, UPDATE, tile);
}
#endif

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
