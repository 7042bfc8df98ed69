/* SPDX-License-Identifier: Apache-2.0 */
/* --- A whole run in one launch, on tensor cores --- */

/*
 * For the fixed path. Four blocks form a team, which processes tiles of 32 rows one after the other; each block
 * keeps the gates' weights of 64 of the 256 units of the state in its registers for the whole run, as operands of
 * tensor instructions. In a step, each block of a team computes its quarter of the new state from the whole old
 * state, and from this quarter partial sums of the outputs. It writes both to global memory, through the
 * second-level cache, before all blocks meet at the barrier. At the beginning of the next step every block adds up
 * the four partial sums of its tile, computes the energies from them, and finds which flows merged.
 */
#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800) || defined(CUDA_TEXT_RUNS)

enum {
	UNITS = H / TEAM,
	WARPS = THREADS / 32,
	DEEP = (IN + H) / 16, /* number of tensor instructions (16 inputs each) over all inputs of a gate */
	DEEP_IN = IN / 16,    /* the same over 64 inputs, or over the 64 units of a block */
	A_STRIDE = IN + H + 8, /* 8 elements of padding prevent bank conflicts in shared memory */
	S_STRIDE = IN + 8
};

#ifndef WAIT
#define WAIT
#endif

/* Data of a tile in shared memory. */
struct tile {
	uint4 unused; /* aligns what follows to 16 bytes */
	/* inputs of the gates: 64 results of the layers before, and 256 units of the old state */
	u16 a[ROWS * A_STRIDE];
	/* h: the block's 64 units of the new state */
	u16 in[ROWS * S_STRIDE], u[ROWS * S_STRIDE], h[ROWS * S_STRIDE];
	u64 at[ROWS];
	u32 fresh[ROWS], left[ROWS], first[ROWS], second[ROWS];
};

/* A thread's part of the weights of a block's gates. */
struct gates {
	u32 r[DEEP][2], z[DEEP][2], n[DEEP][2];
	float r_bias[2], z_bias[2], in_bias[2], hidden_bias[2];
};

/* --- Instructions that C lacks; tests define their own --- */

#ifdef __CUDA_ARCH__
static __device__ INLINE u32 pack(float low, float high)
{
	u32 both;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
	return both;
}

static __device__ INLINE float swift_tanh(float value)
{
	float result;

	asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
	return result;
}

/* Loads 16 rows of 16 numbers as an operand of a tensor instruction. */
static __device__ INLINE void load_rows(u32 to[4], const u16 *from, u32 stride)
{
	u32 lane = threadIdx.x % 32, place = (u32)__cvta_generic_to_shared(from + lane % 16 * stride + lane / 16 * 8);

	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"(place)
		     : "memory");
}

/*
 * mma.m16n8k16: adds the product of 16 x 16 (`rows`) and 16 x 8 (`low`, `high`) matrices. sums: [0], [1] two
 * adjacent columns of one row, [2], [3] the same columns 8 rows below.
 */
static __device__ INLINE void multiply(float sums[4], const u32 rows[4], u32 low, u32 high)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
		     : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(low), "r"(high));
}
#endif

static __device__ INLINE float unpack(u32 half)
{
	return __uint_as_float(half << 16);
}

static __device__ INLINE float swift_sigmoid(float value)
{
	return 0.5f + 0.5f * swift_tanh(0.5f * value);
}

/* --- Weights --- */

/*
 * Loads the weights of 8 outputs and of `deep` times 16 inputs as operands. `matrix` points to the first
 * weight; rows of the matrix are `stride` apart.
 */
static __device__ INLINE void load_weights(u32 (*to)[2], u32 deep, const float *matrix, u32 stride)
{
	const float *here = matrix + threadIdx.x % 4 * 2 * stride + threadIdx.x % 32 / 4;

#pragma unroll
	for (u32 k = 0; k < deep; k++)
#pragma unroll
		for (u32 i = 0; i < 2; i++)
			to[k][i] = pack(here[(16 * k + 8 * i) * stride], here[(16 * k + 8 * i + 1) * stride]);
}

