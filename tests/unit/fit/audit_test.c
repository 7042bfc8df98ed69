/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/audit.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct kwhy_error error;
static struct kwhy_audit audit;

static void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
		fail_msg("%.12g instead of %.12g", value, wanted);
}

static void units_have_prefixes_and_quotients(void **state)
{
	static const struct {
		const char *text, *name;
		double factor;
	} cases[] = {{"mJ", "J", 1e-3}, {"uJ/GFLOP", "J/FLOP", 1e-15}, {"GFLOPS/W", "FLOP/J", 1e9},
		{"MB/s", "B/s", 1e6}, {"MiB", "B", 1048576}, {"kWh", "J", 3.6e6},
		{"kg/kWh", "g/J", 1000 / 3.6e6}, {"%", "", 0.01}, {"ops", "", 1}, {"", "", 1}, {"W", "W", 1},
		{"min", "s", 60}, {"ms", "s", 1e-3}, {"pJ/FMA", "J/FLOP", 0.5e-12}, {"miles", "m", 1609.344},
		{"\xC2\xB5s", "s", 1e-6}};
	struct kwhy_unit unit;
	char name[KWHY_UNIT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(kwhy_unit_parse(cases[i].text, &unit));
		assert_near(unit.factor, cases[i].factor);
		assert_string_equal(kwhy_unit_name(name, &unit), cases[i].name);
	}
	assert_false(kwhy_unit_parse("parsec", &unit));
	assert_false(kwhy_unit_parse("kmin", &unit));
}

static void printed_figures_are_the_interval_of_their_digits(void **state)
{
	static const struct {
		const char *text;
		double low, high;
		char bound;
	} cases[] = {{"45.1", 45.05, 45.15, 0}, {"1,832", 1831.5, 1832.5, 0}, {"~6.3", 6.25, 6.35, 0},
		{"25-35", 25, 35, 0}, {"<5", 4.5, 5.5, '<'}, {"560e6", 559.5e6, 560.5e6, 0},
		{"-7", -7.5, -6.5, 0}, {"0.05", 0.045, 0.055, 0}, {"1.13e6", 1.125e6, 1.135e6, 0},
		{"3.5-4.0", 3.5, 4, 0}};
	double low, high;
	char bound;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(kwhy_audit_value_parse(cases[i].text, &low, &high, &bound));
		assert_near(low, cases[i].low);
		assert_near(high, cases[i].high);
		assert_int_equal(bound, cases[i].bound);
	}
	assert_false(kwhy_audit_value_parse("", &low, &high, &bound));
	assert_false(kwhy_audit_value_parse("n/a", &low, &high, &bound));
	assert_false(kwhy_audit_value_parse("1.2.3", &low, &high, &bound));
	assert_false(kwhy_audit_value_parse("1e", &low, &high, &bound));
	assert_false(kwhy_audit_value_parse("9-3", &low, &high, &bound));
	assert_false(kwhy_audit_value_parse("12 J", &low, &high, &bound));
}

static enum kwhy_status find_two(
	void *context, const char *name, struct kwhy_formula_figure *out, struct kwhy_error *why)
{
	(void)context;
	if (strcmp(name, "two") != 0 && strcmp(name, "part") != 0)
		return kwhy_fail(why, KWHY_E_INPUT, "no '%s'", name);
	*out = (struct kwhy_formula_figure){.low = 1.5, .high = 2.5, .unit.factor = 1};
	if (*name == 'p')
		*out = (struct kwhy_formula_figure){.low = 0.15, .high = 0.2, .unit.factor = 1};
	return KWHY_OK;
}

static struct kwhy_formula_figure value_of(const char *formula)
{
	struct kwhy_formula_figure figure;

	if (kwhy_formula_of(formula, find_two, NULL, &figure, &error))
		fail_msg("%s", error.text);
	return figure;
}

static void formulas_keep_order_units_and_intervals(void **state)
{
	struct kwhy_formula_figure figure;
	char name[KWHY_UNIT_BYTES];

	(void)state;
	assert_near(value_of("1 + 2 * 3 - 4 / 2").low, 5);
	assert_near(value_of("(1 + 2) * 3").low, 9);
	assert_near(value_of("10 - two").low, 7.5);
	assert_near(value_of("10 - two").high, 8.5);
	assert_near(value_of("3 / two").high, 2);
	assert_near(value_of("log10(1[GiB] / 1[B])").low, log10(1073741824));
	assert_near(value_of("sqrt(16)").low, 4);
	figure = value_of("45.1[mJ] / 37.5[B]");
	assert_near(figure.low, 0.0451 / 37.5);
	assert_string_equal(kwhy_unit_name(name, &figure.unit), "J/B");
	assert_true(value_of("1[J] + 1[s]").mixes_units);
	assert_false(value_of("1[J] + 1[W] * 1[s]").mixes_units);
}

