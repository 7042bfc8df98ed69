/* SPDX-License-Identifier: Apache-2.0 */
#include "planned.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

static void send(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us)
{
	build_issued_copy(build, issue("cudaMemcpyAsync", call_us, call_us + 2), 0,
		copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 1 << 20, start_us, end_us));
}

/*
 * A kernel of 100 us, a read-back and a copy back to the device of 50 us each, and a kernel of 100 us, queued
 * 1 us apart. keep-on-device must remove both copies.
 */
static void a_round_trip_goes_and_the_kernels_follow_each_other(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	launch(&build, 0, 10, 110);
	read_back(&build, 3, 111, 161);
	send(&build, 6, 162, 212);
	launch(&build, 9, 213, 313);
	plan = made(&build, "keep-on-device", 0, NULL);
	assert_int_equal(plan->before.time_ns, 303 * US);
	/* the run is 102 us shorter at 100 W of idle power; the copies drew 200 W more for 100 us */
	assert_int_equal(plan->changes[0].saved_nj, 102 * US * 100 + 100 * US * 200);
	assert_made(plan, 1, 201000);
}

/*
 * If less than half of the work was metered, its energy must be unknown, and neither 0 nor the metered part.
 */
static void where_the_meter_saw_less_than_half_of_the_work_no_energy_is_known(void **state)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find("keep-on-device"), 0};
	struct build build = build_new(1);
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	(void)state;
	launch(&build, 0, 10, 110);
	read_back(&build, 3, 111, 161);
	send(&build, 6, 162, 212);
	launch(&build, 9, 213, 313);
	build_finish(&build, true);
	build.ledger->devices[0].energy.edge_ns = 213 * US;
	assert_int_equal(kwhy_whatif_new(build.recording, build.ledger, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	assert_int_equal(plan->change_count, 1);
	assert_int_equal(plan->before.energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(plan->before.net_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(plan->changes[0].after.energy_nj, KWHY_UNKNOWN_NJ);
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

/*
 * Readings end 13 us before the run does. For that time the energy must be the ledger's estimate (edge_nj),
 * here 100 W of idle power.
 */
static void what_the_meter_did_not_see_is_what_the_ledger_estimates(void **state)
{
	struct kwhy_whatif_request change_request = {kwhy_whatif_change_find("keep-on-device"), 0};
	struct build build = build_new(1);
	struct kwhy_device_energy *energy;
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	(void)state;
	launch(&build, 0, 10, 110);
	read_back(&build, 3, 111, 161);
	send(&build, 6, 162, 212);
	launch(&build, 9, 213, 313);
	build_finish(&build, true);
	energy = &build.ledger->devices[0].energy;
	energy->end_ns = 300 * US;
	energy->edge_nj = 13 * US * 100;
	assert_int_equal(kwhy_whatif_new(build.recording, build.ledger, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, &change_request, 1, &plan, &error), KWHY_OK);
	assert_int_equal(plan->before.energy_nj, energy->attributed_nj + 13 * US * 100);
	/* net energy: without 100 W of idle power over the whole run */
	assert_int_equal(plan->before.net_nj, plan->before.energy_nj - plan->before.time_ns * 100);
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

static void last_read_backs_beyond_those_that_are_needed_go(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 10, 110);
	read_back(&build, 3, 111, 161);
	send(&build, 6, 162, 212);
	launch(&build, 9, 213, 313);
	read_back(&build, 12, 314, 364);
	read_back(&build, 15, 365, 415);
	assert_made(made(&build, "keep-on-device", 1, NULL), 1, 252000);
}

/*
 * 200 read-backs, 200 copies to the device and 200 read-backs of the same size. All of the first 400 can go,
 * as well as 199 of the last 200: only one result is needed at the end.
 */
static void however_many_arrays_are_passed_on_all_their_copies_go(void **state)
{
	struct build build = build_new(1);

	(void)state;
	launch(&build, 0, 10, 110);
	for (int i = 0; i < 600; i++)
		build_copy(&build, 0, i >= 200 && i < 400 ? KWHY_COPY_H2D : KWHY_COPY_D2H, 4096, 120 + 20 * i,
			130 + 20 * i);
	assert_made(made(&build, "keep-on-device", 1, NULL), 200, 120000);
}

static void what_is_copied_back_after_the_device_computed_stays(void **state)
{
	struct build build = build_new(1);

	(void)state;
	read_back(&build, 3, 111, 161);
	launch(&build, 0, 170, 180);
	send(&build, 6, 182, 212);
	assert_refused(made(&build, "keep-on-device", 0, NULL), "nothing is read back");
}

/*
 * The copies of 1,000 and 15,000 bytes show that a copy takes 5 us plus 1 us per 1,000 bytes. kwhy must use
 * this for the packed copy.
 */
static void a_packed_copy_takes_what_copies_of_its_size_take(void **state)
{
	struct build build = build_new(1);
	static const uint64_t bytes[] = {1000, 1000, 1000, 1000, 15000};
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 5; i++)
		build_issued_copy(&build, issue("cudaMemcpyAsync", i * 40, i * 40 + 2), 0,
			copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, bytes[i], i * 40 + 10,
				i * 40 + 15 + (int64_t)bytes[i] / 1000));
	launch(&build, 200, 210, 211); /* the shortest kernel: 1 us */
	/* one copy of 19,000 bytes takes 24 us, its kernel 1 us; the next call comes 38 us after the first */
	plan = made(&build, "pack-h2d", 0, NULL);
	assert_non_null(strstr(plan->changes[0].assumption,
		"takes what this recording says of its size, a kernel of 1.00 \xC2\xB5s (the shortest kernel "
		"seen) and "
		"a launch more"));
	assert_made(plan, 5, 41000);
}

/*
 * Returns a thread that copies 37 bytes to the device ten times, waiting for each copy, and then launches
 * three kernels of kernel_us.
 */
static struct build waited_sends(int64_t kernel_us)
{
	struct build build = build_new(1);

	for (int i = 0; i < 10; i++) {
		build_issued_copy(&build, issue("cudaMemcpyAsync", 16 * i, 16 * i + 5), 0,
			copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 37, 16 * i + 4, 16 * i + 5));
		build_call(&build, 0, "cudaStreamSynchronize", 16 * i + 6, 16 * i + 14);
	}
	for (int i = 0; i < 3; i++)
		launch(&build, 160 + 3 * i, 170 + (kernel_us + 1) * i, 170 + (kernel_us + 1) * i + kernel_us);
	return build;
}

static int64_t packing_saves_ns(struct build build, const struct kwhy_profile *profile)
{
	struct kwhy_plan *plan = made(&build, "pack-h2d", 0, profile);
	int64_t saved_ns;

	if (!plan->change_count)
		fail_msg("refused: %s", plan->refused[0].reason);
	saved_ns = plan->changes[0].saved_ns;
	kwhy_plan_free(plan);
	return saved_ns;
}

/*
 * Eight copies of 1 us, 50 us apart, come before a kernel, without recorded calls. Whether packing them saves
 * the host's time between them is unknown: the interval must contain both.
 */
static void where_no_call_is_recorded_the_time_between_may_stay(void **state)
{
	struct build build = build_new(1);
	struct kwhy_profile profile;
	struct kwhy_plan *plan;

	(void)state;
	kwhy_profile_init(&profile);
	profile.h2d_pinned_rate_bytes_per_s.value = 50e9;
	for (int i = 0; i < 8; i++)
		build_copy(&build, 0, KWHY_COPY_H2D, 37, 51 * i, 51 * i + 1);
	build_kernel(&build, 0, "k", 410, 420);
	plan = made(&build, "pack-h2d", 0, &profile);
	if (!plan->change_count)
		fail_msg("refused: %s", plan->refused[0].reason);
	assert_non_null(strstr(plan->changes[0].assumption, "no call says"));
	assert_true(plan->changes[0].after.time_ns < 70 * US);
	assert_in_range(plan->changes[0].after.time_high_ns, 400 * US, 425 * US);
	assert_true(plan->changes[0].after.time_low_ns <= plan->changes[0].after.time_ns);
	kwhy_plan_free(plan);
}

/*
 * Packing ten waited copies saves nine calls with their waits, and adds a kernel that scatters the data. The
 * saving must be the same whatever the length of the program's other kernels.
 */
static void what_packing_saves_does_not_depend_on_how_long_other_kernels_are(void **state)
{
	struct kwhy_profile profile;
	int64_t saved_ns;

	(void)state;
	kwhy_profile_init(&profile);
	profile.h2d_pinned_rate_bytes_per_s.value = 50e9;
	profile.queued_kernel_s.value = 1.4e-6;
	saved_ns = packing_saves_ns(waited_sends(100), &profile);
	/* 9 x 16 us of calls and waits less 2 us of launch */
	assert_in_range(saved_ns, 130 * US, 145 * US);
	assert_int_equal(packing_saves_ns(waited_sends(20), &profile), saved_ns);
	assert_int_equal(packing_saves_ns(waited_sends(3), &profile), saved_ns);
	assert_int_equal(packing_saves_ns(waited_sends(1), &profile), saved_ns);
	/*
	 * no figure of the profile, no short kernel: for the scattering kernel the time on an H100 is assumed
	 */
	profile.queued_kernel_s.value = NAN;
	assert_in_range(packing_saves_ns(waited_sends(100), &profile), saved_ns - 2 * US, saved_ns);
}

/*
 * Copies take 1 us per 1,000 bytes and no fixed time. Packed they would take as long and only delay the
 * kernel, so the change must be refused.
 */
static void copies_whose_time_is_that_of_their_bytes_are_not_packed(void **state)
{
	struct build build = build_new(1);
	static const uint64_t bytes[] = {20000, 20000, 20000, 160000};
	int64_t at_us = 10;

	(void)state;
	for (int i = 0; i < 4; i++) {
		int64_t end_us = at_us + (int64_t)bytes[i] / 1000;

		build_issued_copy(&build, issue("cudaMemcpyAsync", 3 * i, 3 * i + 2), 0,
			copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, bytes[i], at_us, end_us));
		at_us = end_us;
	}
	launch(&build, 200, at_us + 1, at_us + 3);
	assert_refused(made(&build, "pack-h2d", 0, NULL),
		"the 4 copies that follow each other up to the next "
		"read-back would take no less time as one");
}

