/* SPDX-License-Identifier: Apache-2.0 */
#include "varied_ops.h"

#include "ok.h"

#include <stdio.h>

static struct kwhy_error error;

/*
 * Operators with the shapes of their inputs. If `before` is set, an input grows from round to round: its size
 * is put between `before` and `shape`.
 */
static const struct {
	const char *name, *shape, *before;
} operators[] = {
	{"aten::mm", "[[1024, 1024], [1024, 1024]];[\"float\", \"float\"];;", NULL},
	{"aten::mm", "[[256, 256], [256, 256]];[\"c10::BFloat16\", \"c10::BFloat16\"];;", NULL},
	{"aten::add", "[[1048576], [1048576], []];[\"float\", \"float\", \"Scalar\"];;", NULL},
	{"aten::sum", "[[4096, 4096]];[\"float\"];;", NULL},
	{"aten::cat", ", 64], [9, 8, 1, 64]], []];[\"TensorList\", \"Scalar\"];;", "[[[9, 8, "},
	{"aten::cat", "], [1]], []];;", "[[["},
	{"aten::cat", "]], [[8, 1]];;", "[[[0, 8, "},
	{"aten::cat", "], [2, 1, 8, 1, 1, 1, 1, 1, 1]];;", "[[[2, 1, 8, 1, 1, 1, 1, 1, "},
	{"aten::bmm", "[[16, 64, 64], [16, 64, 64]];[\"float\", \"float\"];;", NULL},
	{"aten::_softmax", "[[16, 64, 64], [], []];[\"float\", \"Scalar\", \"Scalar\"];;", NULL},
	{"aten::div_", "", NULL},
	{"aten::copy_", "[[1048576], [1048576], []];[\"float\", \"float\", \"Scalar\"];;", NULL},
};

static void operate(struct varied_program *program, const struct varied_op *op, size_t which)
{
	int64_t start_ns = program->host_ns[op->thread];
	struct varied_op one = *op;
	char shape[160];

	one.repeats = 1;
	varied_launch(program, &one);
	if (operators[which].before)
		snprintf(shape, sizeof(shape), "%s%u%s", operators[which].before,
			(unsigned)((op->choice % 2 ? 2 : 90) + program->round / (1 + op->choice % 3)),
			operators[which].shape);
	else
		snprintf(shape, sizeof(shape), "%s", operators[which].shape);
	varied_range(program, op->thread,
		(struct kwhy_host_range){.start_ns = start_ns,
			.end_ns = program->host_ns[op->thread],
			.name = varied_name(program->recording, operators[which].name),
			.shape = *shape ? varied_name(program->recording, shape) : 0,
			.kind = KWHY_HOST_OPERATOR});
}

void varied_operate(struct varied_program *program, const struct varied_op *op)
{
	for (uint32_t i = 0; i < op->repeats; i++)
		operate(program, op, op->name % 12);
}

/*
 * Unfused attention: two batched matrix products, and between them a softmax and up to nine elementwise
 * kernels.
 */
void varied_attend(struct varied_program *program, const struct varied_op *op)
{
	int64_t start_ns = program->host_ns[op->thread];

	operate(program, op, 8);
	for (uint32_t i = 0; i < (op->choice % 2 ? op->repeats : 0); i++)
		operate(program, op, 10);
	operate(program, op, 9);
	for (uint32_t i = 0; i < (op->choice % 3 ? 0 : op->repeats); i++)
		operate(program, op, 10);
	operate(program, op, 8);
	if (op->name % 2)
		varied_range(program, op->thread,
			(struct kwhy_host_range){.start_ns = start_ns,
				.end_ns = program->host_ns[op->thread],
				.name = varied_name(
					program->recording, "aten::_scaled_dot_product_attention_math"),
				.kind = KWHY_HOST_OPERATOR});
}

/* Appends one entry to a cache, in each round or in some of them only. */
void varied_append(struct varied_program *program, const struct varied_op *op)
{
	operate(program, op, 4 + op->name % 2);
}

/*
 * Short kernels with idle time between them, in which the host runs the modules of a model. Some are within a
 * range of the optimizer's step.
 */
void varied_step_model(struct varied_program *program, const struct varied_op *op)
{
	struct kwhy_range whole = {
		.start_ns = program->host_ns[op->thread], .thread = op->thread, .kind = KWHY_RANGE_USER};
	struct varied_op one = *op;

	one.repeats = 1;
	one.length_ns = 1000 * (1 + op->choice % 3);
	for (uint32_t i = 0; i < op->repeats; i++) {
		int64_t start_ns = program->host_ns[op->thread];

		program->host_ns[op->thread] += op->length_ns;
		varied_range(program, op->thread,
			(struct kwhy_host_range){.start_ns = start_ns,
				.end_ns = program->host_ns[op->thread],
				.name = varied_name(program->recording,
					op->choice % 4 ? "nn.Module: Linear_0" : "logging"),
				.kind = KWHY_HOST_PYTHON});
		varied_launch(program, &one);
	}
	whole.end_ns = program->host_ns[op->thread];
	whole.name = varied_name(program->recording, op->name % 2 ? "Optimizer.step#SGD.step" : "backward");
	OK(kwhy_recording_add_range(program->recording, &whole, &error));
}