static void assert_between(const char *formula, double low, double high)
{
	struct kwhy_formula_figure figure = value_of(formula);

	if (!(fabs(figure.low - low) <= 1e-9 && fabs(figure.high - high) <= 1e-9))
		fail_msg("%s: %.12g to %.12g", formula, figure.low, figure.high);
}

static void a_figure_that_comes_twice_is_one_figure(void **state)
{
	(void)state;
	assert_between("two - two", 0, 0);
	assert_between("two / (1 - part) - two", 1.5 / 0.85 - 1.5, 2.5 / 0.8 - 2.5);
	assert_between("two * (1 / (1 - part) - 1)", 1.5 / 0.85 - 1.5, 2.5 / 0.8 - 2.5);
	assert_between("part / (part + 1)", 0.15 / 1.15, 0.2 / 1.2);
	assert_between("(two - 10) / two", -8.5 / 1.5, -7.5 / 2.5);
	assert_between("sqrt(part) / part", 1 / sqrt(0.2), 1 / sqrt(0.15));
	assert_between("log10(two) - two / 1000", log10(1.5) - 0.0015, log10(2.5) - 0.0025);
	assert_int_equal(value_of("two - two").unit.powers[0], 0);
}

/*
 * `two` is 2 +- 0.5. The formula is 3.75 at both ends of that interval but 4 in its middle, so the
 * values at the ends are not its bounds. For such a formula kwhy gives the wider bounds that hold
 * if the factors vary independently.
 */
static void what_turns_within_the_interval_keeps_the_outer_bound(void **state)
{
	(void)state;
	assert_between("two * (4 - two)", 1.5 * 1.5, 2.5 * 2.5);
	/* Nevertheless a quantity that occurs twice has the same value in both places: part - part adds 0 to
	 * the bounds. */
	assert_between("two * (4 - two) + part - part", 1.5 * 1.5, 2.5 * 2.5);
}

static void what_is_no_formula_is_named(void **state)
{
	static const char *const bad[] = {"1e200 * 1e200", "1e308 + 1e308", "", "1 +", "(1",
		"1 / (two - two)", "three", "1[J", "1[zz]", "1 2", "log10(0)", "log10(1[J])",
		"((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))"};
	struct kwhy_formula_figure figure;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (kwhy_formula_of(bad[i], find_two, NULL, &figure, &error) != KWHY_E_INPUT)
			fail_msg("'%s' was taken", bad[i]);
}

/*
 * A claim of a document: value, unit, window (the run that it is of), formula (from), name of the quantity
 * (same; claims of one quantity must agree), role.
 */
#define CLAIM(id, value, unit, window, from, same, role)      \
	{                                                     \
		id, "", value, unit, window, from, same, role \
	}

static void look(const struct kwhy_claim *claims, size_t count)
{
	kwhy_audit_done(&audit);
	if (kwhy_audit_of(claims, count, &audit, &error))
		fail_msg("%s", error.text);
}

/* Returns the audit's only finding. Fails if there are others, or if it is of another kind or claim. */
static const struct kwhy_audit_finding *only(enum kwhy_audit_kind kind, size_t claim)
{
	if (audit.finding_count != 1 || audit.findings[0].kind != kind || audit.findings[0].claim != claim)
		fail_msg("%zu findings, first %s of %zu", audit.finding_count,
			audit.finding_count ? kwhy_audit_kind_name(audit.findings[0].kind) : "",
			audit.finding_count ? audit.findings[0].claim : 0);
	return &audit.findings[0];
}

static void a_unit_slip_is_told_with_the_right_value(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("p", "76.19", "W", "", "", "", ""),
		CLAIM("r", "18,835", "GFLOPS", "", "", "", ""),
		CLAIM("j", "4.05", "uJ/GFLOP", "", "p / r", "", ""),
		CLAIM("k", "4.05", "mJ/GFLOP", "", "p / r", "", "")};

	(void)state;
	look(claims, 4);
	assert_true(fabs(only(KWHY_AUDIT_SLIP, 2)->should.low - 4.045e-12) < 1e-15);
	assert_int_equal(audit.checked_count, 2);
}

