/* SPDX-License-Identifier: Apache-2.0 */
/* --- A whole run in one launch, on tensor cores --- */

/*
 * On the fixed path. Four blocks are a team and share the weights of the gates: each keeps those of 64 units in its registers, as
 * operands of tensor instructions, for the whole run. Tiles of 32 rows are dealt out to the teams. In a step, each of the four makes its
 * quarter of the new state from the whole old one, and its part of the outputs; both lie in the second cache when all blocks meet. The
 * energies of a step come out of their four parts when the next one begins, where each block also learns who merged.
 */
#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800) || defined(CUDA_TEXT_RUNS)

enum {
	TEAM = 4,
	ROWS = 32, /* of a tile */
	UNITS = H / TEAM,
	WARPS = THREADS / 32,
	DEEP = (IN + H) / 16, /* tensor instructions along the inputs of a gate, */
	DEEP_IN = IN / 16,    /* the first of them for what comes in */
	A_STRIDE = IN + H + 8, /* 8 more spread rows over the banks */
	S_STRIDE = IN + 8
};

#ifndef WAIT
#define WAIT
#endif

/* In shared memory. */
struct tile {
	uint4 unused; /* what follows begins at 16 bytes */
	u16 a[ROWS * A_STRIDE]; /* what goes into the gates, 64 inputs and 256 of the old state */
	u16 in[ROWS * S_STRIDE], u[ROWS * S_STRIDE], h[ROWS * S_STRIDE]; /* h: 64 units of the new state */
	u64 at[ROWS];
	u32 fresh[ROWS], left[ROWS], first[ROWS], second[ROWS];
};

/* A block's weights of the gates, as a thread has them. */
struct gates {
	u32 r[DEEP][2], z[DEEP][2], n[DEEP][2];
	float r_bias[2], z_bias[2], in_bias[2], hidden_bias[2];
};

static __device__ INLINE u32 pack(float low, float high)
{
#ifdef __CUDA_ARCH__
	u32 both;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
	return both;
#else
	u32 a = __float_as_uint(low), b = __float_as_uint(high);

	a = (a + 0x7fff + (a >> 16 & 1)) >> 16;
	b = (b + 0x7fff + (b >> 16 & 1)) >> 16;
	return a | b << 16;
#endif
}

static __device__ INLINE float unpack(u32 half)
{
	return __uint_as_float(half << 16);
}

static __device__ INLINE float swift_tanh(float value)
{
#ifdef __CUDA_ARCH__
	float result;

	asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
	return result;
#else
	return tanhf(value);
#endif
}

static __device__ INLINE float swift_sigmoid(float value)
{
	return 0.5f + 0.5f * swift_tanh(0.5f * value);
}

/* 16 rows of 16 numbers, as a tensor instruction takes them. */
static __device__ INLINE void load_rows(u32 to[4], const u16 *from, u32 stride)
{
	u32 lane = threadIdx.x % 32;
#ifdef __CUDA_ARCH__
	u32 place = (u32)__cvta_generic_to_shared(from + lane % 16 * stride + lane / 16 * 8);

	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"(place)
		     : "memory");
#else
	const u16 *here = from + lane / 4 * stride + lane % 4 * 2;

	to[0] = *(const u32 *)here;
	to[1] = *(const u32 *)(here + 8 * stride);
	to[2] = *(const u32 *)(here + 8);
	to[3] = *(const u32 *)(here + 8 * stride + 8);
#endif
}

/* sums[rows 8 apart][columns] += 16 x 16 times 16 x 8. */
#ifdef __CUDA_ARCH__
static __device__ INLINE void multiply(float sums[4], const u32 rows[4], u32 low, u32 high)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
		     : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(low), "r"(high));
}
#endif

/* The operand of 8 outputs from `matrix` on, whose rows are `stride` apart, and 16 inputs. */
static __device__ INLINE u32 weight_pair(const u16 *matrix, u32 stride, u32 input)
{
	u32 lane = threadIdx.x % 32;

	return *(const u32 *)(matrix + lane / 4 * stride + input + lane % 4 * 2);
}

