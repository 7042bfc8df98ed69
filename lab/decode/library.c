/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/library.h"

#include "vendor/cublaslt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORKSPACE_BYTES = 32 << 20, /* what the library asks for on the newest GPUs */
	CHOICES = 8,		    /* of the library's ways, the likeliest first */
	TRIALS = 4,		    /* of each, timed */
	OWN_MOST = 64,		    /* tokens up to which own kernels are faster, on an H200 */
	COUNTS = 5,		    /* of tokens that passes have in hand */
	WORD_COUNTS = 2,	    /* of slots */
	ROW_THREADS = 256
};

/* A product of so many tokens; of the vocabulary: of so many slots. */
struct plan {
	uint32_t matrix, tokens;
	bool has_short_x, is_raw;
	kwhy_cublaslt_product product;
	kwhy_cublaslt_layout weights, input, output;
	struct kwhy_cublaslt_choice choice;
};

struct kwhy_decode_library {
	struct kwhy_cublaslt lt;
	kwhy_cublaslt_handle handle;
	kwhy_cublaslt_wish wish;
	struct kwhy_gpu_event *start, *end;
	uint64_t memory;
	uint64_t weights, biases; /* act [layer_count][rows of a layer], its columns behind each other */
	uint64_t words;		  /* act [vocabulary][width] */
	uint64_t workspace;
	struct plan plans[COUNTS * KWHY_DECODE_MATRICES + WORD_COUNTS];
	uint32_t plan_count;
};

static enum kwhy_status check(const struct kwhy_decode_library *library, enum kwhy_cublas_result result,
	const char *what, struct kwhy_error *error)
{
	if (result == KWHY_CUBLAS_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_CUBLAS_EXECUTION_FAILED ? KWHY_E_LOST : KWHY_E_UNSUPPORTED,
		"cuBLASLt cannot %s: %s; CUBLASLT_LOG_LEVEL=5 says more", what,
		library->lt.cublasLtGetStatusString(result));
}

bool kwhy_decode_library_takes(const struct kwhy_decode *decode, uint32_t tokens, bool is_reading)
{
	if (!decode->library || (!is_reading && tokens <= KWHY_DECODE_FEW))
		return false;
	return decode->request.products == KWHY_DECODE_PRODUCTS_LIBRARY || tokens > OWN_MOST;
}

bool kwhy_decode_library_joins(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;

	return kwhy_decode_act_bytes(decode->request.weights) == 2 && shape->inner >= 3 * shape->width;
}

/* --- Products --- */

static bool is_sum(uint32_t matrix)
{
	return matrix == KWHY_DECODE_PROJECTION || matrix == KWHY_DECODE_NARROWING;
}

static enum kwhy_cublaslt_type act_type(const struct kwhy_decode *decode)
{
	enum kwhy_decode_weights weights = decode->request.weights;

	return weights <= KWHY_DECODE_TF32    ? KWHY_CUBLASLT_FLOAT32
		: weights == KWHY_DECODE_BF16 ? KWHY_CUBLASLT_BFLOAT16
					      : KWHY_CUBLASLT_FLOAT16;
}

static uint32_t rows_of(const struct kwhy_decode *decode, uint32_t matrix)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;

	return matrix == KWHY_DECODE_WORDS ? shape->vocabulary : kwhy_decode_rows(shape, matrix);
}

static uint64_t weights_of(const struct kwhy_decode *decode, uint32_t layer, uint32_t matrix)
{
	if (matrix == KWHY_DECODE_WORDS)
		return decode->library->words;
	return decode->library->weights +
		kwhy_decode_weights_before(decode->request.shape, layer, matrix) *
		kwhy_decode_act_bytes(decode->request.weights);
}

/* Biases are of the type of what comes out. */
static uint64_t biases_of(const struct kwhy_decode *decode, uint32_t layer, uint32_t matrix)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;
	uint64_t place = (uint64_t)layer * kwhy_decode_first_row(shape, KWHY_DECODE_MATRICES) +
		kwhy_decode_first_row(shape, matrix);

	return is_sum(matrix) && !decode->args.has_short_x
		? decode->args.biases + place * sizeof(float)
		: decode->library->biases + place * kwhy_decode_act_bytes(decode->request.weights);
}

/* Of x as it is they come later. */
static bool has_biases(const struct kwhy_decode *decode, uint32_t matrix)
{
	return matrix != KWHY_DECODE_WORDS && !(matrix == KWHY_DECODE_ATTENTION && decode->is_raw);
}