/*
 * A claim that is wrong by a power of ten is a slip of its unit. This is found for negative values, too: b -
 * a is -7 J, not -7 kJ. If the sign of the computed value is uncertain, no factor can be given.
 */
static void a_unit_slip_is_one_below_zero_too(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("a", "10", "J", "", "", "", ""),
		CLAIM("b", "3", "J", "", "", "", ""), CLAIM("saved", "-7", "kJ", "", "b - a", "", "")};
	const struct kwhy_claim either[] = {CLAIM("a", "3.2", "J", "", "", "", ""),
		CLAIM("b", "3.2", "J", "", "", "", ""), CLAIM("saved", "-7", "kJ", "", "b - a", "", "")};

	(void)state;
	look(claims, 3);
	assert_near(only(KWHY_AUDIT_SLIP, 2)->factor, 1000);
	look(either, 3);
	only(KWHY_AUDIT_ARITHMETIC, 2);
}

static void what_follows_from_a_misprint_is_told_with_what_follows_from_the_right_value(void **state)
{
	/*
	 * both inputs are wrong themselves: 1.20 mJ / 6.3 uJ is 191, but from their right values the ratio is
	 * 5469
	 */
	const struct kwhy_claim claims[] = {CLAIM("small", "1.20", "mJ/B", "", "1 / 0.029[MB/J]", "", ""),
		CLAIM("large", "6.3", "uJ/B", "", "58.01[W] / 9200[MB/s]", "", ""),
		CLAIM("x", "191", "x", "", "small / large", "", "")};

	(void)state;
	look(claims, 3);
	assert_int_equal(audit.finding_count, 3);
	assert_int_equal(audit.findings[2].kind, KWHY_AUDIT_DEPENDS);
	assert_true(fabs(audit.findings[2].should.low - 5468.7) < 1);
}

static void a_count_of_another_window_is_no_divisor(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("e", "283.73", "J", "a", "", "", ""),
		CLAIM("n", "6,289", "ops", "b", "", "", ""), CLAIM("one", "45.1", "mJ", "", "e / n", "", ""),
		CLAIM("p", "56.51", "W", "a", "", "", ""), CLAIM("q", "76.19", "W", "b", "", "", ""),
		CLAIM("share", "74", "%", "", "p / q", "", "")};

	(void)state;
	look(claims, 6);
	only(KWHY_AUDIT_WINDOW, 2);
}

/*
 * 14.023 s are of run a, 1,158 collectives of run b. Their quotient is not the time of a collective, so it
 * must not be used to prove the claim of 16 us wrong.
 */
static void nothing_follows_from_amounts_of_different_windows(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("t", "14.023", "s", "a", "", "", ""),
		CLAIM("n", "1,158", "ops", "b", "", "", ""), CLAIM("one", "16", "us", "", "t / n", "", ""),
		CLAIM("least", "16", "us", "", ">= t / n", "", ""),
		CLAIM("e", "0.89", "mJ", "", "one * 55.74[W]", "", "")};

	(void)state;
	look(claims, 5);
	assert_int_equal(audit.finding_count, 3);
	assert_int_equal(audit.findings[0].kind, KWHY_AUDIT_WINDOW);
	assert_int_equal(audit.findings[1].kind, KWHY_AUDIT_WINDOW);
	/* `e` is computed from `one`, for which no right value is known, so `e` has none either */
	assert_int_equal(audit.findings[2].kind, KWHY_AUDIT_DEPENDS);
	assert_true(isnan(audit.findings[2].should.low));
}

/*
 * Two claims of the quantity "one", the energy of a copy: 45.1 mJ is the energy of run a by the copies of run
 * b, 1.292 mJ by those of run a. They contradict each other.
 */
static void what_crosses_windows_contradicts_what_does_not(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("e", "283.73", "J", "a", "", "", ""),
		CLAIM("n", "6,289", "ops", "b", "", "", ""), CLAIM("m", "219,585", "ops", "a", "", "", ""),
		CLAIM("x", "45.1", "mJ", "", "e / n", "one", ""),
		CLAIM("y", "1.292", "mJ", "", "e / m", "one", "")};

	(void)state;
	look(claims, 5);
	assert_int_equal(audit.finding_count, 2);
	assert_int_equal(audit.findings[0].kind, KWHY_AUDIT_WINDOW);
	assert_int_equal(audit.findings[1].kind, KWHY_AUDIT_CONTRADICTION);
	assert_int_equal(audit.findings[1].claim, 3);
	assert_near(audit.findings[1].should.low, 1.2915e-3);
}

