/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

/* --- Calls that are counted in the tally --- */

/* Grid of each kernel: number of blocks (0: one thread for each cell) and threads of a block (0: 256). */
static const struct {
	uint32_t blocks, threads;
} grids[LAB_TWIN_KERNEL_COUNT] = {
	[LAB_TWIN_GAIN] = {.blocks = 1},
	[LAB_TWIN_SCATTER] = {.blocks = 1},
	[LAB_TWIN_RECEIVE] = {.blocks = 1},
	[LAB_TWIN_LOOK] = {.blocks = 8},
	[LAB_TWIN_COMBINE] = {1, 1024},
	[LAB_TWIN_SUM] = {.threads = 1024},
	[LAB_TWIN_CHECK] = {.threads = 1024},
	[LAB_TWIN_CONCLUDE] = {.threads = 1024},
	[LAB_TWIN_TALLY] = {.threads = 1024},
	[LAB_TWIN_WHOLE] = {.threads = 1024},
};

void lab_twin_launch(
	struct lab_twin *twin, const struct lab_twin_field *field, enum lab_twin_kernel kernel, uint32_t step)
{
	const struct lab_rank *place = field->place;
	struct lab_twin_args args = field->args;
	void *arguments[] = {&args, &step};
	uint32_t threads = grids[kernel].threads ? grids[kernel].threads : 256;
	struct kwhy_gpu_launch launch = {.kernel = place->kernels[kernel],
		.blocks = grids[kernel].blocks ? grids[kernel].blocks : args.cells / threads,
		.threads_per_block = threads,
		.arguments = arguments,
		.stream = place->stream};

	if (kernel == LAB_TWIN_WHOLE) {
		launch.blocks = twin->run_blocks;
		launch.cooperative = true;
	}
	twin->tally.calls++;
	twin->tally.kernels++;
	TRY(&twin->tries, lab_gate_reserve, &twin->gate);
	TRY(&twin->tries, place->gpu->ops->launch, place->gpu, &launch);
}

void lab_twin_wait(struct lab_twin *twin)
{
	twin->tally.calls++;
	twin->tally.waits++;
	TRY(&twin->tries, lab_gate_release, &twin->gate);
	TRY(&twin->tries, twin->gpu->ops->synchronize, twin->gpu, twin->stream);
}

static void count_copy(struct lab_twin *twin, enum lab_twin_way way, size_t bytes)
{
	twin->tally.copies[way]++;
	twin->tally.bytes[way] += bytes;
}

static void issue(struct lab_twin *twin, const struct kwhy_gpu_copy *copy)
{
	twin->tally.calls++;
	TRY(&twin->tries, lab_gate_reserve, &twin->gate);
	TRY(&twin->tries, twin->gpu->ops->copy, twin->gpu, twin->stream, copy);
}

static void copy(struct lab_twin *twin, enum lab_twin_way way, uint64_t to, uint64_t from, size_t bytes)
{
	const struct kwhy_gpu_copy one = {to, from, bytes};

	count_copy(twin, way, bytes);
	issue(twin, &one);
}

/* --- A copy for each value or agent --- */

static void list(struct lab_twin *twin, enum lab_twin_way way, uint64_t to, uint64_t from, size_t bytes)
{
	count_copy(twin, way, bytes);
	twin->batch[twin->batch_count++] = (struct kwhy_gpu_copy){to, from, bytes};
}

/*
 * Queues the listed copies: with one call of the driver if the variant has `batched`, otherwise one by one,
 * and with `waits_each` waits for each.
 */
static void copy_list(struct lab_twin *twin)
{
	size_t count = twin->batch_count;

	twin->batch_count = 0;
	if (twin->variant->batched) {
		twin->tally.calls++;
		TRY(&twin->tries, twin->gpu->ops->copy_batch, twin->gpu, twin->stream, twin->batch, count);
		return;
	}
	for (size_t i = 0; !twin->tries.status && i < count; i++) {
		issue(twin, &twin->batch[i]);
		if (twin->variant->waits_each)
			lab_twin_wait(twin);
	}
}

