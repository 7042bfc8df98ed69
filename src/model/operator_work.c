/* SPDX-License-Identifier: Apache-2.0 */
#include "model/operator_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 16, DIMS_MAX = 8 };

/* One argument of an operator. */
struct input {
	double sizes[DIMS_MAX];
	int dims;	 /* number of sizes; 0: the argument is a number, an option or an absent tensor */
	double elements; /* product of the sizes; 0 if there are no sizes */
	double element_bytes; /* bytes of one element; 0: unknown, or the argument is no tensor */
	enum kwhy_precision precision;
	const char *concrete; /* start of the argument's value in the trace's text; a '"' ends it. NULL: not
				 in the trace */
};

struct call {
	struct input inputs[INPUTS_MAX];
	int count;
};

/*
 * Names of element types in PyTorch's traces. The precision matters only for matrix products, convolutions
 * and attention; integer types have FP32, which is never used, since these three kinds of operators do not
 * run on integers.
 */
static const struct {
	const char *name;
	double bytes;
	enum kwhy_precision precision;
} types[] = {
	{"float", 4, KWHY_PRECISION_FP32},
	{"double", 8, KWHY_PRECISION_FP64},
	{"c10::Half", 2, KWHY_PRECISION_FP16},
	{"c10::BFloat16", 2, KWHY_PRECISION_BF16},
	{"c10::Float8_e4m3fn", 1, KWHY_PRECISION_FP8},
	{"c10::Float8_e5m2", 1, KWHY_PRECISION_FP8},
	{"long int", 8, KWHY_PRECISION_FP32},
	{"long", 8, KWHY_PRECISION_FP32},
	{"int", 4, KWHY_PRECISION_FP32},
	{"short", 2, KWHY_PRECISION_FP32},
	{"signed char", 1, KWHY_PRECISION_FP32},
	{"unsigned char", 1, KWHY_PRECISION_FP32},
	{"bool", 1, KWHY_PRECISION_FP32},
};

enum sort {
	SORT_PRODUCT,  /* matrix product; at[0] and at[1] are the factors, each [..., rows, columns] */
	SORT_CONVOLVE, /* convolution; at[0] is the input, at[1] the weight; at[2], at[3] and at[4] are
			  stride, padding and dilation */
	SORT_BACKWARD, /* backward pass of a convolution; at[0] is the gradient of the output, at[1] the
			  input, at[2] the weight; at[3] says which gradients are wanted, at[4] whether the
			  convolution is transposed */
	SORT_ATTEND,   /* attention; at[0] to at[2] are query, key and value, each [batch, tokens, heads,
			  width]; at[3] says whether it is causal */
	SORT_EACH,     /* reads all inputs and writes as many elements as the largest input has; `each` lists
			  these operators */
	SORT_WRITE,    /* writes its first input */
	SORT_COPY,     /* reads its second input and writes its first */
	SORT_READ      /* reads its first input and writes little */
};

enum { ARGUMENTS = 5, NO_ARGUMENT = -1 };

struct rule {
	const char *name; /* name without "aten::"; the operator's name may have a "_" at its end */
	enum sort sort;
	int at[ARGUMENTS]; /* indexes of arguments of the operator; enum sort says what each of them means.
			      NO_ARGUMENT: there is none */
};

