/* SPDX-License-Identifier: Apache-2.0 */
/* --- Parts of a step, for the rows `first` to `first` + `count` - 1 --- */

/*
 * Input k (0 to 63) of the network for a flow at the place `at`: energy k, which is `e`; a number of the cell; or a
 * sine or cosine of a coordinate.
 */
static __device__ float input_of(const struct lab_flow_args *a, u64 at, float e, u32 k)
{
	u32 w = (k - E - PLACE) / 4 * 1024;

	if (k < E)
		return e;
	if (k < E + PLACE)
		return a->cells[(u64)cell_of(a, at) * PLACE + k - E];
	switch (k % 4) {
	case 0:
		return a->weights[SINES + w + x_of(at)];
	case 1:
		return a->weights[COSINES + w + x_of(at)];
	case 2:
		return a->weights[SINES + w + y_of(at)];
	default:
		return a->weights[SINES + w + z_of(at)];
	}
}

/* Computes the numbers of all cells, once. */
KERNEL void lab_flows_cells(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	u64 all = (u64)a.width * a.height * a.depth * PLACE;

	(void)step, (void)first, (void)count;
	for (u64 i = thread_index(); i < all; i += thread_count())
		a.cells[i] = unit(mix(0x2E4Bull * 0x9E3779B97F4A7C15ull + i));
}

KERNEL void lab_flows_input(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	(void)step;
	for (u32 i = thread_index(); i < count * IN; i += thread_count()) {
		u32 row = first + i / IN, k = i % IN;

		a.in[row * IN + k] = input_of(&a, a.at[row], a.e[row * E + k % E], k);
	}
}

KERNEL void lab_flows_product(const struct lab_flow_args a, u32 which, u32 first, u32 count)
{
	const struct lab_flow_product p = product_of(&a, which);

	for (u32 i = thread_index(); i < count * p.outputs; i += thread_count()) {
		u32 row = first + i / p.outputs, j = i % p.outputs;
		float sum = 0;

		for (u32 k = 0; k < p.inputs; k++)
			sum += p.in[row * p.inputs + k] * a.weights[p.matrix + k * p.outputs + j];
		p.out[row * p.outputs + j] = sum;
	}
}

KERNEL void lab_flows_relu(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	(void)step;
	for (u32 i = thread_index(); i < count * IN; i += thread_count())
		a.u[first * IN + i] = fmaxf(a.u[first * IN + i] + a.weights[B1 + i % IN], 0.0f);
}

/*
 * Adds the bias to the E outputs of the second layer, and appends the flow's E energies to them: together they are
 * the inputs of the gates.
 */
KERNEL void lab_flows_bias(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	(void)step;
	for (u32 i = thread_index(); i < count * IN; i += thread_count()) {
		u32 row = first + i / IN, k = i % IN;

		a.a[row * IN + k] = k < E ? a.a[row * IN + k] + a.weights[B2 + k] : a.in[row * IN + k - E];
	}
}

static __device__ float sigmoid(float value)
{
	return 1.0f / (1.0f + expf(-value));
}

KERNEL void lab_flows_gates(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	(void)step;
	for (u32 i = thread_index(); i < count * H; i += thread_count()) {
		u32 row = first + i / H, j = i % H;
		const float *gi = a.gi + row * GATES, *gh = a.gh + row * GATES, *bi = a.weights + BI, *bh = a.weights + BH;
		float r = sigmoid(gi[j] + bi[j] + (gh[j] + bh[j]));
		float z = sigmoid(gi[H + j] + bi[H + j] + (gh[H + j] + bh[H + j]));
		float n = tanhf(gi[2 * H + j] + bi[2 * H + j] + r * (gh[2 * H + j] + bh[2 * H + j]));

		a.h[row * H + j] = (1.0f - z) * n + z * a.h[row * H + j];
	}
}

/*
 * Computes new energies from the results of the last product, and moves each flow. If the device decides
 * which flows merge, each flow also claims its cell.
 */
KERNEL void lab_flows_move(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	for (u32 i = thread_index(); i < count * E; i += thread_count()) {
		u32 row = first + i / E, k = i % E;
		float *outputs = a.outputs_rows + row * OUT;
		struct claim claim;
		u64 moved;

		outputs[k] = tanhf(outputs[k]);
		if (k)
			continue;
		moved = a.by_argmax ? move_by(&a, a.at[row], outputs + E) : move_fixed(&a, a.at[row], step);
		if (a.by_row) {
			a.moved[step % 2 * a.flows + row] = moved;
			continue;
		}
		claim = claim_begin(&a, step, row, moved);
		claim_end(&a, step, &claim);
	}
}