static void send_pieces(struct lab_twin *twin, uint32_t step)
{
	lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	for (uint32_t a = 0; a < AGENTS; a++)
		if (sends(step, a))
			list(twin, LAB_TWIN_TO_GPU,
				twin->fields[0].args.controls + a * sizeof(twin->mail->controls[0]),
				kwhy_gpu_address(twin->mail->controls[a]), sends(step, a) * sizeof(float));
	copy_list(twin);
}

static void fetch_pieces(struct lab_twin *twin, uint32_t step)
{
	uint32_t apart = twin->variant->scattered;

	for (uint32_t q = 0; q < observed(step); q++)
		list(twin, LAB_TWIN_FROM_GPU, kwhy_gpu_address(twin->mail->outbox + apart * q),
			twin->fields[0].args.outbox + (uint64_t)apart * q, is_wide(q) ? 8 : 4);
	copy_list(twin);
}

/* --- One copy in each direction per step --- */

static void fill_inbox(struct lab_twin *twin, const float *from, size_t count)
{
	copy(twin, LAB_TWIN_TO_GPU, twin->fields[0].args.inbox, kwhy_gpu_address(from),
		count * sizeof(*from));
}

static void send_packed(struct lab_twin *twin, uint32_t step)
{
	fill_inbox(twin, twin->mail->packed, lab_twin_agents_pack(&twin->agents, step, twin->mail->packed));
	lab_twin_launch(twin, &twin->fields[0], LAB_TWIN_SCATTER, step);
}

/*
 * Queues the copy of the whole table of controls to the device. If the host launches the kernels by
 * calls, it fills the table first. In a graph the copy is captured only once; the host then fills
 * the table before each launch of the graph.
 */
static void send_table(struct lab_twin *twin, uint32_t step)
{
	if (twin->variant->host == LAB_TWIN_CALLS)
		lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	fill_inbox(twin, twin->mail->controls[0], AGENTS * CONTROLS);
}

/*
 * Queues the copy of the packed observations to the host. In a graph, whose copy has one size, it has that of
 * steps with 1,878 observations; other steps have 1,877.
 */
static void fetch_packed(struct lab_twin *twin, uint32_t step)
{
	uint32_t last = observed(twin->variant->host == LAB_TWIN_GRAPHS ? 0 : step) - 1;

	copy(twin, LAB_TWIN_FROM_GPU, kwhy_gpu_address(twin->mail->outbox), twin->fields[0].args.outbox,
		packed_at(last) + sizeof(float));
}

/* --- Collectives --- */

/* Counts a collective as one call; how many calls of the driver a library makes is unknown. */
static void count_collective(struct lab_twin *twin)
{
	twin->tally.collectives++;
	twin->tally.calls++;
}

static void sum_up(struct lab_twin *twin)
{
	uint64_t sums[RANKS_MAX], peaks[RANKS_MAX];

	for (uint32_t i = 0; i < twin->field_count; i++) {
		sums[i] = twin->fields[i].args.sums;
		peaks[i] = sums[i] + AGENTS * sizeof(int64_t);
	}
	count_collective(twin);
	TRY(&twin->tries, twin->group->ops->sum, twin->group, sums, AGENTS);
	count_collective(twin);
	TRY(&twin->tries, twin->group->ops->max, twin->group, peaks, 1);
}

static void exchange(struct lab_twin *twin, uint32_t step)
{
	struct kwhy_collectives_edges edges[RANKS_MAX];
	const size_t row = WIDTH * sizeof(float);

	for (uint32_t i = 0; i < twin->field_count; i++) {
		const struct lab_twin_args *args = &twin->fields[i].args;
		size_t bytes = args->cells * sizeof(float);
		uint64_t t = args->t + (args->doubled && step % 2 ? bytes : 0);

		edges[i] = (struct kwhy_collectives_edges){
			t, t + bytes - row, args->edges, args->edges + row};
	}
	count_collective(twin);
	TRY(&twin->tries, twin->group->ops->exchange, twin->group, edges, WIDTH);
}