/* Indexes are those of the arguments in PyTorch's native_functions.yaml (2.11). */
static const struct rule rules[] = {
	{"mm", SORT_PRODUCT, {0, 1}},
	{"bmm", SORT_PRODUCT, {0, 1}},
	{"addmm", SORT_PRODUCT, {1, 2}},
	{"baddbmm", SORT_PRODUCT, {1, 2}},
	{"_addmm_activation", SORT_PRODUCT, {1, 2}},
	{"_scaled_mm", SORT_PRODUCT, {0, 1}},
	{"cudnn_convolution", SORT_CONVOLVE, {0, 1, 3, 2, 4}},
	{"miopen_convolution", SORT_CONVOLVE, {0, 1, 4, 3, 5}},
	{"cudnn_convolution_relu", SORT_CONVOLVE, {0, 1, 3, 4, 5}},
	{"_conv_depthwise2d", SORT_CONVOLVE, {0, 1, 4, 5, 6}},
	{"convolution_backward", SORT_BACKWARD, {0, 1, 2, 10, 7}},
	{"cudnn_convolution_backward", SORT_BACKWARD, {1, 0, 2, NO_ARGUMENT, NO_ARGUMENT}},
	{"miopen_convolution_backward", SORT_BACKWARD, {1, 0, 2, NO_ARGUMENT, NO_ARGUMENT}},
	{"_flash_attention_forward", SORT_ATTEND, {0, 1, 2, 8}},
	{"_efficient_attention_forward", SORT_ATTEND, {0, 1, 2, NO_ARGUMENT}},
	{"copy", SORT_COPY, {0}},
	{"fill", SORT_WRITE, {0}},
	{"zero", SORT_WRITE, {0}},
	{"sum", SORT_READ, {0}},
	{"mean", SORT_READ, {0}},
	{"amax", SORT_READ, {0}},
	{"norm", SORT_READ, {0}},
	{"linalg_vector_norm", SORT_READ, {0}},
	{"max_pool2d_with_indices", SORT_READ, {0}},
	{"_adaptive_avg_pool2d", SORT_READ, {0}},
};

static const char *const each[] = {"add", "sub", "rsub", "mul", "div", "neg", "exp", "log", "pow", "sin",
	"cos", "sqrt", "rsqrt", "addcmul", "addcdiv", "clamp", "clamp_min", "clamp_max", "where",
	"masked_fill", "relu", "leaky_relu", "hardtanh", "threshold_backward", "gelu", "gelu_backward",
	"silu", "silu_backward", "sigmoid", "sigmoid_backward", "tanh", "tanh_backward", "native_dropout",
	"_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data",
	"native_layer_norm", "native_layer_norm_backward", "native_batch_norm", "native_batch_norm_backward",
	"cudnn_batch_norm", "cudnn_batch_norm_backward", "miopen_batch_norm", "miopen_batch_norm_backward"};

static const struct rule rule_of_each = {.sort = SORT_EACH};

/*
 * Whether `name` is `plain`, or `plain` followed by "_", which marks operators that write their result to
 * their first input.
 */
static bool is_named(const char *name, const char *plain)
{
	size_t length = strlen(plain);

	return strncmp(name, plain, length) == 0 && (!name[length] || strcmp(name + length, "_") == 0);
}

static const struct rule *rule_of(const char *name)
{
	static const char space[] = "aten::";

	if (strncmp(name, space, sizeof(space) - 1) != 0)
		return NULL;
	name += sizeof(space) - 1;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (is_named(name, rules[i].name))
			return &rules[i];
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		if (is_named(name, each[i]))
			return &rule_of_each;
	return NULL;
}

bool kwhy_operator_is_known(const char *name)
{
	return rule_of(name) != NULL;
}

/*
 * Reads the sizes of one input, from its '[' to its ']', and leaves *at on the ']'. False: the input has a
 * '[' within, as a list of tensors has, or more than DIMS_MAX sizes, or no ']'.
 */
static bool read_sizes(const char **at, struct input *input)
{
	char *end;

	input->elements = 1;
	for ((*at)++; **at && **at != ']'; (*at)++) {
		if (**at == '[')
			return false;
		if (**at < '0' || **at > '9')
			continue;
		if (input->dims == DIMS_MAX)
			return false;
		input->sizes[input->dims] = (double)strtoull(*at, &end, 10);
		input->elements *= input->sizes[input->dims++];
		*at = end - 1;
	}
	input->elements = input->dims ? input->elements : 0;
	return **at == ']';
}

/* Reads the sizes of all inputs, such as "[[32, 3, 224, 224], [], [64]]", up to the ';' after them. */
static bool read_dims(const char *part, struct call *call)
{
	if (*part != '[')
		return false;
	for (const char *at = part + 1; *at && *at != ';'; at++) {
		if (*at != '[')
			continue;
		if (call->count == INPUTS_MAX)
			return true; /* no rule uses a later input */
		if (!read_sizes(&at, &call->inputs[call->count++]))
			return false;
	}
	return true;
}

