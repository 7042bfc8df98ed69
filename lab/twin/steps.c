/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/next.h"
#include "lab/twin/inside.h"

/* --- Counted calls --- */

/* Of a launch; blocks 0: a thread for each cell, threads 0: 256. */
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

enum kwhy_status lab_twin_launch(struct lab_twin *twin, const struct lab_twin_field *field,
	enum lab_twin_kernel kernel, uint32_t step, struct kwhy_error *error)
{
	const struct lab_twin_place *place = field->place;
	struct lab_twin_args args = field->args;
	void *arguments[] = {&args, &step};
	uint32_t threads = grids[kernel].threads ? grids[kernel].threads : 256;
	struct kwhy_gpu_launch launch = {.kernel = place->kernels[kernel],
		.blocks = grids[kernel].blocks ? grids[kernel].blocks : args.cells / threads,
		.threads_per_block = threads,
		.arguments = arguments,
		.stream = place->stream};
	enum kwhy_status status = lab_gate_make_room(&twin->gate, error);

	if (kernel == LAB_TWIN_WHOLE) {
		launch.blocks = twin->run_blocks;
		launch.cooperative = true;
	}
	twin->tally.calls++;
	twin->tally.launches++;
	twin->tally.kernels++;
	return status ? status : place->gpu->ops->launch(place->gpu, &launch, error);
}

enum kwhy_status lab_twin_wait(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = lab_gate_release(&twin->gate, error);

	twin->tally.calls++;
	twin->tally.waits++;
	return status ? status : twin->gpu->ops->synchronize(twin->gpu, twin->stream, error);
}

static void count_copy(struct lab_twin *twin, enum lab_twin_way way, size_t bytes)
{
	twin->tally.copies[way]++;
	twin->tally.bytes[way] += bytes;
}

static enum kwhy_status issue(
	struct lab_twin *twin, const struct kwhy_gpu_copy *copy, struct kwhy_error *error)
{
	enum kwhy_status status = lab_gate_make_room(&twin->gate, error);

	twin->tally.calls++;
	return status ? status : twin->gpu->ops->copy(twin->gpu, twin->stream, copy, error);
}

static enum kwhy_status copy(struct lab_twin *twin, enum lab_twin_way way, uint64_t to, uint64_t from,
	size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy one = {to, from, bytes};

	count_copy(twin, way, bytes);
	return issue(twin, &one, error);
}

/* --- Pieces, each a copy --- */

static void list(struct lab_twin *twin, enum lab_twin_way way, uint64_t to, uint64_t from, size_t bytes)
{
	count_copy(twin, way, bytes);
	twin->batch[twin->batch_count++] = (struct kwhy_gpu_copy){to, from, bytes};
}

/* One by one, or by one call of the driver. */
static enum kwhy_status copy_list(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t count = twin->batch_count;

	twin->batch_count = 0;
	if (twin->variant->batched) {
		twin->tally.calls++;
		twin->tally.batches++;
		return twin->gpu->ops->copy_batch(twin->gpu, twin->stream, twin->batch, count, error);
	}
	for (size_t i = 0; !status && i < count; i++) {
		status = issue(twin, &twin->batch[i], error);
		if (!status && twin->variant->waits_each)
			status = lab_twin_wait(twin, error);
	}
	return status;
}

enum kwhy_status lab_twin_send_pieces(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	for (uint32_t a = 0; a < AGENTS; a++)
		if (sends(step, a))
			list(twin, LAB_TWIN_TO_GPU,
				twin->fields[0].args.controls + a * sizeof(twin->mail->controls[0]),
				kwhy_gpu_address(twin->mail->controls[a]), sends(step, a) * sizeof(float));
	return copy_list(twin, error);
}

enum kwhy_status lab_twin_fetch_pieces(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	uint32_t apart = twin->variant->scattered;

	for (uint32_t q = 0; q < observed(step); q++)
		list(twin, LAB_TWIN_FROM_GPU, kwhy_gpu_address(twin->mail->outbox + apart * q),
			twin->fields[0].args.outbox + (uint64_t)apart * q, is_wide(q) ? 8 : 4);
	return copy_list(twin, error);
}