/* Mean of energy k over the flows that met in a cell and merged. */
static __device__ float settled(const struct lab_flow_args *a, u32 step, u32 row, u64 moved, u32 k)
{
	float sum = 0;
	u32 count = 0;

	for (u32 i = first_of(a, step, row, moved); i != NONE; i = next_of(a, step, i), count++)
		sum += a->outputs_rows[i * OUT + k];
	return sum / (float)count;
}

/*
 * Computes the energies and places with which flows start the next step, sets the states of new flows to 0, and
 * adds to the checksum and to the energy that left the lattice. step NONE: before the first step.
 */
KERNEL void lab_flows_settle(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	if (thread_index() == 0)
		a.times[step + 1] = now_ns();
	for (u32 i = thread_index(); i < count * E; i += thread_count()) {
		u32 row = first + i / E, k = i % E, number;
		bool fresh = begins(&a, step, row, &number);
		u64 moved = step == NONE ? 0 : a.moved[step % 2 * a.flows + row];

		if (fresh) {
			if (step != NONE && z_of(moved) >= a.depth)
				atomicAdd(a.out, fixed(a.outputs_rows[row * OUT + k]));
			for (u32 j = k; j < H; j += E)
				a.h_rows[row * H + j] = 0;
			moved = start(&a, number);
		} else if (k == 0) {
			atomicAdd(&a.records[step].places, mix(moved) * (2 * (u64)step + 1));
		}
		a.e[row * E + k] = fresh ? start_energy(number, k) : settled(&a, step, row, moved, k);
		if (k == 0)
			a.at[row] = moved;
	}
}

/* --- Inputs and both first layers in one kernel; a block processes one row --- */

KERNEL void lab_flows_front(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	__shared__ float in[IN], u[IN];

	if (step == 0 && thread_index() == 0)
		a.times[0] = now_ns();
	for (u32 row = first + blockIdx.x; row < first + count; row += gridDim.x) {
		for (u32 k = threadIdx.x; k < IN; k += blockDim.x) {
			float e = a.e[row * E + k % E];

			in[k] = input_of(&a, a.at[row], e, k);
			if (k < E)
				a.a[row * IN + E + k] = e;
		}
		__syncthreads();
		for (u32 j = threadIdx.x; j < IN; j += blockDim.x) {
			float sum = a.weights[B1 + j];

			for (u32 k = 0; k < IN; k++)
				sum += in[k] * a.weights[W1 + k * IN + j];
			u[j] = fmaxf(sum, 0.0f);
		}
		__syncthreads();
		for (u32 j = threadIdx.x; j < E; j += blockDim.x) {
			float sum = a.weights[B2 + j];

			for (u32 k = 0; k < IN; k++)
				sum += u[k] * a.weights[W2 + k * IN + j];
			a.a[row * IN + j] = sum;
		}
	}
}

/* --- Dense lattice: every cell is computed, with or without a flow --- */

/*
 * Writes the inputs and states of `count` slots, from slot `first` on, to the start of the buffers. A slot
 * without a flow gets zeros.
 */
KERNEL void lab_flows_spread(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	(void)step;
	for (u32 i = thread_index(); i < count * H; i += thread_count()) {
		u32 slot = i / H, k = i % H, row = a.map[first + slot];
		bool here = row != NONE;

		a.h[slot * H + k] = here ? a.h_rows[row * H + k] : 0.0f;
		if (k < IN)
			a.in[slot * IN + k] = here ? input_of(&a, a.at[row], a.e[row * E + k % E], k) : 0.0f;
	}
}

KERNEL void lab_flows_collect(const struct lab_flow_args a, u32 step, u32 first, u32 count)
{
	(void)step;
	for (u32 i = thread_index(); i < count * H; i += thread_count()) {
		u32 slot = i / H, k = i % H, row = a.map[first + slot];

		if (row == NONE)
			continue;
		a.h_rows[row * H + k] = a.h[slot * H + k];
		if (k < OUT)
			a.outputs_rows[row * OUT + k] = a.outputs[slot * OUT + k];
	}
}
