/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/next.h"
#include "lab/twin/inside.h"

enum { SMALL_THREADS = 256, FIELD_THREADS = 256, TALLY_THREADS = 1024 };

/* How a kernel is launched: one block, cells apart, or in blocks that add up. */
static void set_grid(const struct lab_twin *twin, const struct lab_twin_field *field,
	struct kwhy_gpu_launch *launch, enum lab_twin_kernel kernel)
{
	uint32_t cells = field->args.cells;

	switch (kernel) {
	case LAB_TWIN_GAIN:
	case LAB_TWIN_SCATTER:
	case LAB_TWIN_RECEIVE:
		launch->blocks = 1;
		launch->threads_per_block = SMALL_THREADS;
		break;
	case LAB_TWIN_COMBINE:
		launch->blocks = 1;
		launch->threads_per_block = TALLY_THREADS;
		break;
	case LAB_TWIN_SUM:
	case LAB_TWIN_CHECK:
	case LAB_TWIN_CONCLUDE:
	case LAB_TWIN_TALLY:
		launch->blocks = cells / TALLY_THREADS;
		launch->threads_per_block = TALLY_THREADS;
		break;
	case LAB_TWIN_LOOK:
		launch->blocks = 8;
		launch->threads_per_block = FIELD_THREADS;
		break;
	case LAB_TWIN_RUN:
		launch->blocks = twin->run_blocks;
		launch->threads_per_block = TALLY_THREADS;
		launch->cooperative = true;
		break;
	default:
		launch->blocks = cells / FIELD_THREADS;
		launch->threads_per_block = FIELD_THREADS;
	}
}

enum kwhy_status lab_twin_launch(struct lab_twin *twin, const struct lab_twin_field *field,
	enum lab_twin_kernel kernel, uint32_t step, struct kwhy_error *error)
{
	struct lab_twin_args args = field->args;
	void *arguments[] = {&args, &step};
	struct kwhy_gpu_launch launch = {
		.kernel = field->kernels[kernel], .arguments = arguments, .stream = field->stream};
	enum kwhy_status status;

	set_grid(twin, field, &launch, kernel);
	twin->tally.calls++;
	twin->tally.launches++;
	twin->tally.kernels++;
	status = lab_gate_make_room(&twin->gate, error);
	return status ? status : field->gpu->ops->launch(field->gpu, &launch, error);
}

static enum kwhy_status copy(
	struct lab_twin *twin, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];
	const struct kwhy_gpu_copy one = {to, from, bytes};
	enum kwhy_status status = lab_gate_make_room(&twin->gate, error);

	twin->tally.calls++;
	return status ? status : field->gpu->ops->copy(field->gpu, field->stream, &one, error);
}

static enum kwhy_status copy_in(
	struct lab_twin *twin, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error)
{
	twin->tally.h2d_copies++;
	twin->tally.h2d_bytes += bytes;
	return copy(twin, to, kwhy_gpu_address(from), bytes, error);
}

static enum kwhy_status copy_out(
	struct lab_twin *twin, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	twin->tally.d2h_copies++;
	twin->tally.d2h_bytes += bytes;
	return copy(twin, kwhy_gpu_address(to), from, bytes, error);
}

static enum kwhy_status copy_over(
	struct lab_twin *twin, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	twin->tally.d2d_copies++;
	twin->tally.d2d_bytes += bytes;
	return copy(twin, to, from, bytes, error);
}

enum kwhy_status lab_twin_wait(struct lab_twin *twin, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];
	enum kwhy_status status = lab_gate_release(&twin->gate, error);

	twin->tally.calls++;
	twin->tally.waits++;
	return status ? status : field->gpu->ops->synchronize(field->gpu, field->stream, error);
}

/* What agents send and see, piece by piece, into twin->batch; gives their number. */
static size_t list_in(struct lab_twin *twin, uint32_t step)
{
	size_t used = 0;

	lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	for (uint32_t a = 0; a < LAB_TWIN_AGENTS; a++)
		if (sends(step, a))
			twin->batch[used++] = (struct kwhy_gpu_copy){
				twin->fields[0].args.controls + a * sizeof(twin->mail->controls[0]),
				kwhy_gpu_address(twin->mail->controls[a]), sends(step, a) * sizeof(float)};
	return used;
}

static size_t list_out(struct lab_twin *twin, uint32_t step)
{
	uint32_t apart = twin->variant->scattered, count = observed(step);

	for (uint32_t q = 0; q < count; q++)
		twin->batch[q] = (struct kwhy_gpu_copy){kwhy_gpu_address(twin->mail->outbox + apart * q),
			twin->fields[0].args.outbox + (uint64_t)apart * q, is_wide(q) ? 8 : 4};
	return count;
}