/*
 * Two calls of copies, of 2 us each, are 1 us apart; 15 us later come launches for which the device waits.
 * The kernel that scatters the packed copy needs a launch, too.
 */
static void the_kernel_that_takes_a_packed_copy_apart_is_launched_too(void **state)
{
	struct build build = build_new(1);

	(void)state;
	for (int i = 0; i < 2; i++)
		build_issued_copy(&build, issue("cudaMemcpyAsync", 3 * i, 3 * i + 2), 0,
			copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 40, 10 + 3 * i, 11 + 3 * i));
	for (int i = 0; i < 3; i++)
		launch(&build, 20 + 3 * i, 30 + 6 * i, 35 + 6 * i);
	/*
	 * saved: the second call and the pause before it, 3 us; added: a launch of 2 us; so 1 us less than 37
	 * us
	 */
	assert_made(made(&build, "pack-h2d", 0, NULL), 2, 36000);
}

/*
 * After ten copies of 1 kB, which the change packs, a memset begins only 500 us after its call, and nothing
 * in the recording shows why. The expected time must let it begin as soon as kernels do after their calls;
 * the upper end must keep the delay.
 */
static void work_that_stalled_behind_work_that_goes_begins_as_kernels_do(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i < 8; i++)
		launch(&build, 10 * i, 10 * i + 4, 10 * i + 6);
	for (int i = 0; i < 10; i++)
		build_issued_copy(&build, issue("cudaMemcpyAsync", 100 + 10 * i, 102 + 10 * i), 0,
			copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 1000, 105 + 10 * i, 106 + 10 * i));
	build_issued_memset(&build, issue("cudaMemsetAsync", 200, 202), 0, 700, 702);
	plan = made(&build, "pack-h2d", 0, NULL);
	assert_int_equal(plan->before.time_ns, 698 * US);
	assert_true(plan->changes[0].after.time_ns < 220 * US);
	assert_true(plan->changes[0].after.time_high_ns > 500 * US);
	kwhy_plan_free(plan);
}