static __device__ INLINE void load_gate(const struct lab_flow_args *a, u32 (*to)[2], u32 gate, u32 unit)
{
	const u16 *in = a->halves + HALF_WI + (gate * H + unit) * IN, *hidden = a->halves + HALF_WH + (gate * H + unit) * H;

#pragma unroll
	for (u32 k = 0; k < DEEP; k++)
#pragma unroll
		for (u32 i = 0; i < 2; i++)
			to[k][i] = k < DEEP_IN ? weight_pair(in, IN, 16 * k + 8 * i)
					       : weight_pair(hidden, H, 16 * (k - DEEP_IN) + 8 * i);
}

static __device__ INLINE void load_gates(const struct lab_flow_args *a, struct gates *gates, u32 unit)
{
	const float *bi = a->weights + BI + unit + threadIdx.x % 4 * 2, *bh = a->weights + BH + unit + threadIdx.x % 4 * 2;

	load_gate(a, gates->r, 0, unit);
	load_gate(a, gates->z, 1, unit);
	load_gate(a, gates->n, 2, unit);
#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		gates->r_bias[i] = bi[i] + bh[i];
		gates->z_bias[i] = bi[H + i] + bh[H + i];
		gates->in_bias[i] = bi[2 * H + i];
		gates->hidden_bias[i] = bh[2 * H + i];
	}
}

/* A sum over a warp, in its first lane. */
static __device__ INLINE u64 warp_sum(u64 value)
{
#pragma unroll
	for (u32 apart = 16; apart; apart /= 2) {
		u32 low = __shfl_xor_sync(~0u, (u32)value, apart), high = __shfl_xor_sync(~0u, (u32)(value >> 32), apart);

		value += (u64)high << 32 | low;
	}
	return value;
}

/* Who is in a row at the start of a step. */
struct tenant {
	u64 at, places;   /* the latter: what it adds to the check of the step before */
	bool fresh, left; /* it begins; whoever was there has left the lattice */
};

static __device__ INLINE struct tenant find_tenant(const struct lab_flow_args *a, u32 step, u32 row)
{
	struct tenant who = {0, 0, true, false};
	u32 before = step - 1, number = 0;

	if (row >= a->flows)
		return who;
	who.fresh = begins(a, before, row, &number);
	if (step) {
		who.at = new_word(&a->moved[before % 2 * a->flows + row]);
		who.left = who.fresh && z_of(who.at) >= a->depth;
		if (!who.fresh)
			who.places = mix(who.at) * (2 * (u64)before + 1);
	}
	if (who.fresh)
		who.at = start(a, number);
	return who;
}

/* Who is in a row of a tile, a thread each, whole warps; the leader of a team asks for their next cells. */
static __device__ INLINE struct claim look(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row, bool leads)
{
	const struct tenant who = find_tenant(a, step, row);
	struct claim claim = {0, 0, 0, NONE};
	u32 i = threadIdx.x, first = row, second = NONE;
	u64 at = who.at, moved;

	if (step && !who.fresh) {
		first = first_of(a, step - 1, row, at);
		second = next_of(a, step - 1, first);
	}
	tile->at[i] = at;
	tile->fresh[i] = who.fresh;
	tile->left[i] = who.left && leads;
	tile->first[i] = first;
	tile->second[i] = second;
	if (leads && step) {
		u64 places = warp_sum(who.places);

		if (i % 32 == 0)
			atomicAdd(&a->records[step - 1].places, places);
	}
	if (row >= a->flows || !leads)
		return claim;
	a->at[row] = at;
	if (step == a->steps)
		return claim;
	moved = move_fixed(a, at, step);
	return claim_begin(a, step, row, moved);
}

