/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"
#include "model/gpu_generation.h"
#include "model/product_names.h"

#include <string.h>

/* Detectors of waste for which only kernel names are evidence; their findings say "may". */

enum sort_of_kernel {
	SORT_UNSEEN, /* not classified yet; 0, because the view's array name_sorts begins as zeros */
	SORT_OTHER,
	SORT_FP32,    /* matrix product on the FP32 units */
	SORT_TENSOR,  /* matrix product on tensor cores */
	SORT_DENSIFY, /* conversion of a sparse matrix to a dense one */
	SORT_LAYOUT   /* conversion of a tensor to another order of its elements, around convolutions */
};

/* Parts of the names that cuDNN and MIOpen give their conversions between NCHW and NHWC. */
static const char *const layouts[] = {
	"nchwToNhwc",
	"nhwcToNchw",
	"batched_transpose_",
	"transpose_NCHW2CNHW",
	"transpose_CNHW2NCHW",
};

/* Parts of the names that cuSPARSE and PyTorch give their conversions. */
static const char *const conversions[] = {
	"sparse_to_dense",
	"sparseToDense",
	"SparseToDense",
	"sparse2dense",
	"csr2dense",
	"csc2dense",
	"coo2dense",
	"csr_to_dense",
	"coo_to_dense",
};

static enum sort_of_kernel sort_by_name(const char *name)
{
	static const enum sort_of_kernel products[] = {[KWHY_PRODUCT_UNKNOWN] = SORT_OTHER,
		[KWHY_PRODUCT_FP32] = SORT_FP32,
		[KWHY_PRODUCT_TENSOR] = SORT_TENSOR};

	for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++)
		if (strstr(name, conversions[i]))
			return SORT_DENSIFY;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (strstr(name, layouts[i]))
			return SORT_LAYOUT;
	return products[kwhy_product_of(name)];
}

/* Sort of a kernel by its name. Each name is classified once, and the result is kept in view->name_sorts. */
static enum sort_of_kernel sort_of(const struct kwhy_detect_view *view, size_t row)
{
	uint32_t name = view->recording->activities.name[row];

	if (view->recording->activities.kind[row] != KWHY_ACTIVITY_KERNEL)
		return SORT_OTHER;
	if (view->name_sorts[name] == SORT_UNSEEN)
		view->name_sorts[name] = (uint8_t)sort_by_name(kwhy_names_get(&view->recording->names, name));
	return view->name_sorts[name];
}

bool kwhy_detect_is_tensor_kernel(const struct kwhy_detect_view *view, size_t row)
{
	return sort_of(view, row) == SORT_TENSOR;
}

static void add_kernel(struct kwhy_tally *tally, size_t row, double kept_ns)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[row], rows->end_ns[row]);

	kwhy_tally_mark(tally, row, kept_ns);
	occurrence.row = (uint32_t)row;
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

/*
 * Marks the matrix products on FP32 units, as kernels that would take 1 / KWHY_TENSOR_SPEEDUP of their time
 * with the cure. Returns the share that products on tensor cores have in the time of both sorts of products;
 * 0 if there are none on FP32 units.
 */
static double mark_fp32(struct kwhy_tally *tally)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	double fp32_ns = 0, tensor_ns = 0;

	for (size_t i = seen->begin; i < seen->end; i++) {
		double length_ns = (double)(rows->end_ns[i] - rows->start_ns[i]);
		enum sort_of_kernel sort = sort_of(view, i);

		if (sort == SORT_TENSOR)
			tensor_ns += length_ns;
		if (sort != SORT_FP32)
			continue;
		fp32_ns += length_ns;
		add_kernel(tally, i, length_ns / KWHY_TENSOR_SPEEDUP);
	}
	return fp32_ns > 0 ? tensor_ns / (fp32_ns + tensor_ns) : 0;
}

/*
 * Assumption and cure of the finding (NULL: the default cure), by the number formats of the device's tensor
 * cores.
 */