static enum kwhy_status take_biases(
	const struct kwhy_decode *decode, const struct plan *plan, uint32_t layer, struct kwhy_error *error)
{
	uint64_t biases = biases_of(decode, layer, plan->matrix);

	return check(decode->library,
		decode->library->lt.cublasLtMatmulDescSetAttribute(
			plan->product, KWHY_CUBLASLT_BIAS_POINTER, &biases, sizeof(biases)),
		"take biases", error);
}

/* To the library our matrices, which lie row by row, are transposed, and so is their product. */
static enum kwhy_status multiply(const struct kwhy_decode *decode, const struct plan *plan,
	const struct kwhy_cublaslt_choice *choice, uint32_t layer, struct kwhy_error *error)
{
	const struct kwhy_decode_library *library = decode->library;
	const struct kwhy_decode_args *args = &decode->args;
	const uint64_t inputs[] = {decode->is_raw ? args->x : args->normal, args->mixed, args->normal,
		args->inner, args->normal},
		       outputs[] = {args->inner, args->x, args->inner, args->x, decode->logits};
	void *output = kwhy_gpu_at(outputs[plan->matrix]),
	     *weights = kwhy_gpu_at(weights_of(decode, layer, plan->matrix));
	const float one = 1, old = is_sum(plan->matrix) ? 1 : 0;
	enum kwhy_status status = has_biases(decode, plan->matrix) ? take_biases(decode, plan, layer, error)
								   : KWHY_OK;

	if (status)
		return status;
	return check(library,
		library->lt.cublasLtMatmul(library->handle, plan->product, &one, weights, plan->weights,
			kwhy_gpu_at(inputs[plan->matrix]), plan->input, &old, output, plan->output, output,
			plan->output, &choice->algorithm, kwhy_gpu_at(library->workspace), WORKSPACE_BYTES,
			(kwhy_cublas_stream)(void *)decode->stream),
		"multiply", error);
}

static bool fits(const struct plan *plan, const struct kwhy_decode *decode, uint32_t matrix, uint32_t tokens)
{
	return plan->matrix == matrix && plan->tokens == tokens &&
		plan->has_short_x == decode->args.has_short_x && plan->is_raw == decode->is_raw;
}

void kwhy_decode_issue_library(struct kwhy_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	const struct kwhy_decode *decode = issue->decode;
	const struct kwhy_decode_library *library = decode->library;
	uint32_t tokens = matrix == KWHY_DECODE_WORDS ? decode->args.slots : decode->args.tokens;

	for (uint32_t i = 0; !issue->status && i < library->plan_count; i++) {
		const struct plan *plan = &library->plans[i];

		if (!fits(plan, decode, matrix, tokens))
			continue;
		issue->status = multiply(decode, plan, &plan->choice, layer, issue->error);
		issue->decode->kernel_count++;
		return;
	}
	if (!issue->status)
		issue->status = kwhy_fail(issue->error, KWHY_E_UNSUPPORTED,
			"decode has no plan for products of %u tokens; let own kernels make them", tokens);
}

/* --- Plans --- */

static enum kwhy_status describe(struct kwhy_decode *decode, struct plan *plan, struct kwhy_error *error)
{
	const struct kwhy_cublaslt *lt = &decode->library->lt;
	const struct kwhy_decode_shape *shape = decode->request.shape;
	uint64_t rows = rows_of(decode, plan->matrix), columns = kwhy_decode_columns(shape, plan->matrix),
		 biases = biases_of(decode, 0, plan->matrix);
	bool is_words = plan->matrix == KWHY_DECODE_WORDS;
	int32_t transposed = KWHY_CUBLAS_TRANSPOSED,
		epilogue = plan->matrix == KWHY_DECODE_WIDENING ? KWHY_CUBLASLT_RELU_BIAS
								: KWHY_CUBLASLT_BIAS;
	enum kwhy_cublas_compute compute = decode->request.weights == KWHY_DECODE_TF32
		? KWHY_CUBLAS_COMPUTE_FAST_TF32
		: KWHY_CUBLAS_COMPUTE_FP32;
	enum kwhy_cublaslt_type type = act_type(decode);
	enum kwhy_cublas_result result = lt->cublasLtMatmulDescCreate(
		&plan->product, compute, KWHY_CUBLASLT_FLOAT32);