/* The old state of a tile, which other blocks wrote: past the first cache. */
static __device__ INLINE void load_state(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row)
{
	const u16 *from = a->h_halves + (u64)((step - 1) % 2) * a->flows * H;
	u32 k = threadIdx.x % (H / 8) * 8;

	for (u32 r = threadIdx.x / (H / 8); step && r < ROWS && row + r < a->flows; r += THREADS / (H / 8))
		*(uint4 *)&tile->a[r * A_STRIDE + IN + k] = __ldcg((const uint4 *)&from[(u64)(row + r) * H + k]);
}

/* An energy after a step, from its parts. */
static __device__ INLINE float part_sum(const struct lab_flow_args *a, u32 step, u32 row, u32 k)
{
	const float *part = a->parts + ((u64)(step % 2) * TEAM * a->flows + row) * OUT + k;
	u64 apart = (u64)a->flows * OUT;

	return new_float(part) + new_float(part + apart) + (new_float(part + 2 * apart) + new_float(part + 3 * apart));
}

/* The mean of those that merged, from the sum of the first of them. */
static __device__ INLINE float merged_energy(const struct lab_flow_args *a, u32 step, float sum, u32 second, u32 k)
{
	float energy = swift_tanh(sum);
	u32 count = 1;

	for (u32 i = second; i != NONE; i = next_of(a, step, i), count++)
		energy += swift_tanh(part_sum(a, step, i, k));
	return count == 1 ? energy : energy / (float)count;
}

/* Energy and inputs of a row of the tile, a lane for each. */
static __device__ INLINE void take_row(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row, u32 i)
{
	u32 k = threadIdx.x % 32, first = tile->first[i];
	float sum = step && first < a->flows ? part_sum(a, step - 1, first, k) : 0.0f;
	float e = tile->fresh[i] ? start_energy((u32)(tile->at[i] >> 32), k)
				 : merged_energy(a, step - 1, sum, tile->second[i], k);

	tile->a[i * A_STRIDE + E + k] = tile->in[i * S_STRIDE + k] = (u16)pack(e, 0);
	tile->in[i * S_STRIDE + E + k] = (u16)pack(input_of(a, tile->at[i], 0.0f, E + k), 0);
	if (tile->fresh[i])
		for (u32 j = 0; j < 4; j++)
			*(u32 *)&tile->a[i * A_STRIDE + IN + k * 8 + j * 2] = 0;
	if (tile->left[i])
		atomicAdd(a->out, fixed(swift_tanh(part_sum(a, step - 1, row + i, k))));
	if (step == a->steps && blockIdx.x % TEAM == 0 && row + i < a->flows)
		a->e[(row + i) * E + k] = e;
}

/* The state after the last step, as floats. */
static __device__ INLINE void give_state(const struct lab_flow_args *a, struct tile *tile, u32 row)
{
	for (u32 i = threadIdx.x; i < ROWS * H; i += THREADS)
		if (row + i / H < a->flows)
			a->h_rows[row * H + i] = unpack(tile->a[i / H * A_STRIDE + IN + i % H]);
}

/* Weights of 8 outputs from `matrix` on, of 64 inputs. */
static __device__ INLINE void load_layer(u32 (*to)[2], const u16 *matrix, u32 stride)
{
#pragma unroll
	for (u32 k = 0; k < IN / 16; k++)
#pragma unroll
		for (u32 i = 0; i < 2; i++)
			to[k][i] = weight_pair(matrix, stride, 16 * k + 8 * i);
}

/* 16 rows of 64 inputs times those. */
static __device__ INLINE void multiply_layer(float sums[4], const u16 *from, const u32 (*weights)[2])
{
#pragma unroll
	for (u32 k = 0; k < IN / 16; k++) {
		u32 rows[4];

		load_rows(rows, from + 16 * k, S_STRIDE);
		multiply(sums, rows, weights[k][0], weights[k][1]);
	}
}