/*
 * Five seconds lie between the first kernel and 100 even steps of 1 ms. That the steps hardly differ says
 * nothing about how much the pause would differ in another run.
 */
static void a_pause_before_the_steps_is_not_how_steps_differ(void **state)
{
	enum { FIRST_US = 5000000, STEPS = 100, STEP_US = 1000 };
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	for (int i = 0; i <= STEPS; i++) {
		int64_t at_us = i ? FIRST_US + STEP_US * i : 0;

		launch(&build, at_us, at_us + 10, at_us + 50);
		build_issued_memset(
			&build, issue("cudaMemsetAsync", at_us + 4, at_us + 6), 0, at_us + 60, at_us + 90);
	}
	plan = made(&build, "host-speed", 100, NULL);
	/* the pause alone: 1.645 standard deviations (90 %) of 6.5 % of 5 s */
	assert_in_range(plan->changes[0].after.time_high_ns - plan->changes[0].after.time_ns, 530000 * US,
		540000 * US);
	kwhy_plan_free(plan);
}

static void a_read_back_parts_what_is_packed(void **state)
{
	struct build build = build_new(1);

	(void)state;
	send(&build, 0, 10, 20);
	read_back(&build, 23, 30, 40);
	send(&build, 43, 50, 60);
	assert_refused(made(&build, "pack-h2d", 0, NULL), "no two");
}

