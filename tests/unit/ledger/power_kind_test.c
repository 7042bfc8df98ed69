/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "ledger/energy/power_kind.h"

#include <math.h>

static const char *const product_names[] = {"*gemm*", "nvjet*"}, *const any_names[] = {"*"};
static struct kwhy_kind_power kinds[] = {
	{"product", product_names, 2, {600, 120}},
	{"any", any_names, 1, {300, 90}},
};
static const struct kwhy_profile profile = {
	.kernel_kinds = {
		.ramp_s = 40e-6, .ramp_exponent = 0.5, .fill_exponent = 1, .items = kinds, .count = 2}};

static void a_long_full_kernel_draws_what_its_kind_does(void **state)
{
	const struct kwhy_kind_prior prior = kwhy_kind_prior_of(&profile, "nvjet_tst", 1, 1e-3);

	(void)state;
	assert_true(fabs(prior.above_idle_w - 600) < 1e-9);
	assert_true(fabs(prior.sd - 0.2) < 1e-9);
	assert_true(fabs(kwhy_kind_prior_of(&profile, "copy", NAN, 1e-3).above_idle_w - 300) < 1e-9);
}

static void shorter_and_smaller_ones_draw_less(void **state)
{
	(void)state;
	assert_true(fabs(kwhy_kind_prior_of(&profile, "sgemm", 1, 10e-6).above_idle_w - 300) < 1e-9);
	assert_true(fabs(kwhy_kind_prior_of(&profile, "sgemm", 0.25, 1e-3).above_idle_w - 150) < 1e-9);
}

static void without_kinds_nothing_is_known(void **state)
{
	static const struct kwhy_profile bare;

	(void)state;
	assert_true(isnan(kwhy_kind_prior_of(NULL, "sgemm", 1, 1e-3).above_idle_w));
	assert_true(isnan(kwhy_kind_prior_of(&bare, "sgemm", 1, 1e-3).above_idle_w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_full_kernel_draws_what_its_kind_does),
		cmocka_unit_test(shorter_and_smaller_ones_draw_less),
		cmocka_unit_test(without_kinds_nothing_is_known),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