/* The first layer: a warp has 8 of its 64 outputs. */
static __device__ INLINE void first_layer(const struct lab_flow_args *a, struct tile *tile)
{
	u32 lane = threadIdx.x % 32, output = threadIdx.x / 32 * 8, column = output + lane % 4 * 2;
	float low = a->weights[B1 + column], high = a->weights[B1 + column + 1];
	u32 weights[IN / 16][2];

	load_layer(weights, a->halves + HALF_W1 + output * IN, IN);
#pragma unroll 2
	for (u32 m = 0; m < ROWS; m += 16) {
		float sums[4] = {low, high, low, high};
		u16 *to = tile->u + (m + lane / 4) * S_STRIDE + column;

		multiply_layer(sums, tile->in + m * S_STRIDE, weights);
		*(u32 *)to = pack(fmaxf(sums[0], 0.0f), fmaxf(sums[1], 0.0f));
		*(u32 *)(to + 8 * S_STRIDE) = pack(fmaxf(sums[2], 0.0f), fmaxf(sums[3], 0.0f));
	}
}

/* The second: a warp has every other 16 rows of 8 of its 32 outputs. */
static __device__ INLINE void second_layer(const struct lab_flow_args *a, struct tile *tile)
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, output = warp % 4 * 8, column = output + lane % 4 * 2;
	float low = a->weights[B2 + column], high = a->weights[B2 + column + 1];
	u32 weights[IN / 16][2];

	load_layer(weights, a->halves + HALF_W2 + output * IN, IN);
	for (u32 m = warp / 4 * 16; m < ROWS; m += 32) {
		float sums[4] = {low, high, low, high};
		u16 *to = tile->a + (m + lane / 4) * A_STRIDE + column;

		multiply_layer(sums, tile->u + m * S_STRIDE, weights);
		*(u32 *)to = pack(sums[0], sums[1]);
		*(u32 *)(to + 8 * A_STRIDE) = pack(sums[2], sums[3]);
	}
}

struct gate_sums {
	float r[4], z[4], in[4], hidden[4];
};

/* Two columns of a row of the new state. */
static __device__ INLINE u32 gate_pair(const struct gate_sums *s, u32 i, u32 old)
{
	float h[2];

#pragma unroll
	for (u32 j = 0; j < 2; j++) {
		float r = swift_sigmoid(s->r[i + j]), z = swift_sigmoid(s->z[i + j]);
		float n = swift_tanh(s->in[i + j] + r * s->hidden[i + j]);

		h[j] = n + z * (unpack(j ? old >> 16 : old & 0xffff) - n);
	}
	return pack(h[0], h[1]);
}

/* The block's quarter of the new state: a warp has 8 units. */
static __device__ INLINE void gate_layer(struct tile *tile, const struct gates *gates, u32 quarter)
{
	u32 lane = threadIdx.x % 32, column = threadIdx.x / 32 * 8 + lane % 4 * 2;
	struct gate_sums sums[ROWS / 16];

#pragma unroll
	for (u32 m = 0; m < ROWS / 16; m++)
#pragma unroll
		for (u32 i = 0; i < 4; i++) {
			sums[m].r[i] = gates->r_bias[i % 2];
			sums[m].z[i] = gates->z_bias[i % 2];
			sums[m].in[i] = gates->in_bias[i % 2];
			sums[m].hidden[i] = gates->hidden_bias[i % 2];
		}
#pragma unroll
	for (u32 k = 0; k < DEEP; k++)
#pragma unroll
		for (u32 m = 0; m < ROWS / 16; m++) {
			u32 rows[4];

			load_rows(rows, tile->a + m * 16 * A_STRIDE + k * 16, A_STRIDE);
			multiply(sums[m].r, rows, gates->r[k][0], gates->r[k][1]);
			multiply(sums[m].z, rows, gates->z[k][0], gates->z[k][1]);
			multiply(k < DEEP_IN ? sums[m].in : sums[m].hidden, rows, gates->n[k][0], gates->n[k][1]);
		}
#pragma unroll
	for (u32 m = 0; m < ROWS / 16; m++)
#pragma unroll
		for (u32 i = 0; i < 2; i++) {
			u32 row = m * 16 + lane / 4 + i * 8;
			u32 old = *(const u32 *)&tile->a[row * A_STRIDE + IN + quarter * UNITS + column];

			*(u32 *)&tile->h[row * S_STRIDE + column] = gate_pair(&sums[m], i * 2, old);
		}
}

