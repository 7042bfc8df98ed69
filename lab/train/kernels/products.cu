/* SPDX-License-Identifier: Apache-2.0 */
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