static uint64_t bytes_of(const struct kwhy_gpu_copy *copies, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += copies[i].bytes;
	return bytes;
}

/* One by one, or by one call of the driver. */
static enum kwhy_status copy_list(struct lab_twin *twin, size_t count, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];
	enum kwhy_status status = KWHY_OK;

	if (twin->variant->batched) {
		twin->tally.calls++;
		twin->tally.batches++;
		return field->gpu->ops->copy_batch(field->gpu, field->stream, twin->batch, count, error);
	}
	for (size_t i = 0; !status && i < count; i++) {
		status = copy(twin, twin->batch[i].to, twin->batch[i].from, twin->batch[i].bytes, error);
		if (!status && twin->variant->waits_each)
			status = lab_twin_wait(twin, error);
	}
	return status;
}

enum kwhy_status lab_twin_send_pieces(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	size_t count = list_in(twin, step);

	twin->tally.h2d_copies += count;
	twin->tally.h2d_bytes += bytes_of(twin->batch, count);
	return copy_list(twin, count, error);
}

enum kwhy_status lab_twin_fetch_pieces(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	size_t count = list_out(twin, step);

	twin->tally.d2h_copies += count;
	twin->tally.d2h_bytes += bytes_of(twin->batch, count);
	return copy_list(twin, count, error);
}

enum kwhy_status lab_twin_send_packed(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	uint32_t count = lab_twin_agents_pack(&twin->agents, step, twin->mail->packed);
	enum kwhy_status status = copy_in(
		twin, twin->fields[0].args.inbox, twin->mail->packed, count * sizeof(float), error);

	return status ? status : lab_twin_launch(twin, &twin->fields[0], LAB_TWIN_SCATTER, step, error);
}

/* What the agents send is in the table already, where a graph copies it. */
enum kwhy_status lab_twin_send_table(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	if (twin->variant->host == LAB_TWIN_CALLS)
		lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	return copy_in(
		twin, twin->fields[0].args.inbox, twin->mail->controls, sizeof(twin->mail->controls), error);
}

/* Each is at least one call; how many a library makes of it is not known. */
static void count_collectives(struct lab_twin *twin, uint64_t count)
{
	twin->tally.collectives += count;
	twin->tally.calls += count;
}

static enum kwhy_status sum_up(struct lab_twin *twin, struct kwhy_error *error)
{
	uint64_t sums[LAB_TWIN_RANKS_MOST], peaks[LAB_TWIN_RANKS_MOST];
	enum kwhy_status status;

	for (uint32_t i = 0; i < twin->field_count; i++) {
		sums[i] = twin->fields[i].args.sums;
		peaks[i] = sums[i] + LAB_TWIN_AGENTS * sizeof(int64_t);
	}
	count_collectives(twin, 2);
	status = twin->group->ops->sum(twin->group, sums, LAB_TWIN_AGENTS, error);
	return status ? status : twin->group->ops->max(twin->group, peaks, 1, error);
}

static enum kwhy_status exchange(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	struct kwhy_collectives_edges edges[LAB_TWIN_RANKS_MOST];
	const size_t row = LAB_TWIN_WIDTH * sizeof(float);

	for (uint32_t i = 0; i < twin->field_count; i++) {
		const struct lab_twin_args *args = &twin->fields[i].args;
		size_t bytes = args->cells * sizeof(float);
		uint64_t t = args->t + (args->doubled && step % 2 ? bytes : 0);

		edges[i] = (struct kwhy_collectives_edges){
			t, t + bytes - row, twin->fields[i].rows, twin->fields[i].rows + row};
	}
	count_collectives(twin, 1);
	return twin->group->ops->exchange(twin->group, edges, LAB_TWIN_WIDTH, error);
}

static enum kwhy_status broadcast(struct lab_twin *twin, struct kwhy_error *error)
{
	uint64_t gains[LAB_TWIN_RANKS_MOST];

	for (uint32_t i = 0; i < twin->field_count; i++)
		gains[i] = twin->fields[i].args.gains;
	count_collectives(twin, 1);
	return twin->group->ops->broadcast(twin->group, gains, LAB_TWIN_AGENTS * LAB_TWIN_GAINS, error);
}

