/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "cmocka_all.h"

#include <math.h>

static void numbers_get_the_prefix_that_fits(void **state)
{
	char out[KWHY_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(kwhy_quantity_energy(out, 508300000000), "508 J");
	/* the right text of a figure that is wrong in a document of examples/claims (row E0.7: 6.3 uJ/B) */
	assert_string_equal(kwhy_quantity_si(out, 6.305e-9, "J/B", 3), "6.31 nJ/B");
	/* the same, row E0.4: 4.05 uJ/GFLOP */
	assert_string_equal(kwhy_quantity_si(out, 76.19 / 18835, "J/GFLOP", 3), "4.05 mJ/GFLOP");
	assert_string_equal(kwhy_quantity_time(out, 999600), "1.00 ms");
	assert_string_equal(kwhy_quantity_time(out, 999400), "999 \xC2\xB5s");
	assert_string_equal(kwhy_quantity_time(out, 0), "0 s");
	assert_string_equal(kwhy_quantity_time(out, -1500), "-1.50 \xC2\xB5s");
	assert_string_equal(kwhy_quantity_bytes(out, 37), "37 B");
	/* decimal megabytes (10^6 B), not MiB */
	assert_string_equal(kwhy_quantity_bytes(out, 1 << 20), "1.05 MB");
}

static void what_is_not_a_number_is_not_available(void **state)
{
	char out[KWHY_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(kwhy_quantity_si(out, NAN, "J", 3), "n/a");
	assert_string_equal(kwhy_quantity_percent(out, INFINITY), "n/a");
	assert_string_equal(kwhy_quantity_percent(out, 0.158), "15.8 %");
}

static void counts_are_grouped_by_thousands(void **state)
{
	char out[KWHY_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(kwhy_quantity_count(out, 0), "0");
	assert_string_equal(kwhy_quantity_count(out, 999), "999");
	assert_string_equal(kwhy_quantity_times(out, 1), "1 time");
	assert_string_equal(kwhy_quantity_times(out, 2), "2 times");
	assert_string_equal(kwhy_quantity_times(out, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(kwhy_quantity_count(out, 540594), "540,594");
	assert_string_equal(kwhy_quantity_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void whole_amounts_are_counts_and_others_have_three_digits(void **state)
{
	char text[KWHY_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(kwhy_quantity_amount(text, 96), "96");
	assert_string_equal(kwhy_quantity_amount(text, 1500), "1,500");
	assert_string_equal(kwhy_quantity_amount(text, 1.25), "1.25");
	assert_string_equal(kwhy_quantity_amount(text, 2e13), "20.0 T");
	assert_string_equal(kwhy_quantity_amount(text, 0), "0");
	assert_string_equal(kwhy_quantity_amount(text, NAN), "n/a");
}

/* With a prefix, "500 m" could be read as metres. */
static void numbers_below_1_without_a_unit_have_no_prefix(void **state)
{
	char text[KWHY_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(kwhy_quantity_amount(text, 0.5), "0.500");
	assert_string_equal(kwhy_quantity_number(text, 0.451), "0.451");
	assert_string_equal(kwhy_quantity_number(text, 0.9996), "1.00");
	assert_string_equal(kwhy_quantity_number(text, 0.0994), "0.0994");
	assert_string_equal(kwhy_quantity_number(text, 0.09996), "0.100");
	assert_string_equal(kwhy_quantity_number(text, 0.009996), "0.0100");
	assert_string_equal(kwhy_quantity_number(text, 0.001), "0.00100");
	assert_string_equal(kwhy_quantity_number(text, 0.00045), "450 \xc2\xb5");
	assert_string_equal(kwhy_quantity_number(text, 96), "96.0");
	assert_string_equal(kwhy_quantity_number(text, NAN), "n/a");
}

static void plain_numbers_have_three_digits_and_no_prefix(void **state)
{
	char text[KWHY_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(kwhy_quantity_plain(text, 0.00026123), "0.000261");
	assert_string_equal(kwhy_quantity_plain(text, 16.66), "16.7");
	assert_string_equal(kwhy_quantity_plain(text, 123456), "123456");
	assert_string_equal(kwhy_quantity_plain(text, 1.4e297), "1.40e+297");
	assert_string_equal(kwhy_quantity_plain(text, 2.5e-20), "2.50e-20");
	assert_string_equal(kwhy_quantity_plain(text, 0), "0");
	assert_string_equal(kwhy_quantity_plain(text, NAN), "n/a");
	assert_string_equal(kwhy_quantity_plain(text, INFINITY), "n/a");
}

static void ends_of_an_interval_are_told_apart_where_they_lie_differently_far(void **state)
{
	char text[KWHY_QUANTITY_BYTES];

	(void)state;
	assert_string_equal(kwhy_quantity_interval(text, 100, 98.8, 101.2),
		"\xc2\xb1"
		"1.20 %");
	assert_string_equal(kwhy_quantity_interval(text, -100, -112, -88),
		"\xc2\xb1"
		"12 %");
	assert_string_equal(kwhy_quantity_interval(text, 100, 91.3, 109.6),
		"\xc2\xb1"
		"9.15 %");
	assert_string_equal(kwhy_quantity_interval(text, 100, 25, 400), "-75 +300 %");
	assert_string_equal(kwhy_quantity_interval(text, 1000, 997, 1001), "-0.30 +0.10 %");
	assert_string_equal(kwhy_quantity_interval(text, 100, 82, 100), "-18 +0 %");
	assert_string_equal(kwhy_quantity_interval(text, 1, 0, 1e298), "-100 +1.00e+300 %");
	assert_string_equal(kwhy_quantity_interval(text, 5, 5, 5),
		"\xc2\xb1"
		"0.00 %");
	assert_string_equal(kwhy_quantity_interval(text, 100, NAN, 101), "");
	assert_string_equal(kwhy_quantity_interval(text, 0, -1, 1), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_get_the_prefix_that_fits),
		cmocka_unit_test(what_is_not_a_number_is_not_available),
		cmocka_unit_test(counts_are_grouped_by_thousands),
		cmocka_unit_test(whole_amounts_are_counts_and_others_have_three_digits),
		cmocka_unit_test(numbers_below_1_without_a_unit_have_no_prefix),
		cmocka_unit_test(ends_of_an_interval_are_told_apart_where_they_lie_differently_far),
		cmocka_unit_test(plain_numbers_have_three_digits_and_no_prefix),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
