/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "base/text.h"
#include "detect/families.h"
#include "detect/tally.h"
#include "model/host_time.h"

#include <string.h>

/* Detector of attention that PyTorch's operators compute in several kernels. */

/* Which part of unfused attention an operator computes. */
enum part {
	PART_OTHER,
	PART_PRODUCT, /* batched matrix product */
	PART_SOFTMAX, /* softmax or its backward pass */
	PART_EACH     /* elementwise operator, such as scaling, masking, dropout, conversion or copy */
};

enum {
	/*
	 * Largest number of elementwise kernels between a product and the softmax, and between the softmax
	 * and the next product; kernels with more between them are not taken for attention. Chosen, not
	 * measured.
	 */
	EACH_MAX = 8,
	SOFTMAX_SEEN = 1
		<< 16 /* bit in `length` of a stream's state: a softmax has run since the last product */
};

/* Names of operators, without "aten::" before and without the "_" of in-place variants after them. */
static const struct {
	const char *name;
	enum part part;
} parts[] = {
	{"bmm", PART_PRODUCT},
	{"baddbmm", PART_PRODUCT},
	{"softmax", PART_SOFTMAX},
	{"_softmax", PART_SOFTMAX},
	{"_softmax_backward_data", PART_SOFTMAX},
	{"_masked_softmax", PART_SOFTMAX},
	{"add", PART_EACH},
	{"bernoulli", PART_EACH},
	{"bitwise_not", PART_EACH},
	{"clone", PART_EACH},
	{"copy", PART_EACH},
	{"div", PART_EACH},
	{"dropout", PART_EACH},
	{"fill", PART_EACH},
	{"_fused_dropout", PART_EACH},
	{"masked_fill", PART_EACH},
	{"_masked_scale", PART_EACH},
	{"mul", PART_EACH},
	{"native_dropout", PART_EACH},
	{"native_dropout_backward", PART_EACH},
	{"rsub", PART_EACH},
	{"sub", PART_EACH},
	{"_to_copy", PART_EACH},
	{"tril", PART_EACH},
	{"triu", PART_EACH},
	{"where", PART_EACH},
	{"zero", PART_EACH},
};

/*
 * The innermost recorded operator around the launch of a kernel; KWHY_NONE: there is none, or the row is no
 * kernel.
 */
static uint32_t operator_of(const struct kwhy_detect_view *view, size_t row)
{
	const struct kwhy_host_ranges *ranges = &view->recording->host_ranges;
	uint32_t range;

	if (view->recording->activities.kind[row] != KWHY_ACTIVITY_KERNEL)
		return KWHY_NONE;
	range = view->range_of_launch[row];
	while (range != KWHY_NONE && ranges->kind[range] != KWHY_HOST_OPERATOR)
		range = ranges->parent[range];
	return range;
}

static const char *name_of(const struct kwhy_recording *recording, uint32_t range)
{
	return kwhy_names_get(&recording->names, recording->host_ranges.name[range]);
}

static enum part part_of(const struct kwhy_recording *recording, uint32_t range)
{
	const char *name = range == KWHY_NONE ? "" : name_of(recording, range);
	size_t length;

	if (strncmp(name, "aten::", 6) != 0)
		return PART_OTHER;
	name += 6;
	length = strlen(name);
	length -= length > 1 && name[length - 1] == '_';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strlen(parts[i].name) == length && !strncmp(parts[i].name, name, length))
			return parts[i].part;
	return PART_OTHER;
}

/*
 * Marks the kernels of a stream from the product in row `first` to the next product, in row `last`. With the
 * cure, the two products take as long as before, and the kernels between them no time.
 */
static void mark_attention(struct kwhy_tally *tally, size_t first, size_t last)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[first], rows->end_ns[last]);

	for (size_t i = first; i <= last; i++)
		if (rows->stream[i] == rows->stream[first] && rows->kind[i] == KWHY_ACTIVITY_KERNEL)
			kwhy_tally_mark(tally, i,
				i == first || i == last ? (double)(rows->end_ns[i] - rows->start_ns[i]) : 0);
	occurrence.row = (uint32_t)first;
	occurrence.row_after = (uint32_t)last;
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

/*
 * Processes one kernel. In the state of its stream, `row` is the last product (KWHY_NONE: none, or what
 * followed cannot be attention), and `length` is the number of elementwise kernels since that product or
 * since the softmax after it, plus SOFTMAX_SEEN once a softmax has run.
 */
static void follow(struct kwhy_tally *tally, struct kwhy_stream_state *state, size_t row, enum part part)
{
	switch (part) {
	case PART_PRODUCT:
		if (state->row != KWHY_NONE && state->length & SOFTMAX_SEEN)
			mark_attention(tally, state->row, row);
		*state = (struct kwhy_stream_state){(uint32_t)row, 0};
		return;
	case PART_SOFTMAX:
		if (state->length & SOFTMAX_SEEN)
			state->row = KWHY_NONE;
		state->length = SOFTMAX_SEEN;
		return;
	case PART_EACH:
		if ((++state->length & ~(unsigned)SOFTMAX_SEEN) > EACH_MAX)
			state->row = KWHY_NONE;
		return;
	default:
		state->row = KWHY_NONE;
	}
}

/*
 * Whether an operator ran inside the mathematical form of scaled_dot_product_attention, to which PyTorch
 * falls back if no fused kernel takes the inputs.
 */
static bool is_math_backend(const struct kwhy_recording *recording, uint32_t range)
{
	for (; range != KWHY_NONE; range = recording->host_ranges.parent[range])
		if (strstr(name_of(recording, range), "_scaled_dot_product_attention_math"))
			return true;
	return false;
}

/*
 * Processes the kernels of the device in all streams. Returns whether all attention that was found (or none)
 * ran in the mathematical form of scaled_dot_product_attention.
 */
static bool find_attention(struct kwhy_tally *tally)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	bool is_math = true;

	for (size_t i = seen->begin; i < seen->end; i++) {
		struct kwhy_stream_state *state = &view->streams[view->recording->activities.stream[i]];
		const uint64_t before = tally->count;
		uint32_t range;

		if (view->recording->activities.kind[i] != KWHY_ACTIVITY_KERNEL)
			continue;
		range = operator_of(view, i);
		follow(tally, state, i, part_of(view->recording, range));
		if (tally->count > before)
			is_math = is_math && is_math_backend(view->recording, range);
	}
	return is_math;
}

enum kwhy_status kwhy_detect_unfused_attention(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms terms = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	if (!context->recording->host_ranges.count)
		return KWHY_OK;
	kwhy_tally_init(&tally, context);
	kwhy_detect_view_reset_streams(context->view, context->device);
	if (find_attention(&tally))
		terms.cure =
			"let scaled_dot_product_attention choose a fused kernel: FP16 or BF16, a head size "
			"and a mask that it takes; here it fell back to its mathematical form";
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	terms.title = kwhy_tally_words(&tally,
		"Unfused attention: %s a softmax ran in kernels of its own between two batched products",
		kwhy_quantity_times(count, tally.count));
	terms.assumption = "one kernel computes both products and all between them: what runs between them "
			   "vanishes; the products keep their time, although they write and read less then";
	return kwhy_tally_finish(&tally, terms);
}