/* The first cells of the fields, to a step's slot. */
static enum kwhy_status keep(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	const struct lab_twin_args *args = &twin->fields[0].args;
	const uint64_t from[] = {args->t, args->u, args->w, args->f, args->v};
	const size_t bytes = LAB_TWIN_KEPT * sizeof(float);
	enum kwhy_status status = KWHY_OK;

	for (uint32_t k = 0; !status && k < 4u + keeps_v(step); k++)
		status = copy_over(twin,
			args->history + (step * LAB_TWIN_SLOT_FLOATS * sizeof(float)) + k * bytes, from[k],
			bytes, error);
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

/* Only the first field has what agents send; the others get its gains. */
static enum kwhy_status launch_all(struct lab_twin *twin, enum lab_twin_kernel kernel,
	enum lab_twin_kernel of_others, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < twin->field_count; i++) {
		const struct lab_twin_field *field = &twin->fields[i];

		if (twin->place_count > 1)
			status = field->gpu->ops->enter(field->gpu, error);
		NEXT(status, lab_twin_launch(twin, field, i ? of_others : kernel, step, error));
	}
	if (!status && twin->place_count > 1)
		status = twin->fields[0].gpu->ops->enter(twin->fields[0].gpu, error);
	return status;
}

static enum kwhy_status gather(struct lab_twin *twin, struct kwhy_error *error)
{
	uint64_t from[LAB_TWIN_RANKS_MOST], to[LAB_TWIN_RANKS_MOST];

	for (uint32_t i = 0; i < twin->field_count; i++) {
		from[i] = twin->fields[i].args.sums;
		to[i] = twin->fields[i].args.gathered;
	}
	count_collectives(twin, 1);
	return twin->group->ops->gather(twin->group, from, to, LAB_TWIN_AGENTS + 1, error);
}

enum kwhy_status lab_twin_compute_apart(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	bool reduces = step % lab_twin_reduces_every(twin->variant) == 0;
	enum kwhy_status status = launch_all(twin, LAB_TWIN_RECEIVE, LAB_TWIN_GAIN, step, error);

	NEXT(status, broadcast(twin, error));
	NEXT(status, exchange(twin, step, error));
	NEXT(status, launch_all(twin, LAB_TWIN_ADVANCE, LAB_TWIN_ADVANCE, step, error));
	NEXT(status, launch_all(twin, LAB_TWIN_TALLY, LAB_TWIN_TALLY, step, error));
	if (!status && reduces)
		status = gather(twin, error);
	if (status)
		return status;
	return reduces ? launch_all(twin, LAB_TWIN_COMBINE, LAB_TWIN_COMBINE, step, error)
		       : lab_twin_launch(twin, &twin->fields[0], LAB_TWIN_COMBINE, step, error);
}

/* A graph copies what the longest step has. */
enum kwhy_status lab_twin_fetch_packed(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	uint32_t last = observed(twin->variant->host == LAB_TWIN_GRAPHS ? 0 : step) - 1;

	return copy_out(twin, twin->mail->outbox, twin->fields[0].args.outbox,
		packed_at(last) + sizeof(float), error);
}

enum kwhy_status lab_twin_begin(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = launch_all(twin, LAB_TWIN_BEGIN_FIELD, LAB_TWIN_BEGIN_FIELD, 0, error);

	NEXT(status, launch_all(twin, LAB_TWIN_BEGIN_REST, LAB_TWIN_BEGIN_REST, 0, error));
	NEXT(status, launch_all(twin, LAB_TWIN_SUM, LAB_TWIN_SUM, 1, error));
	NEXT(status, sum_up(twin, error));
	return status ? status : exchange(twin, 0, error);
}

/* The check goes behind those of the steps and must say the same as the last of them. */
enum kwhy_status lab_twin_end(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; i < twin->field_count; i++)
		twin->fields[i].args.checks += LAB_TWIN_STEPS * sizeof(uint64_t) -
			(twin->shape.steps - 1) * sizeof(uint64_t);
	status = launch_all(twin, LAB_TWIN_GAIN, LAB_TWIN_GAIN, 0, error);
	NEXT(status, launch_all(twin, LAB_TWIN_SUM, LAB_TWIN_SUM, twin->shape.steps - 1, error));
	NEXT(status, launch_all(twin, LAB_TWIN_CHECK, LAB_TWIN_CHECK, twin->shape.steps - 1, error));
	for (uint32_t i = 0; i < twin->field_count; i++)
		twin->fields[i].args.checks -= LAB_TWIN_STEPS * sizeof(uint64_t) -
			(twin->shape.steps - 1) * sizeof(uint64_t);
	NEXT(status, sum_up(twin, error));
	return status ? status : broadcast(twin, error);
}