static void broadcast(struct lab_twin *twin)
{
	uint64_t gains[RANKS_MAX];

	for (uint32_t i = 0; i < twin->field_count; i++)
		gains[i] = twin->fields[i].args.gains;
	count_collective(twin);
	TRY(&twin->tries, twin->group->ops->broadcast, twin->group, gains, AGENTS * GAINS);
}

static void gather(struct lab_twin *twin)
{
	uint64_t from[RANKS_MAX], to[RANKS_MAX];

	for (uint32_t i = 0; i < twin->field_count; i++) {
		from[i] = twin->fields[i].args.sums;
		to[i] = twin->fields[i].args.gathered;
	}
	count_collective(twin);
	TRY(&twin->tries, twin->group->ops->gather, twin->group, from, to, AGENTS + 1);
}

/* --- Kernels of a step --- */

/*
 * Queues copies within the device of the first KEPT cells of T, U, W, F and, in every 36th step, V to the
 * step's part of the history.
 */
static void keep(struct lab_twin *twin, uint32_t step)
{
	const struct lab_twin_args *args = &twin->fields[0].args;
	const uint64_t from[] = {args->t, args->u, args->w, args->f, args->v};
	const size_t bytes = KEPT * sizeof(float);
	uint64_t slot = args->history + step * SLOT * sizeof(float);

	for (uint32_t k = 0; k < 4u + keeps_v(step); k++)
		copy(twin, LAB_TWIN_WITHIN, slot + k * bytes, from[k], bytes);
}

static void enter(struct lab_twin *twin, struct kwhy_gpu *gpu)
{
	if (twin->place_count > 1)
		TRY(&twin->tries, gpu->ops->enter, gpu);
}

/*
 * Queues the kernels `first` to `last` in the order of their enum, each for every field, on the field's GPU.
 * Afterwards the GPU of the first field is current.
 */
static void launch(
	struct lab_twin *twin, enum lab_twin_kernel first, enum lab_twin_kernel last, uint32_t step)
{
	for (enum lab_twin_kernel kernel = first; kernel <= last; kernel++)
		for (uint32_t i = 0; i < twin->field_count; i++) {
			/*
			 * Only the first field gets what agents send. It computes the gains, which a
			 * broadcast then copies to other fields; these launch GAIN only to set their sums to
			 * 0.
			 */
			bool has_none = i && kernel == LAB_TWIN_RECEIVE;

			enter(twin, twin->fields[i].place->gpu);
			lab_twin_launch(twin, &twin->fields[i], has_none ? LAB_TWIN_GAIN : kernel, step);
		}
	enter(twin, twin->gpu);
}

static void compute_ten(struct lab_twin *twin, uint32_t step)
{
	launch(twin, LAB_TWIN_GAIN, LAB_TWIN_GAIN, step);
	broadcast(twin);
	exchange(twin, step);
	launch(twin, LAB_TWIN_FORCE, LAB_TWIN_SUM, step);
	sum_up(twin);
	launch(twin, LAB_TWIN_LOOK, LAB_TWIN_CHECK, step);
	keep(twin, step);
}

static void compute_fused(struct lab_twin *twin, uint32_t step)
{
	launch(twin, LAB_TWIN_RECEIVE, LAB_TWIN_CONCLUDE, step);
}

static void compute_apart(struct lab_twin *twin, uint32_t step)
{
	launch(twin, LAB_TWIN_RECEIVE, LAB_TWIN_RECEIVE, step);
	broadcast(twin);
	exchange(twin, step);
	launch(twin, LAB_TWIN_ADVANCE, LAB_TWIN_ADVANCE, step);
	launch(twin, LAB_TWIN_TALLY, LAB_TWIN_TALLY, step);
	gather(twin);
	launch(twin, LAB_TWIN_COMBINE, LAB_TWIN_COMBINE, step);
}