static void no_energy_above_the_highest_power_times_the_time(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("p", "78.42", "W", "", "", "", "measured_power"),
		CLAIM("t", "6.78", "s", "w", "", "", "duration"),
		CLAIM("e", "1,832", "J", "w", "", "", "energy"),
		CLAIM("f", "531", "J", "w", "", "", "energy"), CLAIM("g", "270", "W", "", "", "", "power")};

	(void)state;
	look(claims, 5);
	assert_int_equal(audit.finding_count, 2);
	assert_int_equal(audit.findings[0].kind, KWHY_AUDIT_ENERGY);
	assert_true(fabs(audit.findings[0].should.low - 531.7) < 0.5);
	assert_int_equal(audit.findings[1].kind, KWHY_AUDIT_POWER);
}

static void parts_that_last_longer_than_the_whole_overlap(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("t", "7", "s", "w", "", "", "duration"),
		CLAIM("ta", "5", "s", "a", "", "", "duration"),
		CLAIM("tb", "6", "s", "b", "", "", "duration"), CLAIM("ea", "1", "J", "a", "", "", ""),
		CLAIM("eb", "2", "J", "b", "", "", ""), CLAIM("e", "3", "J", "w", "ea + eb", "", "")};

	(void)state;
	look(claims, 6);
	assert_int_equal(audit.finding_count, 2);
	assert_int_equal(audit.findings[0].kind, KWHY_AUDIT_WINDOW);
	assert_int_equal(audit.findings[1].kind, KWHY_AUDIT_OVERLAP);
}

static void unlike_units_bounds_mebibytes_and_contradictions(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("a", "1.20", "mJ/B", "", "", "", ""),
		CLAIM("b", "20", "pJ/FLOP", "", "", "", ""), CLAIM("x", "6.0e7", "x", "", "a / b", "", ""),
		CLAIM("two", "2", "x", "", "> 2", "", ""), CLAIM("mb", "2.21", "MiB", "", "2.21[MB]", "", ""),
		CLAIM("l", "<5", "%", "", "1000 / 500000", "", ""), CLAIM("s1", "1", "KB", "", "", "s", ""),
		CLAIM("s2", "4", "KB", "", "", "s", "")};
	static const enum kwhy_audit_kind wanted[] = {KWHY_AUDIT_UNLIKE, KWHY_AUDIT_BOUND, KWHY_AUDIT_MEBI,
		KWHY_AUDIT_LOOSE, KWHY_AUDIT_CONTRADICTION, KWHY_AUDIT_CONTRADICTION};

	(void)state;
	look(claims, 8);
	assert_int_equal(audit.finding_count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(audit.findings[i].kind, wanted[i]);
}

/*
 * A stated bound is loose if it is ten times off: < -1.0 is loose for a computed -30, but not for -1.2; > -10
 * is loose for -0.2, but not for -9.
 */
static void a_bound_below_zero_is_loose_ten_times_from_the_figure(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("near", "<-1.0", "J", "", "0.3[J] - 1.5[J]", "", ""),
		CLAIM("far", "<-1.0", "J", "", "1[J] - 31[J]", "", ""),
		CLAIM("above", ">-10", "J", "", "1[J] - 10[J]", "", ""),
		CLAIM("far_above", ">-10", "J", "", "1[J] - 1.2[J]", "", "")};

	(void)state;
	look(claims, 4);
	assert_int_equal(audit.finding_count, 2);
	assert_int_equal(audit.findings[0].kind, KWHY_AUDIT_LOOSE);
	assert_int_equal(audit.findings[0].claim, 1);
	assert_int_equal(audit.findings[1].kind, KWHY_AUDIT_LOOSE);
	assert_int_equal(audit.findings[1].claim, 3);
}

static void a_confirmed_claim_is_not_what_contradicts(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("good", "167", "uJ", "", "0.194[J] / 1160", "d2d", ""),
		CLAIM("bad", "124", "uJ", "", "", "d2d", "")};

	(void)state;
	look(claims, 2);
	only(KWHY_AUDIT_CONTRADICTION, 1);
}

