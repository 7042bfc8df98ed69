/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include "model/meter.h"
#include "model/response.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_bit(unsigned bits, unsigned most)
{
	return bits && !(bits & (bits - 1)) && bits <= most;
}

static void a_row_has_every_property(void **state)
{
	(void)state;
	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		const struct kwhy_meter_row *row = kwhy_meter_row(meter);

		if (!row->name || !*row->name)
			fail_msg("meter %d has no name", (int)meter);
		if (strlen(row->name) + 4 >=
			KWHY_METER_NAME_BYTES) /* room for a domain's number of up to 4 characters */
			fail_msg("%s is too long a name", row->name);
		if (row->unit >= KWHY_METER_UNIT_COUNT || row->response >= KWHY_METER_RESPONSE_COUNT)
			fail_msg("%s has no unit or no response", row->name);
		if (!is_one_bit(row->owner, KWHY_METER_OWNER_USER))
			fail_msg("%s has no owner", row->name);
		if (!is_one_bit(row->role, KWHY_METER_ROLE_MEANS))
			fail_msg("%s has no role", row->name);
		if (row->rank < 1)
			fail_msg("%s has no rank", row->name);
	}
}

static void a_name_ends_in_its_unit_and_only_counters_count_energy(void **state)
{
	static const char *const ends[KWHY_METER_UNIT_COUNT] = {"_mj", "_uj", "_mw"};

	(void)state;
	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		const struct kwhy_meter_row *row = kwhy_meter_row(meter);
		const char *end = row->name + strlen(row->name) - 3;

		if (strcmp(end, ends[row->unit]) != 0)
			fail_msg("%s does not end in %s", row->name, ends[row->unit]);
		if (kwhy_meter_is_counter(meter) != (kwhy_meter_unit_nj(meter) > 0))
			fail_msg("the role of %s does not fit its unit", row->name);
	}
}

static void a_name_finds_its_meter_alone(void **state)
{
	char text[KWHY_METER_NAME_BYTES];

	(void)state;
	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		enum kwhy_meter found = KWHY_METER_COUNT;
		uint32_t domain = 0;

		kwhy_meter_source(text, meter, 7);
		if (!kwhy_meter_find(text, strlen(text), &found, &domain) || found != meter)
			fail_msg("%s finds another meter", text);
		assert_int_equal(domain, strstr(kwhy_meter_name(meter), "-N_") ? 7 : 0);
	}
}

static void a_domain_has_up_to_four_digits(void **state)
{
	static const struct {
		const char *text;
		bool found;
		uint32_t domain;
	} names[] = {{"rapl.package-0_uj", true, 0}, {"rapl.package-9999_uj", true, 9999},
		{"rapl.package-10000_uj", false, 0}, {"rapl.package-_uj", false, 0},
		{"rapl.package-1_ujx", false, 0}, {"rapl.package-1_u", false, 0},
		{"rapl.package-1_mj", false, 0}, {"rapl.dram-12_uj", true, 12}, {"rapl.drum-1_uj", false, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		enum kwhy_meter meter;
		uint32_t domain = 0;

		if (kwhy_meter_find(names[i].text, strlen(names[i].text), &meter, &domain) != names[i].found)
			fail_msg("%s", names[i].text);
		assert_int_equal(domain, names[i].domain);
	}
}

/*
 * kwhy uses the meter with the best rank of an owner. If two meters of one owner had the same rank, the order
 * of their table rows would decide.
 */
static void ranks_of_one_owner_differ(void **state)
{
	const unsigned owners[] = {KWHY_METER_OF_DEVICE, KWHY_METER_OWNER_GPU_MEMORY,
		KWHY_METER_OWNER_PACKAGE, KWHY_METER_OWNER_DRAM, KWHY_METER_OWNER_BOARD};
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		const struct kwhy_meter_list list = kwhy_meters_ranked(
			owners[i], KWHY_METER_COUNTERS | KWHY_METER_POWERS);

		seen += list.count;
		for (size_t k = 1; k < list.count; k++)
			if (kwhy_meter_row(list.items[k - 1])->rank >= kwhy_meter_row(list.items[k])->rank)
				fail_msg("%s and %s have one rank", kwhy_meter_name(list.items[k - 1]),
					kwhy_meter_name(list.items[k]));
	}
	assert_int_equal(seen, KWHY_METER_COUNT);
}

/*
 * Checks that the ranked meters with these owners and roles contain the expected meters in this order; others
 * may lie between them.
 */
static void check_order(unsigned owners, unsigned roles, const char *const expected[], size_t count)
{
	const struct kwhy_meter_list list = kwhy_meters_ranked(owners, roles);
	size_t found = 0;

	for (size_t i = 0; i < list.count; i++)
		found += found < count && !strcmp(kwhy_meter_name(list.items[i]), expected[found]);
	if (found < count)
		fail_msg("%s is not in the list, or not in its place", expected[found]);
}