/* --- Start and end of a run --- */

void lab_twin_begin(struct lab_twin *twin)
{
	TRY(&twin->tries, lab_gate_hold, &twin->gate);
	launch(twin, LAB_TWIN_BEGIN_FIELD, LAB_TWIN_BEGIN_REST, 0);
	launch(twin, LAB_TWIN_SUM, LAB_TWIN_SUM, 1);
	sum_up(twin);
	exchange(twin, 0);
	TRY(&twin->tries, lab_gate_release, &twin->gate);
}

/*
 * Ends a run: computes the checksum of the cells once more, into the element behind those of the steps. It
 * must equal that of the last step.
 */
void lab_twin_end(struct lab_twin *twin)
{
	TRY(&twin->tries, lab_gate_hold, &twin->gate);
	launch(twin, LAB_TWIN_GAIN, LAB_TWIN_GAIN, 0);
	launch(twin, LAB_TWIN_SUM, LAB_TWIN_SUM, STEPS);
	launch(twin, LAB_TWIN_CHECK, LAB_TWIN_CHECK, STEPS);
	sum_up(twin);
	broadcast(twin);
	TRY(&twin->tries, lab_gate_release, &twin->gate);
}

/* --- The variants --- */

/*
 * Members of variants. PIECES: a copy for each agent and each observation; observations are 16 bytes apart on
 * the device. PACKED_READS: one copy for all observations. TABLE: one copy in each direction per step.
 */
#define PIECES .send = send_pieces, .compute = compute_ten, .scattered = 16, .fetch = fetch_pieces
#define PACKED_READS .compute = compute_ten, .fetch = fetch_packed
#define TABLE .doubled = true, .send = send_table, .fetch = fetch_packed

const struct lab_twin_variant lab_twin_variants[] = {
	{"v0", "naive", NULL, "pageable memory, a copy and a wait for each of 22 payloads and 1,877 values",
		PIECES, .pageable = true, .waits_each = true},
	{"v1", "pinned, one wait a step", "v0", "pinned memory; copies are queued and waited for once",
		PIECES},
	{"v2", "packed reads", "v1", "the kernel writes its observations without gaps; one copy reads them",
		PACKED_READS, .send = send_pieces},
	{"v3", "packed writes", "v2", "payloads go in one copy; a kernel scatters them", PACKED_READS,
		.send = send_packed},
	{"v4", "batches of copies", "v1",
		"the pieces of v1 by two calls of the driver a step, which takes many copies each", PIECES,
		.batched = true},
	{"v5", "fused kernels", "v3",
		"three kernels a step over two buffers of T; ranks of one GPU are one field, so that "
		"their collectives and the copies to the history go into the kernels",
		TABLE, .compute = compute_fused},
	{"v6", "one graph a step", "v5", "copies and kernels of a step are one launch", TABLE,
		.compute = compute_fused, .host = LAB_TWIN_GRAPHS},
	{"v7", "mapped mailboxes", "v6",
		"kernels read and write the host's memory; no copies, and the host waits for a word",
		.host = LAB_TWIN_GRAPHS, .mapped = true, .doubled = true, .compute = compute_fused},
	{"v8", "policy on the device", "v7",
		"agents decide in a kernel: the whole run is one launch, nothing is transferred",
		.host = LAB_TWIN_DEVICE, .doubled = true},
	{"v9", "a field a rank", "v5",
		"every rank has its field, on GPUs of their own where there are several; sums and peak "
		"are one collective",
		TABLE, .compute = compute_apart, .apart = true},
	{"cpu", "one core of the host", NULL, "no GPU: the reference itself", .host = LAB_TWIN_REFERENCE},
};

const size_t lab_twin_variant_count = sizeof(lab_twin_variants) / sizeof(lab_twin_variants[0]);