/* The rows' quarter of the state, for all; a thread has 8 numbers of every 32nd. */
static __device__ INLINE void store_state(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row, u32 quarter)
{
	u32 k = threadIdx.x % 8 * 8;

	for (u32 r = threadIdx.x / 8; r < ROWS && row + r < a->flows; r += THREADS / 8)
		*(uint4 *)&a->h_halves[((u64)(step % 2) * a->flows + row + r) * H + quarter * UNITS + k] =
			*(const uint4 *)&tile->h[r * S_STRIDE + k];
}

/* This block's part of energies and logits: 5 pieces of 8 outputs for each 16 rows. */
static __device__ INLINE void output_layer(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row, u32 quarter)
{
	u32 lane = threadIdx.x % 32;

	for (u32 piece = threadIdx.x / 32; piece < ROWS / 16 * 5; piece += WARPS) {
		u32 m = piece / 5 * 16, output = piece % 5 * 8, to = row + m + lane / 4, weights[UNITS / 16][2];
		float *part = a->parts + ((u64)(step % 2 * TEAM + quarter) * a->flows + to) * OUT + output + lane % 4 * 2;
		float sums[4] = {0, 0, 0, 0};

		load_layer(weights, a->halves + HALF_WO + output * H + quarter * UNITS, H);
		multiply_layer(sums, tile->h + m * S_STRIDE, weights);
		if (to < a->flows) {
			part[0] = sums[0];
			part[1] = sums[1];
		}
		if (to + 8 < a->flows) {
			part[8 * OUT] = sums[2];
			part[8 * OUT + 1] = sums[3];
		}
	}
}

static __device__ INLINE void run_tile(
	const struct lab_flow_args *a, struct tile *tile, const struct gates *gates, u32 step, u32 row)
{
	struct claim claim = {0, 0, 0, NONE};
	u32 quarter = blockIdx.x % TEAM;

	load_state(a, tile, step, row);
	if (threadIdx.x < ROWS)
		claim = look(a, tile, step, row + threadIdx.x, quarter == 0);
	__syncthreads();
	for (u32 i = threadIdx.x / 32; i < ROWS; i += WARPS)
		take_row(a, tile, step, row, i);
	__syncthreads();
	if (step == a->steps) {
		if (quarter == 0)
			give_state(a, tile, row);
		__syncthreads();
		return;
	}
	first_layer(a, tile);
	__syncthreads();
	second_layer(a, tile);
	__syncthreads();
	gate_layer(tile, gates, quarter);
	__syncthreads();
	store_state(a, tile, step, row, quarter);
	output_layer(a, tile, step, row, quarter);
	claim_end(a, step, &claim);
	__syncthreads();
}

/* Everything that was written before, by any block, is seen by all after. */
static __device__ INLINE void meet(const struct lab_flow_args *a, u32 round)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(&a->numbers[1], 1);
		while (new_number(&a->numbers[1]) < round * gridDim.x)
			WAIT;
		__threadfence();
	}
	__syncthreads();
}

KERNEL void __launch_bounds__(256, 1) lab_flows_run(const struct lab_flow_args a, u32 unused, u32 first, u32 count)
{
	__shared__ struct tile tile;
	u32 own = blockIdx.x / TEAM * ROWS, apart = gridDim.x / TEAM * ROWS;
	struct gates gates;

	(void)unused, (void)first, (void)count;
	load_gates(&a, &gates, blockIdx.x % TEAM * UNITS + threadIdx.x / 32 * 8);
	if (thread_index() == 0)
		a.times[0] = now_ns();
	for (u32 step = 0; step <= a.steps; step++) {
		for (u32 row = own; row < a.flows; row += apart)
			run_tile(&a, &tile, &gates, step, row);
		if (step == a.steps)
			break;
		meet(&a, step + 1);
		if (thread_index() == 0)
			a.times[step + 1] = now_ns();
	}
}
#endif