	if (!result)
		result = lt->cublasLtMatmulDescSetAttribute(
			plan->product, KWHY_CUBLASLT_TRANSPOSE_A, &transposed, sizeof(transposed));
	if (!result && has_biases(decode, plan->matrix))
		result = lt->cublasLtMatmulDescSetAttribute(
			plan->product, KWHY_CUBLASLT_EPILOGUE, &epilogue, sizeof(epilogue));
	if (!result && has_biases(decode, plan->matrix))
		result = lt->cublasLtMatmulDescSetAttribute(
			plan->product, KWHY_CUBLASLT_BIAS_POINTER, &biases, sizeof(biases));
	if (!result)
		result = lt->cublasLtMatrixLayoutCreate(
			&plan->weights, type, columns, rows, (int64_t)columns);
	if (!result)
		result = lt->cublasLtMatrixLayoutCreate(
			&plan->input, type, columns, plan->tokens, (int64_t)columns);
	if (!result)
		result = lt->cublasLtMatrixLayoutCreate(&plan->output,
			is_words || (is_sum(plan->matrix) && !decode->args.has_short_x)
				? KWHY_CUBLASLT_FLOAT32
				: type,
			rows, plan->tokens, (int64_t)rows);
	return check(decode->library, result, "describe a product", error);
}

/* One that is not timed, then TRIALS of them, of different layers. */
static enum kwhy_status try_choice(struct kwhy_decode *decode, const struct plan *plan,
	const struct kwhy_cublaslt_choice *choice, double *out_ns, struct kwhy_error *error)
{
	const struct kwhy_decode_library *library = decode->library;
	struct kwhy_gpu *gpu = decode->gpu;
	enum kwhy_status status = multiply(decode, plan, choice, 0, error);

	if (!status)
		status = gpu->ops->event_record(gpu, library->start, decode->stream, error);
	for (uint32_t i = 0; !status && i < TRIALS; i++)
		status = multiply(decode, plan, choice, i % decode->args.layer_count, error);
	if (!status)
		status = gpu->ops->event_record(gpu, library->end, decode->stream, error);
	if (!status)
		status = gpu->ops->event_synchronize(gpu, library->end, error);
	return status ? status : gpu->ops->event_elapsed_ns(gpu, library->start, library->end, out_ns, error);
}

static enum kwhy_status choose(struct kwhy_decode *decode, struct plan *plan, struct kwhy_error *error)
{
	struct kwhy_decode_library *library = decode->library;
	struct kwhy_cublaslt_choice choices[CHOICES];
	double least_ns = INFINITY, ns;
	int count = 0;
	enum kwhy_status status = check(library,
		library->lt.cublasLtMatmulAlgoGetHeuristic(library->handle, plan->product, plan->weights,
			plan->input, plan->output, plan->output, library->wish, CHOICES, choices, &count),
		"find a way to multiply", error);

	for (int i = 0; !status && i < count; i++) {
		if (choices[i].state || choices[i].workspace_bytes > WORKSPACE_BYTES)
			continue;
		status = try_choice(decode, plan, &choices[i], &ns, error);
		if (!status && ns < least_ns) {
			least_ns = ns;
			plan->choice = choices[i];
		}
	}
	if (!status && least_ns == INFINITY)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "cuBLASLt has no way to multiply %s",
			kwhy_decode_weights_name(decode->request.weights));
	return status;
}

static enum kwhy_status add_plan(
	struct kwhy_decode *decode, uint32_t matrix, uint32_t tokens, struct kwhy_error *error)
{
	struct plan *plan = &decode->library->plans[decode->library->plan_count++];
	enum kwhy_status status;

	plan->matrix = matrix;
	plan->has_short_x = decode->args.has_short_x;
	plan->is_raw = decode->is_raw;
	plan->tokens = tokens;
	status = describe(decode, plan, error);
	return status ? status : choose(decode, plan, error);
}

static enum kwhy_status plan_tokens(
	struct kwhy_decode *decode, uint32_t tokens, bool is_reading, struct kwhy_error *error)
{
	struct kwhy_decode_library *library = decode->library;
	enum kwhy_status status = KWHY_OK;

	if (!kwhy_decode_library_takes(decode, tokens, is_reading))
		return KWHY_OK;
	decode->is_raw = !is_reading && kwhy_decode_library_joins(decode) && kwhy_decode_has_sums(decode);
	decode->args.has_short_x = decode->is_raw || (is_reading && kwhy_decode_library_joins(decode));
	for (uint32_t i = 0; i < library->plan_count; i++)
		if (fits(&library->plans[i], decode, 0, tokens))
			return KWHY_OK;
	for (uint32_t m = 0; !status && m < KWHY_DECODE_MATRICES; m++)
		status = add_plan(decode, m, tokens, error);
	return status;
}

static enum kwhy_status plan_words(struct kwhy_decode *decode, uint32_t slots, struct kwhy_error *error)
{
	const struct kwhy_decode_library *library = decode->library;