static int64_t made_ns(struct build *build, const char *id, const struct kwhy_profile *profile)
{
	struct kwhy_plan *plan = made(build, id, 0, profile);
	int64_t time_ns;

	assert_int_equal(plan->change_count, 1);
	time_ns = plan->changes[0].after.time_ns;
	kwhy_plan_free(plan);
	return time_ns;
}

static void copies_from_pageable_memory_take_the_rate_of_the_profile_and_do_not_block(void **state)
{
	struct build build = build_new(1);
	struct kwhy_profile profile;

	(void)state;
	kwhy_profile_init(&profile);
	profile.h2d_pinned_rate_bytes_per_s.value = 50e9;
	build_issued_copy(&build, issue("cudaMemcpyAsync", 0, 120), 0,
		copied(KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 1000000, 10, 110));
	for (int i = 0; i < 3; i++)
		launch(&build, 121 + 3 * i, 131 + 20 * i, 150 + 20 * i);
	/* 1 MB at 50 GB/s: 20 us, then 1.2 us, then the kernels as recorded, 59 us */
	assert_made(made(&build, "pinned", 0, &profile), 1, 80200);
}

/*
 * Four copies of 250 kB and one of 1 kB from pageable memory are packed into one (pack-h2d), which then comes
 * from page-locked memory (pinned): about 1 MB at 50 GB/s, 20 us.
 */