/* Calls `use` for each string of a list such as ["float", ""], up to the ';' that ends the part. */
static void each_text(const char *part, struct call *call,
	void (*use)(struct input *input, const char *text, size_t length))
{
	int index = 0;

	for (const char *at = part; *at && *at != ';' && index < call->count; at++) {
		const char *end;

		if (*at != '"')
			continue;
		end = at + 1 + strcspn(at + 1, "\";");
		use(&call->inputs[index++], at + 1, (size_t)(end - at - 1));
		if (*end != '"')
			return;
		at = end;
	}
}

static void use_type(struct input *input, const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == length && strncmp(types[i].name, text, length) == 0) {
			input->element_bytes = types[i].bytes;
			input->precision = types[i].precision;
		}
}

static void use_concrete(struct input *input, const char *text, size_t length)
{
	input->concrete = length ? text : NULL;
}

static const char *next_part(const char *part)
{
	const char *end = strchr(part, ';');

	return end ? end + 1 : "";
}

static bool read_call(const char *shape, struct call *call)
{
	*call = (struct call){.count = 0};
	if (!read_dims(shape, call))
		return false;
	each_text(next_part(shape), call, use_type);
	each_text(next_part(next_part(shape)), call, use_concrete);
	return true;
}

static double bytes_of(const struct input *input)
{
	return input->elements * input->element_bytes;
}

static bool is_tensor(const struct call *call, int index)
{
	return index < call->count && call->inputs[index].dims > 0 && call->inputs[index].element_bytes > 0;
}

/*
 * Reads the number at `index` of a list such as "[2, 2]". If the list is shorter, its first number is taken:
 * "[2]" means 2 in every dimension. False: the trace has no value for this input, or the value contains no
 * number.
 */
static bool concrete_number(const struct input *input, int index, double *out)
{
	const char *at = input->concrete;
	char *end;

	if (!at)
		return false;
	for (int found = 0; *at && *at != '"' && *at != ']'; at++) {
		if (*at < '0' || *at > '9')
			continue;
		*out = (double)strtoull(at, &end, 10);
		if (found++ == index)
			return true;
		at = end - 1;
	}
	return index > 0 && concrete_number(input, 0, out);
}

static bool product_work(const struct call *call, const struct rule *rule, struct kwhy_operator_work *out)
{
	const struct input *a = &call->inputs[rule->at[0]], *b = &call->inputs[rule->at[1]];
	double columns, result;

	if (!is_tensor(call, rule->at[0]) || !is_tensor(call, rule->at[1]) || a->dims < 2 || b->dims < 2 ||
		a->dims != b->dims || a->sizes[a->dims - 1] != b->sizes[b->dims - 2] ||
		(a->dims == 3 && a->sizes[0] != b->sizes[0]))
		return false;
	columns = b->sizes[b->dims - 1];
	result = a->elements / fmax(a->sizes[a->dims - 1], 1) * columns;
	out->flop = 2 * a->elements * columns;
	out->bytes = bytes_of(a) + bytes_of(b) + result * a->element_bytes;
	return true;
}

/* Number of output positions of a convolution for each image and output channel; 0: unknown. */
static double positions_of(const struct call *call, const struct rule *rule)
{
	const struct input *input = &call->inputs[rule->at[0]], *weight = &call->inputs[rule->at[1]];
	double positions = 1, stride, padding, dilation;

	for (int d = 2; d < input->dims; d++) {
		if (!concrete_number(&call->inputs[rule->at[2]], d - 2, &stride) ||
			!concrete_number(&call->inputs[rule->at[3]], d - 2, &padding) ||
			!concrete_number(&call->inputs[rule->at[4]], d - 2, &dilation) || !(stride > 0))
			return 0;
		positions *= floor((input->sizes[d] + 2 * padding - dilation * (weight->sizes[d] - 1) - 1) /
				     stride) +
			1;
	}
	return positions > 0 ? positions : 0;
}

static bool convolution_work(const struct call *call, const struct rule *rule, struct kwhy_operator_work *out)
{
	const struct input *input = &call->inputs[rule->at[0]], *weight = &call->inputs[rule->at[1]];
	double positions, outputs;

	if (!is_tensor(call, rule->at[0]) || !is_tensor(call, rule->at[1]) || rule->at[4] >= call->count ||
		input->dims < 3 || input->dims != weight->dims)
		return false;
	positions = positions_of(call, rule);
	outputs = input->sizes[0] * weight->sizes[0] * positions;
	out->flop = 2 * outputs * weight->elements / fmax(weight->sizes[0], 1);
	out->bytes = bytes_of(input) + bytes_of(weight) + outputs * input->element_bytes;
	return positions > 0;
}