	decode->is_raw = false;
	decode->args.has_short_x = false;
	for (uint32_t i = 0; i < library->plan_count; i++)
		if (fits(&library->plans[i], decode, KWHY_DECODE_WORDS, slots))
			return KWHY_OK;
	return kwhy_decode_library_takes(decode, slots, false)
		? add_plan(decode, KWHY_DECODE_WORDS, slots, error)
		: KWHY_OK;
}

/* For all passes that there will be. */
static enum kwhy_status plan_all(struct kwhy_decode *decode, struct kwhy_error *error)
{
	const struct kwhy_decode_request *request = &decode->request;
	enum kwhy_status status = plan_tokens(decode, decode->args.sequences * request->prompt, true, error);

	if (!status)
		status = plan_tokens(decode, request->slots * KWHY_DECODE_CHECK_PROMPT, true, error);
	if (!status)
		status = plan_tokens(decode, decode->args.sequences * KWHY_DECODE_CHECK_PROMPT, true, error);
	if (!status)
		status = plan_tokens(decode, request->prompt, true, error);
	if (!status)
		status = plan_tokens(decode, request->slots, false, error);
	if (!status)
		status = plan_words(decode, request->slots, error);
	if (!status)
		status = plan_words(decode, decode->args.sequences, error);
	decode->is_raw = false;
	decode->args.has_short_x = false;
	return status;
}

/* --- Opening --- */

static enum kwhy_status copy_matrix(
	struct kwhy_decode *decode, uint32_t layer, uint32_t matrix, struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;
	uint64_t before = kwhy_decode_weights_before(shape, layer, matrix),
		 from = decode->args.layers + kwhy_decode_weight_bytes(decode->request.weights, before),
		 place = (uint64_t)layer * kwhy_decode_first_row(shape, KWHY_DECODE_MATRICES) +
		kwhy_decode_first_row(shape, matrix),
		 scales = decode->args.scales + place * sizeof(float),
		 to = decode->library->weights + before * kwhy_decode_act_bytes(decode->request.weights);
	uint32_t rows = kwhy_decode_rows(shape, matrix), columns = kwhy_decode_columns(shape, matrix),
		 kind = (uint32_t)decode->request.weights;
	void *arguments[] = {&from, &scales, &to, &rows, &columns, &kind};
	const struct kwhy_gpu_launch call = {.kernel = decode->kernels[KWHY_DECODE_PLAIN],
		.blocks = (rows + 7) / 8,
		.threads_per_block = ROW_THREADS,
		.arguments = arguments,
		.stream = decode->stream};

	return decode->gpu->ops->launch(decode->gpu, &call, error);
}

static enum kwhy_status copy_words(struct kwhy_decode *decode, struct kwhy_error *error)
{
	uint32_t rows = decode->request.shape->vocabulary, columns = decode->request.shape->width,
		 kind = (uint32_t)decode->request.weights;
	void *arguments[] = {&decode->args.words, &decode->args.word_scales, &decode->library->words, &rows,
		&columns, &kind};
	const struct kwhy_gpu_launch call = {.kernel = decode->kernels[KWHY_DECODE_PLAIN],
		.blocks = (rows + 7) / 8,
		.threads_per_block = ROW_THREADS,
		.arguments = arguments,
		.stream = decode->stream};

	return decode->gpu->ops->launch(decode->gpu, &call, error);
}

static enum kwhy_status copy_biases(struct kwhy_decode *decode, struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;
	uint32_t count = kwhy_decode_first_row(shape, KWHY_DECODE_MATRICES) * shape->layers,
		 kind = (uint32_t)decode->request.weights;
	void *arguments[] = {&decode->args.biases, &decode->library->biases, &count, &kind};
	const struct kwhy_gpu_launch call = {.kernel = decode->kernels[KWHY_DECODE_PLAIN_FLOATS],
		.blocks = 64,
		.threads_per_block = ROW_THREADS,
		.arguments = arguments,
		.stream = decode->stream};

	return decode->gpu->ops->launch(decode->gpu, &call, error);
}

static enum kwhy_status copy_weights(struct kwhy_decode *decode, struct kwhy_error *error)
{
	struct kwhy_decode_library *library = decode->library;
	const struct kwhy_decode_shape *shape = decode->request.shape;
	uint64_t act = kwhy_decode_act_bytes(decode->request.weights),
		 weights = kwhy_decode_weights_before(shape, shape->layers, 0) * act,
		 biases = (uint64_t)kwhy_decode_first_row(shape, KWHY_DECODE_MATRICES) * shape->layers * act,
		 words = (uint64_t)shape->vocabulary * shape->width * act;
	enum kwhy_status status;