static __device__ INLINE void load_gates(const struct lab_flow_args *a, struct gates *gates, u32 unit)
{
	const float *bi = a->weights + BI + unit + threadIdx.x % 4 * 2, *bh = a->weights + BH + unit + threadIdx.x % 4 * 2;

	load_weights(gates->r, DEEP, a->weights + WI + unit, GATES);
	load_weights(gates->z, DEEP, a->weights + WI + H + unit, GATES);
	load_weights(gates->n, DEEP, a->weights + WI + 2 * H + unit, GATES);
#pragma unroll
	for (u32 i = 0; i < 2; i++) {
		gates->r_bias[i] = bi[i] + bh[i];
		gates->z_bias[i] = bi[H + i] + bh[H + i];
		gates->in_bias[i] = bi[2 * H + i];
		gates->hidden_bias[i] = bh[2 * H + i];
	}
}

/* --- Start of a step: places and energies of flows --- */

/* Sum over all lanes of a warp. */
static __device__ INLINE u64 warp_sum(u64 value)
{
#pragma unroll
	for (u32 apart = 16; apart; apart /= 2)
		value += __shfl_xor_sync(~0u, value, apart);
	return value;
}

/*
 * Finds the place of the flow in each row of a tile, and the rows of flows that merged into it; thread i of the block
 * processes row i of the tile. In the first block of a team (`leads`) it also adds these flows to the checksum and
 * begins their claims to the cells of this step.
 */
static __device__ INLINE struct claim look(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row, bool leads)
{
	struct claim claim = {0, 0, 0, NONE};
	u32 i = threadIdx.x, before = step - 1, number = 0;
	bool is_row = row < a->flows, fresh = !is_row || begins(a, before, row, &number);
	u64 at = 0, places = 0;

	if (is_row && step)
		at = NEW(u64, &a->moved[before % 2 * a->flows + row]);
	tile->left[i] = leads && fresh && z_of(at) >= a->depth;
	tile->first[i] = row;
	tile->second[i] = NONE;
	if (!fresh) {
		places = mix(at) * (2 * (u64)before + 1);
		tile->first[i] = first_of(a, before, row, at);
		tile->second[i] = next_of(a, before, tile->first[i]);
	} else if (is_row) {
		at = start(a, number);
	}
	tile->at[i] = at;
	tile->fresh[i] = fresh;
	if (leads && step) {
		places = warp_sum(places);
		if (i % 32 == 0)
			atomicAdd(&a->records[before].places, places);
	}
	if (!is_row || !leads)
		return claim;
	a->at[row] = at;
	return step == a->steps ? claim : claim_begin(a, step, row, move_fixed(a, at, step));
}

/* Loads the old state of a tile, which other blocks wrote; the loads bypass the first-level cache. */
static __device__ INLINE void load_state(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row)
{
	const u16 *from = a->h_halves + (u64)((step - 1) % 2) * a->flows * H;
	u32 k = threadIdx.x % (H / 8) * 8;

	for (u32 r = threadIdx.x / (H / 8); step && r < ROWS && row + r < a->flows; r += THREADS / (H / 8))
		*(uint4 *)&tile->a[r * A_STRIDE + IN + k] = __ldcg((const uint4 *)&from[(u64)(row + r) * H + k]);
}

/* Sum of the four blocks' partial sums of output k of a row in step `step`; for k < E, its tanh is energy k. */
static __device__ INLINE float part_sum(const struct lab_flow_args *a, u32 step, u32 row, u32 k)
{
	const float *part = a->parts + ((u64)(step % 2) * TEAM * a->flows + row) * OUT + k;
	u64 apart = (u64)a->flows * OUT;

	return NEW(float, part) + NEW(float, part + apart) + (NEW(float, part + 2 * apart) + NEW(float, part + 3 * apart));
}

/*
 * Mean of energy k over the flows that met in a cell. `sum`: part_sum() of the first row of the cell's list;
 * `second`: its second row; NONE: the flow met no other.
 */
static __device__ INLINE float merged_energy(const struct lab_flow_args *a, u32 step, float sum, u32 second, u32 k)
{
	float energy = swift_tanh(sum);
	u32 count = 1;

	for (u32 i = second; i != NONE; i = next_of(a, step, i), count++)
		energy += swift_tanh(part_sum(a, step, i, k));
	return count == 1 ? energy : energy / (float)count;
}

/*
 * Computes the 32 energies and the 64 inputs of row i of the tile; each lane of a warp has one energy and two
 * inputs.
 */
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

/* Writes the state after the last step as floats. */
static __device__ INLINE void give_state(const struct lab_flow_args *a, struct tile *tile, u32 row)
{
	for (u32 i = threadIdx.x; i < ROWS * H; i += THREADS)
		if (row + i / H < a->flows)
			a->h_rows[row * H + i] = unpack(tile->a[i / H * A_STRIDE + IN + i % H]);
}