/* How many of the two gradients (of the input and of the weight) are wanted; 2 if the trace does not say. */
static double gradients_of(const struct call *call, const struct rule *rule)
{
	const char *at = rule->at[3] != NO_ARGUMENT && rule->at[3] < call->count
		? call->inputs[rule->at[3]].concrete
		: NULL;
	double count = 0;

	if (!at)
		return 2;
	for (int i = 0; i < 2 && *at && *at != '"'; i++) {
		at += strspn(at, "[, ");
		count += strncmp(at, "True", 4) == 0;
		at += strcspn(at, ",\"");
	}
	return count;
}

static bool is_true(const struct call *call, int index)
{
	return index != NO_ARGUMENT && index < call->count && call->inputs[index].concrete &&
		strncmp(call->inputs[index].concrete, "True", 4) == 0;
}

static bool backward_work(const struct call *call, const struct rule *rule, struct kwhy_operator_work *out)
{
	const struct input *gradient = &call->inputs[rule->at[0]], *input = &call->inputs[rule->at[1]],
			   *weight = &call->inputs[rule->at[2]];
	double count = gradients_of(call, rule);

	if (!is_tensor(call, rule->at[0]) || !is_tensor(call, rule->at[1]) || !is_tensor(call, rule->at[2]) ||
		is_true(call, rule->at[4]) || count == 0)
		return false;
	out->flop = 2 * count * gradient->elements * weight->elements / fmax(weight->sizes[0], 1);
	out->bytes = count * (bytes_of(gradient) + bytes_of(input) + bytes_of(weight));
	return true;
}

static bool attention_work(const struct call *call, const struct rule *rule, struct kwhy_operator_work *out)
{
	const struct input *query = &call->inputs[rule->at[0]], *key = &call->inputs[rule->at[1]],
			   *value = &call->inputs[rule->at[2]];

	if (!is_tensor(call, rule->at[0]) || !is_tensor(call, rule->at[1]) || !is_tensor(call, rule->at[2]) ||
		query->dims != 4 || key->dims != 4)
		return false;
	out->flop = 4 * query->elements * key->sizes[1] * (is_true(call, rule->at[3]) ? 0.5 : 1);
	out->bytes = 2 * bytes_of(query) + bytes_of(key) + bytes_of(value);
	return true;
}

static bool each_work(const struct call *call, struct kwhy_operator_work *out)
{
	double most = 0;

	if (!is_tensor(call, 0))
		return false;
	for (int i = 0; i < call->count; i++) {
		if (call->inputs[i].dims > 0 && !is_tensor(call, i))
			continue; /* the argument is a list of numbers, or a tensor of unknown element type */
		out->bytes += bytes_of(&call->inputs[i]);
		most = fmax(most, call->inputs[i].elements);
	}
	out->bytes += most * call->inputs[0].element_bytes;
	return true;
}

static bool work_of(const struct call *call, const struct rule *rule, struct kwhy_operator_work *out)
{
	switch (rule->sort) {
	case SORT_PRODUCT:
		return product_work(call, rule, out);
	case SORT_CONVOLVE:
		return convolution_work(call, rule, out);
	case SORT_BACKWARD:
		return backward_work(call, rule, out);
	case SORT_ATTEND:
		return attention_work(call, rule, out);
	case SORT_EACH:
		return each_work(call, out);
	case SORT_COPY:
		out->bytes = bytes_of(&call->inputs[0]) + bytes_of(&call->inputs[1]);
		return is_tensor(call, 0) && is_tensor(call, 1);
	case SORT_WRITE:
	case SORT_READ:
		break;
	}
	out->bytes = bytes_of(&call->inputs[0]);
	return is_tensor(call, 0);
}

bool kwhy_operator_work(const char *name, const char *shape, struct kwhy_operator_work *out)
{
	const struct rule *rule = rule_of(name);
	struct call call;

	*out = (struct kwhy_operator_work){0};
	if (!rule || !read_call(shape, &call))
		return false;
	out->precision = call.inputs[rule->at[0]].precision;
	return work_of(&call, rule, out) && out->bytes > 0;
}