static const struct {
	const char *assumption, *cure;
} fp32_words[] = {
	[KWHY_TENSOR_UNKNOWN] =
		{"by their names alone: tensor cores, where the device has them, may do these "
		 "products in 1/8 of the time, where their precision is enough",
			NULL},
	[KWHY_TENSOR_FP16] = {"by their names alone: tensor cores, which take FP16 alone on this device, may "
			      "do these products in 1/8 of the time, where that precision is enough",
		"use FP16 with a scaled loss (autocast, GradScaler) where the result allows it; this device "
		"has neither TF32 nor BF16"},
	[KWHY_TENSOR_TF32] = {"by their names alone: tensor cores may do these products in 1/8 of the time, "
			      "where their precision is enough",
		NULL},
};

enum kwhy_status kwhy_detect_fp32_matmul(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	enum kwhy_tensor_cores cores = kwhy_gpu_generation_of(&context->recording->devices[context->device])
					       ->tensor_cores;
	struct kwhy_tally tally;
	double tensor_share;

	if (cores == KWHY_TENSOR_NONE)
		return KWHY_OK;
	kwhy_tally_init(&tally, context);
	tensor_share = mark_fp32(&tally);
	if (tensor_share > kwhy_tally_threshold(&tally, "max_tensor_share"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally,
		"FP32 matrix products: %s kernels whose names say FP32 units may use tensor cores",
		kwhy_quantity_count(count, tally.count));
	verdict.assumption = fp32_words[cores].assumption;
	verdict.cure = fp32_words[cores].cure;
	return kwhy_tally_finish(&tally, verdict);
}

bool kwhy_detect_is_product(const struct kwhy_detect_view *view, size_t row)
{
	enum sort_of_kernel sort = sort_of(view, row);

	return sort == SORT_FP32 || sort == SORT_TENSOR ||
		strstr(kwhy_names_get(&view->recording->names, view->recording->activities.name[row]),
			"gemm");
}

/*
 * Marks conversions from sparse to dense matrices, and each matrix product that is the first kernel after a
 * conversion in its stream; with the cure these take no time. In the state of a stream, `row` is its last
 * kernel if that is a conversion, else KWHY_NONE.
 */
static void mark_dense(struct kwhy_tally *tally)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_device_view *seen = &view->devices[tally->device];

	for (size_t i = seen->begin; i < seen->end; i++) {
		struct kwhy_stream_state *state = &view->streams[rows->stream[i]];
		bool converts = sort_of(view, i) == SORT_DENSIFY;

		if (rows->kind[i] != KWHY_ACTIVITY_KERNEL)
			continue;
		if (converts || (state->row != KWHY_NONE && kwhy_detect_is_product(view, i)))
			add_kernel(tally, i, 0);
		state->row = converts ? (uint32_t)i : KWHY_NONE;
	}
}

enum kwhy_status kwhy_detect_dense_on_sparse(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	kwhy_detect_view_reset_streams(context->view, context->device);
	mark_dense(&tally);
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally,
		"Dense work on sparse data: %s kernels make sparse matrices dense or multiply them then",
		kwhy_quantity_count(count, tally.count));
	verdict.assumption = "by their names alone: the work may be done on the sparse form; its density is "
			     "not in a trace, so all of it is the bound";
	return kwhy_tally_finish(&tally, verdict);
}

enum kwhy_status kwhy_detect_layout_transforms(const struct kwhy_detect_context *context)
{
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	for (size_t i = seen->begin; i < seen->end; i++)
		if (sort_of(context->view, i) == SORT_LAYOUT)
			add_kernel(&tally, i, 0);
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally,
		"Layout transforms: %s kernels change the layout of tensors for convolutions and back",
		kwhy_quantity_count(count, tally.count));
	verdict.assumption =
		"by their names: all tensors of these convolutions have that layout already, so the "
		"conversions vanish; other kernels keep their time";
	return kwhy_tally_finish(&tally, verdict);
}
