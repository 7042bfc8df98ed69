/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "property/time_plan.h"
#include "property/time_reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Checks what must hold for the times in the ledger of every recording, on small random recordings. */

enum { CASES = 6000 };

static struct kwhy_error error;

struct made {
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;
};

static struct made make(const struct plan *plan, const struct plan_variant *variant)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct made made = {.recording = plan_build(plan, variant)};

	assert_int_equal(kwhy_ledger_new(made.recording, &options, &made.ledger, &error), KWHY_OK);
	return made;
}

static void made_free(struct made *made)
{
	kwhy_ledger_free(made->ledger);
	kwhy_recording_free(made->recording);
}

/* Lists all integer members of a device's time. */
#define INTEGERS(X)              \
	X(span_ns)               \
	X(busy_ns)               \
	X(idle_ns)               \
	X(compute_ns)            \
	X(collective_ns)         \
	X(copy_ns)               \
	X(memset_ns)             \
	X(overlap_ns)            \
	X(sync_ns)               \
	X(launch_ns)             \
	X(alloc_ns)              \
	X(host_ns)               \
	X(idle_gaps)             \
	X(sync_gaps)             \
	X(launch_gaps)           \
	X(alloc_gaps)            \
	X(host_gaps)             \
	X(kernel_count)          \
	X(kernel_total_ns)       \
	X(kernel_union_ns)       \
	X(collective_count)      \
	X(collective_total_ns)   \
	X(collective_union_ns)   \
	X(collective_overlap_ns) \
	X(collective_exposed_ns) \
	X(copy_total_ns)         \
	X(copy_union_ns)         \
	X(copy_count)            \
	X(memset_count)          \
	X(memset_bytes)          \
	X(memset_unknown_bytes)  \
	X(memset_total_ns)       \
	X(memset_union_ns)       \
	X(small_h2d_count)       \
	X(graph_count)           \
	X(stream_count)          \
	X(max_concurrency)

static void assert_same_time(
	const struct kwhy_device_time *a, const struct kwhy_device_time *b, uint64_t seed)
{
#define X(field)                                                                            \
	if ((int64_t)a->field != (int64_t)b->field)                                         \
		fail_msg("seed %" PRIu64 ": " #field " is %" PRId64 ", not %" PRId64, seed, \
			(int64_t)a->field, (int64_t)b->field);
	INTEGERS(X)
#undef X
}

static void every_figure_is_what_asking_every_nanosecond_gives(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct made made = make(&plan, &whole);

		for (uint32_t device = 0; device < plan.device_count; device++) {
			struct kwhy_device_time expected = reference_time(&plan, device);

			assert_same_time(&made.ledger->devices[device].time, &expected, seed);
		}
		made_free(&made);
	}
}

static void streams_are_what_asking_every_nanosecond_gives(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct made made = make(&plan, &whole);

		for (size_t i = 0; i < made.ledger->stream_count; i++) {
			const struct kwhy_stream_sum *sum = &made.ledger->streams[i];
			struct kwhy_stream_sum expected = reference_stream(&plan, sum->stream);

			assert_int_equal(sum->busy_ns, expected.busy_ns);
			assert_int_equal(sum->alone_ns, expected.alone_ns);
			assert_true(sum->count > 0 && sum->total_ns >= sum->busy_ns);
		}
		made_free(&made);
	}
}

static void assert_range(const struct made *made, const struct plan *plan, const struct kwhy_range_sum *sum)
{
	uint32_t number;
	struct kwhy_range_sum expected;

	assert_int_equal(
		sscanf(kwhy_names_get(&made->recording->names, sum->name), "range %" SCNu32, &number), 1);
	expected = reference_range(plan, number);
	assert_int_equal(sum->count, 1);
	assert_int_equal(sum->activity_count, expected.activity_count);
	assert_int_equal(sum->device_ns, expected.device_ns);
	assert_int_equal(sum->busy_ns, expected.busy_ns);
	assert_int_equal(sum->host_ns, plan->ranges[number].end_ns - plan->ranges[number].start_ns);
}

