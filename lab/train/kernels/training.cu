/* SPDX-License-Identifier: Apache-2.0 */
/* --- The beginning --- */

INLINE void set_pace(struct pace *pace, float power1, float power2, u32 step)
{
	pace->power1 = power1;
	pace->power2 = power2;
	pace->rate = RATE / (1.0f - power1);
	pace->root = 1.0f / sqrtf(1.0f - power2);
	pace->step = step;
}

KERNEL void kwhy_train_begin(const struct args a, const struct call c)
{
	u64 matrices = matrix_at(&a, a.layers), count = bias_at(&a, a.layers);
	float bound = 1.0f / sqrtf((float)a.width);

	(void)c;
	for (u64 i = 2 * thread_index(); i < count; i += 2 * thread_count()) {
		float x = first_weight(i, bound), y = first_weight(i + 1, bound);

		put_pair(a.weights, 0, i, x, y);
		put_pair(a.first, 0, i, 0, 0);
		put_pair(a.second, 0, i, 0, 0);
		if (a.half && i < matrices)
			put_pair(a.copies, 1, i, x, y);
	}
	if (thread_index() == 0)
		set_pace(a.pace, BETA1, BETA2, 0);
}

KERNEL void kwhy_train_data(const struct args a, const struct call c)
{
	u64 count = (u64)a.samples * a.width;

	(void)c;
	for (u64 i = 2 * thread_index(); i < count; i += 2 * thread_count())
		put_pair(a.inputs, a.half, i, input_of(i), input_of(i + 1));
	for (u64 i = thread_index(); i < a.samples; i += thread_count())
		a.labels[i] = (u32)(mix(LABELS_FIELD, i) % a.width);
}

/* --- What follows a product --- */

INLINE void adamw(const struct pace *pace, float gradient, float *weight, float *first, float *second)
{
	*first = BETA1 * *first + (1.0f - BETA1) * gradient;
	*second = BETA2 * *second + (1.0f - BETA2) * gradient * gradient;
	*weight = *weight * (1.0f - RATE * DECAY) - pace->rate * *first / (sqrtf(*second) * pace->root + EPSILON);
}

/* A pair of weights with what AdamW knows of them. */
struct trained {
	float2 weight, first, second;
};

INLINE void apply_pair(const struct args *a, const struct pace *pace, u64 place, float2 gradient, struct trained *pair)
{
	adamw(pace, gradient.x, &pair->weight.x, &pair->first.x, &pair->second.x);
	adamw(pace, gradient.y, &pair->weight.y, &pair->first.y, &pair->second.y);
	put_pair(a->weights, 0, place, pair->weight.x, pair->weight.y);
	put_pair(a->first, 0, place, pair->first.x, pair->first.y);
	put_pair(a->second, 0, place, pair->second.x, pair->second.y);
	if (a->half && place < matrix_at(a, a->layers))
		put_pair(a->copies, 1, place, pair->weight.x, pair->weight.y);
}

/* Gradients of up to four pairs, all of which are read before one is written. */
INLINE void take_gradients(const struct args *a, u32 mode, const u64 *places, float2 *gradients, u32 count)
{
	struct trained pairs[4];
	struct pace pace = *a->pace;

	if (mode & APPLY)
		for (u32 i = 0; i < count; i++) {
			pairs[i].weight = get_pair(a->weights, 0, places[i]);
			pairs[i].first = get_pair(a->first, 0, places[i]);
			pairs[i].second = get_pair(a->second, 0, places[i]);
		}
	for (u32 i = 0; i < count && mode & ADD; i++) {
		float2 before = get_pair(a->gradients, 0, places[i]);

		gradients[i].x += before.x;
		gradients[i].y += before.y;
	}
	for (u32 i = 0; i < count; i++)
		if (mode & APPLY)
			apply_pair(a, &pace, places[i], gradients[i], &pairs[i]);
		else
			put_pair(a->gradients, 0, places[i], gradients[i].x, gradients[i].y);
}

enum product { FORWARD, BACKWARD, UPDATE };

/* A pair of outputs of a layer, or of errors of its inputs. */
INLINE void finish_pair(const struct args *a, const struct call *c, enum product what, u32 half, u32 m, u32 n, float2 value)
{
	u64 place = (u64)m * a->width + n;

	if (what == FORWARD) {
		float2 bias = get_pair(a->weights, 0, bias_at(a, c->layer) + n);

		value.x += bias.x;
		value.y += bias.y;
		if (c->layer + 1 == a->layers)
			put_pair(a->logits, 0, place, value.x, value.y);
		else
			put_pair(a->hidden, half, slot_at(a, c->out) + place, fmaxf(value.x, 0), fmaxf(value.y, 0));
	} else {
		float2 input = get_pair(a->hidden, half, slot_at(a, c->kept) + place);

		put_pair(a->errors, half, slot_at(a, c->out) + place, input.x > 0 ? value.x : 0, input.y > 0 ? value.y : 0);
	}
}

/*
 * The two matrices of a product, [m][k] and [n][k] where they lie along k, else [k][m] and [k][n]; they are
 * a->width apart from row to row in any case.
 */
struct factors {
	u64 a, b; /* places in elements */
	const void *a_memory, *b_memory;
	u32 m, n, k;
	u32 a_along, b_along;
};

INLINE void inputs_of(const struct args *a, const struct call *c, u32 slot, const void **memory, u64 *place)
{
	*memory = slot == INPUTS ? a->inputs : a->hidden;
	*place = slot == INPUTS ? (u64)first_sample(a, c->part) * a->width : slot_at(a, slot);
}

INLINE struct factors factors_of(const struct args *a, const struct call *c, enum product what)
{
	struct factors f;

	f.m = what == UPDATE ? a->width : rows_of(a);
	f.n = a->width;
	f.k = what == UPDATE ? rows_of(a) : a->width;
	f.a_along = what != UPDATE;
	f.b_along = what == FORWARD;
	f.a_memory = a->errors;
	f.a = slot_at(a, c->in);
	f.b_memory = a->copies;
	f.b = matrix_at(a, c->layer);
	if (what == FORWARD)
		inputs_of(a, c, c->in, &f.a_memory, &f.a);
	if (what == UPDATE)
		inputs_of(a, c, c->kept, &f.b_memory, &f.b);
	return f;
}