static void a_packed_copy_is_pinned_with_all_of_its_bytes(void **state)
{
	const struct kwhy_whatif_request change_requests[] = {
		{kwhy_whatif_change_find("pack-h2d"), 0}, {kwhy_whatif_change_find("pinned"), 0}};
	struct build build = build_new(1);
	struct kwhy_profile profile;
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	(void)state;
	kwhy_profile_init(&profile);
	profile.h2d_pinned_rate_bytes_per_s.value = 50e9;
	for (int i = 0; i < 5; i++)
		build_issued_copy(&build, issue("cudaMemcpyAsync", 50 * i, 50 * i + 45), 0,
			copied(KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, i < 4 ? 250000 : 1000, 50 * i + 5,
				50 * i + (i < 4 ? 40 : 10)));
	for (int i = 0; i < 3; i++)
		launch(&build, 251 + 3 * i, 261 + 4 * i, 263 + 4 * i);
	build_finish(&build, true);
	assert_int_equal(kwhy_whatif_new(build.recording, build.ledger, &profile, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_project(whatif, change_requests, 2, &plan, &error), KWHY_OK);
	if (plan->change_count != 2)
		fail_msg("refused: %s", plan->refused[0].reason);
	/* 20 us of copy and the rest of the run, with the launch of the kernel that scatters the data */
	assert_int_equal(plan->changes[1].after.time_ns, 36100);
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

/*
 * A copy of 102 MB from pageable memory takes 26.3 ms. Without a profile, the time from page-locked memory
 * can only be bounded: a T4's link (PCIe 3.0 x16) needs at least 6.47 ms.
 */
static void where_nobody_knows_its_rate_a_pinned_copy_is_no_faster_than_the_link(void **state)
{
	struct build build = build_new(1);
	struct kwhy_plan *plan;

	(void)state;
	build.recording->devices[0].name = "Tesla T4";
	build_issued_copy(&build, issue("cudaMemcpyAsync", 0, 26310), 0,
		copied(KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 102000000, 10, 26310));
	plan = made(&build, "pinned", 0, NULL);
	assert_int_equal(plan->change_count, 1);
	assert_int_equal(plan->changes[0].bound, KWHY_BOUND_UPPER);
	assert_non_null(strstr(plan->changes[0].assumption, "PCIe 3.0 x16"));
	assert_made(plan, 1, 6474609);
}

/*
 * As in frameworks, the call of a pageable copy fills staging buffers and returns 9 us before the device has
 * the last one; then come a wait and, 200 us later, the launch of a kernel of 100 us. With page-locked memory
 * the ten copies (50 us each) and ten kernels can follow each other with gaps of 1.2 us.
 */
static void a_copy_that_was_filled_by_its_call_blocks_no_longer(void **state)
{
	struct build build = build_new(1);
	struct kwhy_profile profile;

	(void)state;
	kwhy_profile_init(&profile);
	profile.h2d_pinned_rate_bytes_per_s.value = 20e9;
	for (int i = 0; i < 10; i++) {
		int64_t at = 1000 * i;

		build_issued_copy(&build, issue("cudaMemcpyAsync", at, at + 601), 0,
			copied(KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 1000000, at + 10, at + 610));
		build_call(&build, 0, "cudaStreamSynchronize", at + 602, at + 612);
		launch(&build, at + 812, at + 817, at + 917);
	}
	assert_in_range(
		made_ns(&build, "pinned", &profile), 10 * 150000 + 19 * 1200, 10 * 150000 + 10 * 250000);
}

/* If the recording does not state the sizes of the copies, their time cannot be projected. */
static void pinning_is_refused_where_sizes_are_not_known(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_issued_copy(&build, issue("cudaMemcpyAsync", 0, 120), 0,
		copied(KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, KWHY_UNKNOWN_BYTES, 10, 110));
	assert_refused(made(&build, "pinned", 0, NULL), "how large");
}

/*
 * The first launch, the only one into an idle stream, takes 5 ms, as it loads code. Other work must not be
 * projected with that delay. When the copies are gone, the last kernel begins when a usual call (2 us, from
 * 5,206 us on) returns. Of the host's 172 us before the first copy all but 1 us, usual between calls, stays;
 * of the wait 5 us stay, with 1 us before and after it.
 */
static void a_launch_that_loads_code_is_not_the_usual_one(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_issued_kernel(&build, issue("cudaLaunchKernel", 0, 5000), 0, 5010, 5020);
	for (int i = 0; i < 9; i++)
		launch(&build, 5002 + 3 * i, 5021 + 11 * i, 5031 + 11 * i);
	build_issued_copy(&build, issue("cudaMemcpyAsync", 5200, 5202), 0,
		copied(KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4000, 5210, 5220));
	build_call(&build, 0, "cudaStreamSynchronize", 5203, 5225);
	build_issued_copy(&build, issue("cudaMemcpyAsync", 5230, 5232), 0,
		copied(KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 4000, 5240, 5250));
	launch(&build, 5233, 5251, 5261);
	assert_made(made(&build, "keep-on-device", 0, NULL), 1, 208000);
}

/*
 * Returns ten launches of 2 us, one every 10 us, and a wait at the end. Each launches a kernel of 2 us that
 * begins 5 us after the begin of its launch.
 */
static struct build slow_launches(void)
{
	struct build build = build_new(1);

	for (int i = 0; i < 10; i++)
		launch(&build, 10 * i, 10 * i + 5, 10 * i + 7);
	build_call(&build, 0, "cudaStreamSynchronize", 93, 99);
	return build;
}

static void a_host_of_another_speed_has_calls_and_pauses_of_another_length(void **state)
{
	static const struct {
		uint32_t percent;
		int64_t after_ns;
	} cases[] = {
		{100, 92000}, /* from 5 us to 97 us */
		{200, 47000}, /* 2 x as fast: launches every 5 us */
		{50, 182000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build build = slow_launches();

		assert_made(made(&build, "host-speed", cases[i].percent, NULL), 10, cases[i].after_ns);
	}
}

static void a_recording_without_calls_tells_nothing_of_the_host(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "alone", 5, 7);
	assert_refused(made(&build, "host-speed", 200, NULL), "no calls of the host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_trip_goes_and_the_kernels_follow_each_other),
		cmocka_unit_test(where_the_meter_saw_less_than_half_of_the_work_no_energy_is_known),
		cmocka_unit_test(what_the_meter_did_not_see_is_what_the_ledger_estimates),
		cmocka_unit_test(last_read_backs_beyond_those_that_are_needed_go),
		cmocka_unit_test(however_many_arrays_are_passed_on_all_their_copies_go),
		cmocka_unit_test(what_is_copied_back_after_the_device_computed_stays),
		cmocka_unit_test(a_packed_copy_takes_what_copies_of_its_size_take),
		cmocka_unit_test(where_no_call_is_recorded_the_time_between_may_stay),
		cmocka_unit_test(what_packing_saves_does_not_depend_on_how_long_other_kernels_are),
		cmocka_unit_test(copies_whose_time_is_that_of_their_bytes_are_not_packed),
		cmocka_unit_test(the_kernel_that_takes_a_packed_copy_apart_is_launched_too),
		cmocka_unit_test(work_that_stalled_behind_work_that_goes_begins_as_kernels_do),
		cmocka_unit_test(a_pause_before_the_steps_is_not_how_steps_differ),
		cmocka_unit_test(a_read_back_parts_what_is_packed),
		cmocka_unit_test(copies_from_pageable_memory_take_the_rate_of_the_profile_and_do_not_block),
		cmocka_unit_test(a_packed_copy_is_pinned_with_all_of_its_bytes),
		cmocka_unit_test(where_nobody_knows_its_rate_a_pinned_copy_is_no_faster_than_the_link),
		cmocka_unit_test(a_copy_that_was_filled_by_its_call_blocks_no_longer),
		cmocka_unit_test(pinning_is_refused_where_sizes_are_not_known),
		cmocka_unit_test(a_launch_that_loads_code_is_not_the_usual_one),
		cmocka_unit_test(a_host_of_another_speed_has_calls_and_pauses_of_another_length),
		cmocka_unit_test(a_recording_without_calls_tells_nothing_of_the_host),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