/* --- Neural network --- */

/* Adds to `sums` the product of 16 rows of 64 inputs and weights of 8 outputs. */
static __device__ INLINE void multiply_layer(float sums[4], const u16 *from, const u32 (*weights)[2])
{
#pragma unroll
	for (u32 k = 0; k < DEEP_IN; k++) {
		u32 rows[4];

		load_rows(rows, from + 16 * k, S_STRIDE);
		multiply(sums, rows, weights[k][0], weights[k][1]);
	}
}

/*
 * A layer with 64 inputs for the 32 rows of a tile; results below `least` become `least` (0: ReLU). Each warp
 * computes 8 outputs. With 32 outputs, half of the warps compute the first 16 rows and half the others.
 */
static __device__ INLINE void layer(const float *matrix, const float *bias, u32 outputs, float least, const u16 *from, u16 *to, u32 stride)
{
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, output = warp * 8 % outputs, column = output + lane % 4 * 2;
	float low = bias[column], high = bias[column + 1];
	u32 weights[DEEP_IN][2];

	load_weights(weights, DEEP_IN, matrix + output, IN);
	for (u32 m = warp * 8 / outputs * 16; m < ROWS; m += WARPS * 8 / outputs * 16) {
		float sums[4] = {low, high, low, high};
		u16 *here = to + (m + lane / 4) * stride + column;

		multiply_layer(sums, from + m * S_STRIDE, weights);
		*(u32 *)here = pack(fmaxf(sums[0], least), fmaxf(sums[1], least));
		*(u32 *)(here + 8 * stride) = pack(fmaxf(sums[2], least), fmaxf(sums[3], least));
	}
}

struct gate_sums {
	float r[4], z[4], in[4], hidden[4];
};

/* Two adjacent units of a row's new state, packed as bfloat16. `old`: the same units of the old state. */
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

/* Computes the block's quarter of the new state, 8 units in each warp. */
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

/*
 * Stores the block's quarter of the new state where all blocks read it in the next step. A thread stores 8 numbers
 * of every 32nd row.
 */
static __device__ INLINE void store_state(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row, u32 quarter)
{
	u32 k = threadIdx.x % 8 * 8;

	for (u32 r = threadIdx.x / 8; r < ROWS && row + r < a->flows; r += THREADS / 8)
		*(uint4 *)&a->h_halves[((u64)(step % 2) * a->flows + row + r) * H + quarter * UNITS + k] =
			*(const uint4 *)&tile->h[r * S_STRIDE + k];
}

/*
 * Computes the block's partial sums of the 40 outputs, from its quarter of the new state. A warp computes 8 outputs
 * of 16 rows at a time.
 */
static __device__ INLINE void output_layer(const struct lab_flow_args *a, struct tile *tile, u32 step, u32 row, u32 quarter)
{
	u32 lane = threadIdx.x % 32;

	for (u32 piece = threadIdx.x / 32; piece < ROWS / 16 * 5; piece += WARPS) {
		u32 m = piece / 5 * 16, output = piece % 5 * 8, to = row + m + lane / 4, weights[DEEP_IN][2];
		float *part = a->parts + ((u64)(step % 2 * TEAM + quarter) * a->flows + to) * OUT + output + lane % 4 * 2;
		float sums[4] = {0, 0, 0, 0};

		load_weights(weights, DEEP_IN, a->weights + WO + quarter * UNITS * OUT + output, OUT);
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
	layer(a->weights + W1, a->weights + B1, IN, 0.0f, tile->in, tile->u, S_STRIDE);
	__syncthreads();
	layer(a->weights + W2, a->weights + B2, E, -3e38f, tile->u, tile->a, A_STRIDE);
	__syncthreads();
	gate_layer(tile, gates, quarter);
	__syncthreads();
	store_state(a, tile, step, row, quarter);
	output_layer(a, tile, step, row, quarter);
	claim_end(a, step, &claim);
	__syncthreads();
}

/* --- The run --- */

/* Barrier for all blocks. Everything that any block wrote before is visible to all blocks afterwards. */
static __device__ INLINE void meet(const struct lab_flow_args *a, u32 round)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(&a->numbers[1], 1);
		while (NEW(u32, &a->numbers[1]) < round * gridDim.x)
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
