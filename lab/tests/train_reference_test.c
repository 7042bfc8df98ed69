/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/rules.h"
#include "lab/train/train.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>

static const struct lab_train_shape small = {
	.width = 32, .layers = 3, .batch = 16, .parts = 1, .samples = 32, .steps = 6};

static double loss_at(const float *weights, float *gradient)
{
	struct kwhy_error error;
	double loss;

	if (lab_train_gradient(&small, 0, weights, gradient, &loss, &error))
		fail_msg("%s", error.text);
	return loss;
}

static float *first_weights(const struct lab_train_shape *shape)
{
	size_t count = lab_train_weight_count(shape);
	float *weights = malloc(count * sizeof(*weights));

	for (size_t i = 0; i < count; i++)
		weights[i] = lab_train_first_weight(i, lab_train_bound(shape->width));
	return weights;
}

/*
 * Compares the slope of the loss with finite differences in eight directions. Each direction moves an eighth
 * of the weights in proportion to their gradients: if a single weight moved, the difference of the losses
 * would vanish in rounding.
 */
static void the_gradient_is_that_of_finite_differences(void **state)
{
	size_t count = lab_train_weight_count(&small);
	float *weights = first_weights(&small), *gradient = malloc(count * sizeof(float)),
	      *moved = malloc(count * sizeof(float)), *other = malloc(count * sizeof(float));
	double scales[] = {1e-2, 3e-3};

	(void)state;
	loss_at(weights, gradient);
	for (size_t s = 0; s < 2; s++)
		for (uint32_t direction = 0; direction < 8; direction++) {
			double slope = 0, up, down;

			for (size_t i = 0; i < count; i++) {
				double way = (i * 2654435761u >> 7 & 7) == direction ? 1 : 0;

				way *= i % 3 ? (double)gradient[i] : -(double)gradient[i] / 2;
				slope += way * (double)gradient[i];
				moved[i] = (float)((double)weights[i] + scales[s] * way);
				other[i] = (float)((double)weights[i] - scales[s] * way);
			}
			up = loss_at(moved, moved);
			down = loss_at(other, other);
			assert_true(fabs((up - down) / (2 * scales[s]) / slope - 1) < 0.02);
		}
	free(weights);
	free(gradient);
	free(moved);
	free(other);
}

/*
 * The gradient of each bias of the last layer is the mean over the batch of the predicted probability less
 * the true one (0 or 1). Both add up to 1 over all classes, so the sum of these gradients is 0.
 */
static void errors_of_logits_add_up_to_nothing(void **state)
{
	size_t count = lab_train_weight_count(&small);
	float *weights = first_weights(&small), *gradient = malloc(count * sizeof(float));
	double sum = 0;

	(void)state;
	loss_at(weights, gradient);
	for (size_t i = count - small.width; i < count; i++)
		sum += (double)gradient[i];
	assert_true(fabs(sum) < 1e-6);
	free(weights);
	free(gradient);
}

static void an_untrained_loss_is_that_of_guessing_and_it_falls(void **state)
{
	struct lab_train_shape shape = small;
	struct lab_train_state trained;
	struct kwhy_error error;

	(void)state;
	shape.steps = 60;
	if (lab_train_state_new(&shape, &trained, &error) || lab_train_reference(&shape, &trained, &error))
		fail_msg("%s", error.text);
	assert_true(fabs(trained.losses[0] - log(small.width)) < 0.2);
	assert_true(trained.losses[59] < 0.75 * trained.losses[0]);
	lab_train_state_done(&trained);
}

/*
 * Expected values are computed by hand. First step, gradient g = 0.5: m = 0.1 g, v = 0.001 g^2; the weight
 * decays by the factor 1 - 1e-5 and moves by the learning rate, 1e-3.
 */
static void adamw_is_that_of_the_paper(void **state)
{
	struct lab_train_pace pace = {.power1 = 1, .power2 = 1};
	float weight = 2, first = 0, second = 0;

	(void)state;
	lab_train_pace_next(&pace);
	lab_train_adamw(&pace, 0.5f, &weight, &first, &second);
	assert_true(fabs((double)first - 0.05) < 1e-7);
	assert_true(fabs((double)second - 0.00025) < 1e-7);
	assert_true(fabs((double)weight - (2 * (1 - 1e-5) - 1e-3)) < 1e-6);
	/*
	 * Second step, g = -0.5: m = 0.045 - 0.05, divided by the bias correction 0.19; v = 0.00049975,
	 * divided by the bias correction 0.001999.
	 */
	lab_train_pace_next(&pace);
	lab_train_adamw(&pace, -0.5f, &weight, &first, &second);
	assert_true(fabs((double)first + 0.005) < 1e-6);
	assert_true(fabs((double)second - 0.00049975) < 1e-7);
	assert_true(fabs((double)weight -
			    ((2 * (1 - 1e-5) - 1e-3) * (1 - 1e-5) + 1e-3 * 0.005 / 0.19 / 0.5)) < 1e-6);
}

static void inputs_are_nearly_normal_and_labels_even(void **state)
{
	double sum = 0, squares = 0;
	uint32_t low = 0;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		double value = (double)lab_train_input(i);

		sum += value;
		squares += value * value;
		low += lab_train_label((uint32_t)i, 4096) < 2048;
	}
	assert_true(fabs(sum / 1e5) < 0.01);
	assert_true(fabs(squares / 1e5 - 1) < 0.01);
	assert_in_range(low, 49000, 51000);
}

static void shapes_out_of_bounds_are_refused(void **state)
{
	static const struct lab_train_shape shapes[] = {
		{40, 2, 64, 1, 64, 1}, {64, 2, 60, 1, 60, 1}, {64, 2, 64, 16, 64, 1}, {64, 2, 64, 1, 100, 1}};
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		assert_int_equal(lab_train_shape_check(&shapes[i], &error), KWHY_E_INPUT);
	assert_int_equal(lab_train_shape_check(&small, &error), KWHY_OK);
}

/*
 * FLOP of two layers: 6 x samples x weights, less 2 x samples x weights of the first layer, whose inputs need
 * no gradients.
 */
static void flop_are_counted_by_hand(void **state)
{
	const struct lab_train_shape guide = {
		LAB_TRAIN_WIDTH, LAB_TRAIN_LAYERS, LAB_TRAIN_BATCH, 1, LAB_TRAIN_SAMPLES, LAB_TRAIN_STEPS};

	(void)state;
	assert_true(lab_train_step_flop(&guide) == 5 * 2.0 * 64 * 4096 * 4096);
	assert_true(lab_train_weight_count(&guide) == 2 * (4096u * 4096u + 4096u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gradient_is_that_of_finite_differences),
		cmocka_unit_test(errors_of_logits_add_up_to_nothing),
		cmocka_unit_test(an_untrained_loss_is_that_of_guessing_and_it_falls),
		cmocka_unit_test(adamw_is_that_of_the_paper),
		cmocka_unit_test(inputs_are_nearly_normal_and_labels_even),
		cmocka_unit_test(shapes_out_of_bounds_are_refused),
		cmocka_unit_test(flop_are_counted_by_hand),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