#define CHECK_ORDER(owners, roles, ...)                                \
	check_order(owners, roles, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void meters_come_best_first(void **state)
{
	(void)state;
	CHECK_ORDER(KWHY_METER_OF_DEVICE, KWHY_METER_COUNTERS | KWHY_METER_POWERS, "nvml.energy_mj",
		"rocm.energy_uj", "nvml.sample_mw", "nvml.instant_mw", "nvml.average_mw", "rocm.power_mw",
		"meter_mw");
	CHECK_ORDER(KWHY_METER_OWNER_GPU, KWHY_METER_ROLE_MEANS, "nvml.average_mw", "rocm.power_mw");
	CHECK_ORDER(KWHY_METER_OWNER_BOARD, KWHY_METER_COUNTERS | KWHY_METER_POWERS, "hwmon.energy-N_uj",
		"hwmon.power-N_mw");
}

static void only_meters_of_the_owner_and_the_role_are_listed(void **state)
{
	const struct kwhy_meter_list list = kwhy_meters_ranked(KWHY_METER_OWNER_GPU, KWHY_METER_ROLE_MEANS);

	(void)state;
	assert_true(list.count >= 2);
	for (size_t i = 0; i < list.count; i++) {
		assert_int_equal(kwhy_meter_row(list.items[i])->owner, KWHY_METER_OWNER_GPU);
		assert_int_equal(kwhy_meter_row(list.items[i])->role, KWHY_METER_ROLE_MEANS);
	}
}

static void a_response_is_stated_and_means_have_a_window(void **state)
{
	(void)state;
	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		const struct kwhy_response response = kwhy_response_of(meter);

		if (!(response.delay_sd_s > 0) || !(response.counter_ratio > 0) ||
			!(response.power_ratio > 0) || !(response.stamp_sd_s > 0))
			fail_msg("the response of %s lacks an uncertainty", kwhy_meter_name(meter));
		if ((response.average_window_s > 0) != kwhy_meter_is_mean(meter))
			fail_msg("the window of %s does not fit its role", kwhy_meter_name(meter));
	}
}

/*
 * A machine profile has measured response times of NVML's meters; meters of other vendors must keep their
 * defaults.
 */
static void a_profile_replaces_the_response_of_nvmls_meters_only(void **state)
{
	struct kwhy_profile profile = {0};

	(void)state;
	profile.sensor.time_constant_s = (struct kwhy_measured){13.1e-3, 0.6e-3};
	profile.sensor.delay_s = (struct kwhy_measured){NAN, NAN};
	profile.sensor.average_window_s = 1.01;
	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		const struct kwhy_response known = kwhy_response_of_profile(meter, &profile),
					   before = kwhy_response_of(meter);
		const bool is_nvml = kwhy_meter_row(meter)->response == KWHY_METER_RESPONSE_H200;

		assert_int_equal(known.has_time_constant, is_nvml);
		assert_false(known.has_delay);
		assert_true(known.delay_s == before.delay_s && known.delay_sd_s == before.delay_sd_s);
		assert_true(known.time_constant_s == (is_nvml ? 13.1e-3 : before.time_constant_s));
		assert_true(known.average_window_s ==
			(is_nvml && kwhy_meter_is_mean(meter) ? 1.01 : before.average_window_s));
	}
	profile.sensor.average_window_s = NAN;
	assert_true(kwhy_response_of_profile(KWHY_METER_NVML_AVERAGE, &profile).average_window_s == 1);
}

static char *read_file(const char *path)
{
	char *text = calloc(1, 1 << 16);
	FILE *file = fopen(path, "r");

	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	assert_int_equal(fclose(file), 0);
	return text;
}

static void every_meter_has_a_row_in_the_documentation(void **state)
{
	char *page = read_file(KWHY_SOURCE_DIR "/docs/meters.md");

	(void)state;
	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		char cell[KWHY_METER_NAME_BYTES + 4];
		const char *line;

		snprintf(cell, sizeof(cell), "`%s`", kwhy_meter_name(meter));
		line = strstr(page, cell);
		while (line && line > page && line[-1] != '\n')
			line--;
		if (!line || line[0] != '|')
			fail_msg("docs/meters.md has no row of %s", cell);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_every_property),
		cmocka_unit_test(a_name_ends_in_its_unit_and_only_counters_count_energy),
		cmocka_unit_test(a_name_finds_its_meter_alone),
		cmocka_unit_test(a_domain_has_up_to_four_digits),
		cmocka_unit_test(ranks_of_one_owner_differ),
		cmocka_unit_test(meters_come_best_first),
		cmocka_unit_test(only_meters_of_the_owner_and_the_role_are_listed),
		cmocka_unit_test(a_response_is_stated_and_means_have_a_window),
		cmocka_unit_test(a_profile_replaces_the_response_of_nvmls_meters_only),
		cmocka_unit_test(every_meter_has_a_row_in_the_documentation),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