/* --- All in one copy --- */

static enum kwhy_status fill_inbox(
	struct lab_twin *twin, const float *from, size_t count, struct kwhy_error *error)
{
	return copy(twin, LAB_TWIN_TO_GPU, twin->fields[0].args.inbox, kwhy_gpu_address(from),
		count * sizeof(*from), error);
}

enum kwhy_status lab_twin_send_packed(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	uint32_t count = lab_twin_agents_pack(&twin->agents, step, twin->mail->packed);
	enum kwhy_status status = fill_inbox(twin, twin->mail->packed, count, error);

	return status ? status : lab_twin_launch(twin, &twin->fields[0], LAB_TWIN_SCATTER, step, error);
}

/* What the agents send is in the table already, where a graph copies it. */
enum kwhy_status lab_twin_send_table(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	if (twin->variant->host == LAB_TWIN_CALLS)
		lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	return fill_inbox(twin, twin->mail->controls[0], AGENTS * CONTROLS, error);
}

/* A graph copies what the longest step has. */
enum kwhy_status lab_twin_fetch_packed(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	uint32_t last = observed(twin->variant->host == LAB_TWIN_GRAPHS ? 0 : step) - 1;

	return copy(twin, LAB_TWIN_FROM_GPU, kwhy_gpu_address(twin->mail->outbox),
		twin->fields[0].args.outbox, packed_at(last) + sizeof(float), error);
}

/* --- Collectives --- */

/* Each is at least one call; how many a library makes of it is not known. */
static void count_collectives(struct lab_twin *twin, uint64_t count)
{
	twin->tally.collectives += count;
	twin->tally.calls += count;
}

static enum kwhy_status sum_up(struct lab_twin *twin, struct kwhy_error *error)
{
	uint64_t sums[RANKS_MOST], peaks[RANKS_MOST];
	enum kwhy_status status;

	for (uint32_t i = 0; i < twin->field_count; i++) {
		sums[i] = twin->fields[i].args.sums;
		peaks[i] = sums[i] + AGENTS * sizeof(int64_t);
	}
	count_collectives(twin, 2);
	status = twin->group->ops->sum(twin->group, sums, AGENTS, error);
	return status ? status : twin->group->ops->max(twin->group, peaks, 1, error);
}

static enum kwhy_status exchange(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	struct kwhy_collectives_edges edges[RANKS_MOST];
	const size_t row = WIDTH * sizeof(float);

	for (uint32_t i = 0; i < twin->field_count; i++) {
		const struct lab_twin_args *args = &twin->fields[i].args;
		size_t bytes = args->cells * sizeof(float);
		uint64_t t = args->t + (args->doubled && step % 2 ? bytes : 0);

		edges[i] = (struct kwhy_collectives_edges){
			t, t + bytes - row, args->edges, args->edges + row};
	}
	count_collectives(twin, 1);
	return twin->group->ops->exchange(twin->group, edges, WIDTH, error);
}

static enum kwhy_status broadcast(struct lab_twin *twin, struct kwhy_error *error)
{
	uint64_t gains[RANKS_MOST];

	for (uint32_t i = 0; i < twin->field_count; i++)
		gains[i] = twin->fields[i].args.gains;
	count_collectives(twin, 1);
	return twin->group->ops->broadcast(twin->group, gains, AGENTS * GAINS, error);
}

static enum kwhy_status gather(struct lab_twin *twin, struct kwhy_error *error)
{
	uint64_t from[RANKS_MOST], to[RANKS_MOST];

	for (uint32_t i = 0; i < twin->field_count; i++) {
		from[i] = twin->fields[i].args.sums;
		to[i] = twin->fields[i].args.gathered;
	}
	count_collectives(twin, 1);
	return twin->group->ops->gather(twin->group, from, to, AGENTS + 1, error);
}