static void rounding_is_no_error(void **state)
{
	const struct kwhy_claim claims[] = {CLAIM("i", "0.5", "kg/kWh", "", "", "", ""),
		CLAIM("kwh", "0.000509", "kWh", "", "1832[J]", "", ""),
		CLAIM("g", "0.255", "g", "", "kwh * i", "", ""),
		CLAIM("x", "150", "miles", "", "59[kg] / m", "", ""),
		CLAIM("m", "0.4", "kg/mile", "", "", "", "")};

	(void)state;
	look(claims, 5);
	assert_int_equal(audit.finding_count, 0);
}

static void claims_that_cannot_be_read_are_named(void **state)
{
	static const struct kwhy_claim bad[][2] = {
		{CLAIM("a", "x", "J", "", "", "", ""), CLAIM("b", "1", "J", "", "", "", "")},
		{CLAIM("a", "1", "zz", "", "", "", ""), CLAIM("b", "1", "J", "", "", "", "")},
		{CLAIM("a", "1", "J", "", "b", "", ""), CLAIM("b", "1", "J", "", "a", "", "")},
		{CLAIM("a", "1", "J", "", "c", "", ""), CLAIM("b", "1", "J", "", "", "", "")},
		{CLAIM("a", "1", "J", "", "b +", "", ""), CLAIM("b", "1", "J", "", "", "", "")},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		kwhy_audit_done(&audit);
		assert_int_equal(kwhy_audit_of(bad[i], 2, &audit, &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "claim '"));
	}
}

static int end(void **state)
{
	(void)state;
	kwhy_audit_done(&audit);
	return 0;
}

static void a_long_chain_of_claims_is_refused_unless_told_from_its_end(void **state)
{
	enum { CHAIN = 5000 };
	static struct kwhy_claim claims[CHAIN];
	static char ids[CHAIN][8];

	(void)state;
	for (size_t i = 0; i < CHAIN; i++) {
		snprintf(ids[i], sizeof(ids[i]), "c%zu", i);
		claims[i] = (struct kwhy_claim){ids[i], "", "1", "J", "", i ? ids[i - 1] : "", "", ""};
	}
	assert_int_equal(kwhy_audit_of(claims, CHAIN, &audit, &error), KWHY_OK);
	assert_int_equal(audit.finding_count, 0);
	kwhy_audit_done(&audit);
	for (size_t i = 0; i < CHAIN; i++)
		claims[i].from = i + 1 < CHAIN ? ids[i + 1] : "";
	assert_int_equal(kwhy_audit_of(claims, CHAIN, &audit, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "claim 'c100' ends a chain of more than 100"));
	kwhy_audit_done(&audit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_have_prefixes_and_quotients),
		cmocka_unit_test(printed_figures_are_the_interval_of_their_digits),
		cmocka_unit_test(formulas_keep_order_units_and_intervals),
		cmocka_unit_test(a_figure_that_comes_twice_is_one_figure),
		cmocka_unit_test(what_turns_within_the_interval_keeps_the_outer_bound),
		cmocka_unit_test(what_is_no_formula_is_named),
		cmocka_unit_test(a_unit_slip_is_told_with_the_right_value),
		cmocka_unit_test(a_unit_slip_is_one_below_zero_too),
		cmocka_unit_test(what_follows_from_a_misprint_is_told_with_what_follows_from_the_right_value),
		cmocka_unit_test(a_count_of_another_window_is_no_divisor),
		cmocka_unit_test(nothing_follows_from_amounts_of_different_windows),
		cmocka_unit_test(what_crosses_windows_contradicts_what_does_not),
		cmocka_unit_test(no_energy_above_the_highest_power_times_the_time),
		cmocka_unit_test(parts_that_last_longer_than_the_whole_overlap),
		cmocka_unit_test(unlike_units_bounds_mebibytes_and_contradictions),
		cmocka_unit_test(a_bound_below_zero_is_loose_ten_times_from_the_figure),
		cmocka_unit_test(a_confirmed_claim_is_not_what_contradicts),
		cmocka_unit_test(rounding_is_no_error),
		cmocka_unit_test(claims_that_cannot_be_read_are_named),
		cmocka_unit_test(a_long_chain_of_claims_is_refused_unless_told_from_its_end),
	};

	return kwhy_test_main(tests, NULL, end);
}