	biases = (biases + 255) / 256 * 256;
	words = (words + 255) / 256 * 256;
	status = decode->gpu->ops->memory_new(
		decode->gpu, weights + biases + words + WORKSPACE_BYTES, &library->memory, error);
	library->weights = library->memory;
	library->biases = library->weights + weights;
	library->words = library->biases + biases;
	library->workspace = library->words + words;
	for (uint32_t layer = 0; !status && layer < shape->layers; layer++)
		for (uint32_t m = 0; !status && m < KWHY_DECODE_MATRICES; m++)
			status = copy_matrix(decode, layer, m, error);
	if (!status)
		status = copy_words(decode, error);
	return status ? status : copy_biases(decode, error);
}

static enum kwhy_status prepare(struct kwhy_decode *decode, struct kwhy_error *error)
{
	struct kwhy_decode_library *library = decode->library;
	struct kwhy_gpu *gpu = decode->gpu;
	uint64_t bytes = WORKSPACE_BYTES;
	size_t version;
	enum kwhy_status status = kwhy_cublaslt_open(&library->lt, error);

	if (status)
		return status;
	version = library->lt.cublasLtGetVersion();
	snprintf(decode->products, sizeof(decode->products), "cuBLASLt %zu.%zu.%zu", version / 10000,
		version / 100 % 100, version % 100);
	status = check(library, library->lt.cublasLtCreate(&library->handle), "begin", error);
	if (!status)
		status = check(
			library, library->lt.cublasLtMatmulPreferenceCreate(&library->wish), "begin", error);
	if (!status)
		status = check(library,
			library->lt.cublasLtMatmulPreferenceSetAttribute(
				library->wish, KWHY_CUBLASLT_WORKSPACE_MOST, &bytes, sizeof(bytes)),
			"take a workspace", error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &library->start, error);
	if (!status)
		status = gpu->ops->event_new(gpu, true, &library->end, error);
	if (!status)
		status = copy_weights(decode, error);
	return status ? status : plan_all(decode, error);
}

static bool is_wanted(const struct kwhy_decode_request *request)
{
	return request->products == KWHY_DECODE_PRODUCTS_LIBRARY ||
		(request->products == KWHY_DECODE_PRODUCTS_BEST && request->weights != KWHY_DECODE_FP32 &&
			request->slots * request->prompt > OWN_MOST);
}

static enum kwhy_status open_wanted(struct kwhy_decode *decode, struct kwhy_error *error)
{
	if (strcmp(decode->gpu->ops->name, "cuda") != 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "cuBLASLt works on CUDA alone");
	decode->library = calloc(1, sizeof(*decode->library));
	return decode->library ? prepare(decode, error) : kwhy_fail_memory(error, "a library's plans");
}

enum kwhy_status kwhy_decode_library_open(struct kwhy_decode *decode, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!is_wanted(&decode->request))
		return KWHY_OK;
	status = open_wanted(decode, error);
	if (status != KWHY_E_UNSUPPORTED || decode->request.products == KWHY_DECODE_PRODUCTS_LIBRARY)
		return status;
	kwhy_decode_library_close(decode);
	snprintf(decode->products, sizeof(decode->products), "own kernels: %.200s", error->text);
	return KWHY_OK;
}

static void free_plan(const struct kwhy_cublaslt *lt, const struct plan *plan)
{
	if (plan->product)
		(void)lt->cublasLtMatmulDescDestroy(plan->product);
	if (plan->weights)
		(void)lt->cublasLtMatrixLayoutDestroy(plan->weights);
	if (plan->input)
		(void)lt->cublasLtMatrixLayoutDestroy(plan->input);
	if (plan->output)
		(void)lt->cublasLtMatrixLayoutDestroy(plan->output);
}

void kwhy_decode_library_close(struct kwhy_decode *decode)
{
	struct kwhy_decode_library *library = decode->library;
	struct kwhy_gpu *gpu = decode->gpu;

	if (!library)
		return;
	for (uint32_t i = 0; i < library->plan_count; i++)
		free_plan(&library->lt, &library->plans[i]);
	if (library->wish)
		(void)library->lt.cublasLtMatmulPreferenceDestroy(library->wish);
	if (library->handle)
		(void)library->lt.cublasLtDestroy(library->handle);
	gpu->ops->event_free(gpu, library->start);
	gpu->ops->event_free(gpu, library->end);
	gpu->ops->memory_free(gpu, library->memory);
	kwhy_cublaslt_close(&library->lt);
	free(library);
	decode->library = NULL;
}