static void ranges_and_steps_are_what_asking_every_nanosecond_gives(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct made made = make(&plan, &whole);

		assert_int_equal(made.ledger->range_count + made.ledger->step_count, plan.range_count);
		for (size_t i = 0; i < made.ledger->range_count; i++)
			assert_range(&made, &plan, &made.ledger->ranges[i]);
		for (size_t i = 0; i < made.ledger->step_count; i++)
			assert_range(&made, &plan, &made.ledger->steps[i]);
		made_free(&made);
	}
}

static void assert_partition(const struct kwhy_device_time *time)
{
	assert_int_equal(
		time->compute_ns + time->collective_ns + time->copy_ns + time->memset_ns + time->overlap_ns,
		time->busy_ns);
	assert_int_equal(time->busy_ns + time->idle_ns, time->span_ns);
	if (time->sync_ns != KWHY_UNKNOWN_NS)
		assert_int_equal(
			time->sync_ns + time->launch_ns + time->alloc_ns + time->host_ns, time->idle_ns);
	assert_true(time->kernel_union_ns <= time->kernel_total_ns);
	assert_true(time->collective_union_ns <= time->collective_total_ns);
	assert_true(time->copy_union_ns <= time->copy_total_ns);
	assert_true(time->memset_union_ns <= time->memset_total_ns);
	assert_true(time->collective_overlap_ns + time->collective_exposed_ns == time->collective_union_ns);
	assert_true(time->span_ns == 0 || (time->busy_ratio >= 0 && time->busy_ratio <= 1));
	assert_false(time->sm_weighted_ratio > time->busy_ratio * (1 + 1e-12));
}

/*
 * Checks that the times of a device's accounts add up to the times of all activities, each once, and to all
 * idle time.
 */
static void assert_accounts(const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_device_time *time = &device_ledger->time;
	int64_t work_ns = 0, idle_ns = 0;
	uint64_t count = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];
		bool idle = kwhy_category_is_idle(account->category);

		idle_ns += idle ? account->time_ns : 0;
		work_ns += idle ? 0 : account->time_ns;
		count += idle ? 0 : account->count;
	}
	assert_int_equal(idle_ns, time->idle_ns);
	assert_int_equal(work_ns, time->kernel_total_ns + time->copy_total_ns + time->memset_total_ns);
	assert_int_equal(count, time->kernel_count + time->copy_count + time->memset_count);
}

static void the_categories_partition_the_span_and_the_accounts_hold_all_of_it(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole();
		struct made made = make(&plan, &whole);

		for (size_t device = 0; device < plan.device_count; device++) {
			assert_partition(&made.ledger->devices[device].time);
			assert_accounts(&made.ledger->devices[device]);
		}
		made_free(&made);
	}
}

/*
 * Compares all figures of two ledgers that must depend neither on the order in which rows were added nor on a
 * shift of all times. Names are compared as text, as their ids may differ.
 */
static void assert_same_ledger(const struct made *a, const struct made *b, uint64_t seed)
{
	assert_int_equal(a->ledger->range_count, b->ledger->range_count);
	assert_int_equal(a->ledger->stream_count, b->ledger->stream_count);
	for (size_t device = 0; device < a->ledger->device_count; device++) {
		const struct kwhy_device_ledger *left = &a->ledger->devices[device];
		const struct kwhy_device_ledger *right = &b->ledger->devices[device];

		assert_same_time(&left->time, &right->time, seed);
		assert_memory_equal(
			&left->time.sm_weighted_ratio, &right->time.sm_weighted_ratio, sizeof(double));
		assert_int_equal(left->account_count, right->account_count);
		for (size_t i = 0; i < left->account_count; i++) {
			assert_string_equal(left->accounts[i].name, right->accounts[i].name);
			assert_int_equal(left->accounts[i].time_ns, right->accounts[i].time_ns);
			assert_int_equal(left->accounts[i].count, right->accounts[i].count);
		}
	}
	for (size_t i = 0; i < a->ledger->range_count; i++)
		assert_int_equal(a->ledger->ranges[i].busy_ns, b->ledger->ranges[i].busy_ns);
	assert_memory_equal(a->ledger->streams, b->ledger->streams,
		a->ledger->stream_count * sizeof(*a->ledger->streams));
}

static void the_order_of_rows_and_the_origin_of_the_clock_change_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole(), changed = whole;
		struct made made = make(&plan, &whole), other;

		changed.order_seed = seed + 1;
		changed.shift_ns = seed % 2 ? 1795245124478730000 : -1000;
		other = make(&plan, &changed);
		assert_same_ledger(&made, &other, seed);
		made_free(&made);
		made_free(&other);
	}
}