/* --- Kernels of a step --- */

/* The first cells of the fields, to a step's slot. */
static enum kwhy_status keep(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	const struct lab_twin_args *args = &twin->fields[0].args;
	const uint64_t from[] = {args->t, args->u, args->w, args->f, args->v};
	const size_t bytes = KEPT * sizeof(float);
	uint64_t slot = args->history + step * SLOT * sizeof(float);
	enum kwhy_status status = KWHY_OK;

	for (uint32_t k = 0; !status && k < 4u + keeps_v(step); k++)
		status = copy(twin, LAB_TWIN_WITHIN, slot + k * bytes, from[k], bytes, error);
	return status;
}

static enum kwhy_status launch_range(struct lab_twin *twin, enum lab_twin_kernel first,
	enum lab_twin_kernel last, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (enum lab_twin_kernel k = first; !status && k <= last; k++)
		status = lab_twin_launch(twin, &twin->fields[0], k, step, error);
	return status;
}

enum kwhy_status lab_twin_compute_ten(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = launch_range(twin, LAB_TWIN_GAIN, LAB_TWIN_GAIN, step, error);

	NEXT(status, broadcast(twin, error));
	NEXT(status, exchange(twin, step, error));
	NEXT(status, launch_range(twin, LAB_TWIN_FORCE, LAB_TWIN_SUM, step, error));
	NEXT(status, sum_up(twin, error));
	NEXT(status, launch_range(twin, LAB_TWIN_LOOK, LAB_TWIN_CHECK, step, error));
	return status ? status : keep(twin, step, error);
}

enum kwhy_status lab_twin_compute_fused(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	return launch_range(twin, LAB_TWIN_RECEIVE, LAB_TWIN_CONCLUDE, step, error);
}

/* Of every field; leaves the first one's GPU entered. */
static enum kwhy_status launch_all(
	struct lab_twin *twin, enum lab_twin_kernel kernel, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < twin->field_count; i++) {
		const struct lab_twin_field *field = &twin->fields[i];
		/* Only the first field has what agents send; the others get its gains. */
		bool has_none = i && kernel == LAB_TWIN_RECEIVE;

		if (twin->place_count > 1)
			status = field->place->gpu->ops->enter(field->place->gpu, error);
		NEXT(status, lab_twin_launch(twin, field, has_none ? LAB_TWIN_GAIN : kernel, step, error));
	}
	if (!status && twin->place_count > 1)
		status = twin->gpu->ops->enter(twin->gpu, error);
	return status;
}

enum kwhy_status lab_twin_compute_apart(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = launch_all(twin, LAB_TWIN_RECEIVE, step, error);

	NEXT(status, broadcast(twin, error));
	NEXT(status, exchange(twin, step, error));
	NEXT(status, launch_all(twin, LAB_TWIN_ADVANCE, step, error));
	NEXT(status, launch_all(twin, LAB_TWIN_TALLY, step, error));
	NEXT(status, gather(twin, error));
	return status ? status : launch_all(twin, LAB_TWIN_COMBINE, step, error);
}

/* --- Either end of a run --- */

enum kwhy_status lab_twin_begin(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = launch_all(twin, LAB_TWIN_BEGIN_FIELD, 0, error);

	NEXT(status, launch_all(twin, LAB_TWIN_BEGIN_REST, 0, error));
	NEXT(status, launch_all(twin, LAB_TWIN_SUM, 1, error));
	NEXT(status, sum_up(twin, error));
	return status ? status : exchange(twin, 0, error);
}

/* The check goes behind those of the steps and must say the same as the last of them. */
enum kwhy_status lab_twin_end(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = launch_all(twin, LAB_TWIN_GAIN, 0, error);

	NEXT(status, launch_all(twin, LAB_TWIN_SUM, STEPS, error));
	NEXT(status, launch_all(twin, LAB_TWIN_CHECK, STEPS, error));
	NEXT(status, sum_up(twin, error));
	return status ? status : broadcast(twin, error);
}