/*
 * Finds a time interval between activities in which none runs, where the plan can be cut in two. Returns
 * false if there is none.
 */
static bool find_gap(const struct plan *plan, int64_t *start_ns, int64_t *end_ns)
{
	for (size_t i = 0; i < plan->activity_count; i++) {
		int64_t last_ns = plan->activities[i].end_ns, next_ns = INT64_MAX;

		for (size_t k = 0; k < plan->activity_count; k++) {
			if (plan->activities[k].start_ns > last_ns && plan->activities[k].start_ns < next_ns)
				next_ns = plan->activities[k].start_ns;
			if (plan->activities[k].start_ns <= last_ns && plan->activities[k].end_ns > last_ns)
				next_ns = INT64_MIN;
		}
		*start_ns = last_ns;
		*end_ns = next_ns;
		if (next_ns != INT64_MAX && next_ns > last_ns)
			return true;
	}
	return false;
}

static void assert_additive(const struct kwhy_device_time *whole, const struct kwhy_device_time *early,
	const struct kwhy_device_time *late, int64_t gap_ns)
{
	assert_int_equal(whole->busy_ns, early->busy_ns + late->busy_ns);
	assert_int_equal(whole->compute_ns, early->compute_ns + late->compute_ns);
	assert_int_equal(whole->collective_ns, early->collective_ns + late->collective_ns);
	assert_int_equal(whole->copy_ns, early->copy_ns + late->copy_ns);
	assert_int_equal(whole->memset_ns, early->memset_ns + late->memset_ns);
	assert_int_equal(whole->overlap_ns, early->overlap_ns + late->overlap_ns);
	assert_int_equal(whole->kernel_union_ns, early->kernel_union_ns + late->kernel_union_ns);
	assert_int_equal(
		whole->collective_exposed_ns, early->collective_exposed_ns + late->collective_exposed_ns);
	assert_int_equal(whole->idle_ns, early->idle_ns + late->idle_ns + gap_ns);
	assert_int_equal(whole->idle_gaps, early->idle_gaps + late->idle_gaps + 1);
	assert_int_equal(whole->kernel_total_ns, early->kernel_total_ns + late->kernel_total_ns);
	if (whole->sync_ns == KWHY_UNKNOWN_NS)
		return;
	assert_true(whole->sync_ns >= early->sync_ns + late->sync_ns);
	assert_true(whole->launch_ns >= early->launch_ns + late->launch_ns);
	assert_true(whole->alloc_ns >= early->alloc_ns + late->alloc_ns);
	assert_true(whole->host_ns >= early->host_ns + late->host_ns);
}

static void cut_where_a_device_is_idle_the_parts_add_up_to_the_whole(void **state)
{
	size_t tried = 0;

	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct plan plan = plan_make(seed);
		struct plan_variant whole = plan_whole(), early = whole, late = whole;
		struct made all, first, second;
		int64_t start_ns, end_ns;

		for (size_t i = 0; i < plan.stream_count; i++)
			plan.stream_device[i] = 0;
		if (!find_gap(&plan, &start_ns, &end_ns))
			continue;
		early.to_ns = late.from_ns = end_ns;
		all = make(&plan, &whole);
		first = make(&plan, &early);
		second = make(&plan, &late);
		assert_additive(&all.ledger->devices[0].time, &first.ledger->devices[0].time,
			&second.ledger->devices[0].time, end_ns - start_ns);
		made_free(&all);
		made_free(&first);
		made_free(&second);
		tried++;
	}
	assert_true(tried > CASES / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_is_what_asking_every_nanosecond_gives),
		cmocka_unit_test(streams_are_what_asking_every_nanosecond_gives),
		cmocka_unit_test(ranges_and_steps_are_what_asking_every_nanosecond_gives),
		cmocka_unit_test(the_categories_partition_the_span_and_the_accounts_hold_all_of_it),
		cmocka_unit_test(the_order_of_rows_and_the_origin_of_the_clock_change_nothing),
		cmocka_unit_test(cut_where_a_device_is_idle_the_parts_add_up_to_the_whole),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
