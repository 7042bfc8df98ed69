/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of sections are added to a sum, from which a digest of at most 100 kB is made. */
#include "cmocka_all.h"
#include "digest/fold.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_error error;

/* What a section has: a device that computes from start_ns to end_ns, and what it ran. */
struct section {
	uint32_t rank;
	int64_t start_ns, end_ns;
	const char *kernel;
	int collectives;
	int64_t readings, clock_hz;
};

static void add_account(struct kwhy_digest *digest, const char *name, int64_t count, int64_t time_ns)
{
	struct kwhy_digest_account *row = KWHY_DIGEST_ADD(digest, account, &error);

	*row = (struct kwhy_digest_account){.category = "compute",
		.name = name,
		.accounts = 1,
		.count = count,
		.bytes = 0,
		.time_ns = time_ns,
		.gross_nj = 3 * time_ns,
		.idle_nj = time_ns,
		.net_nj = 2 * time_ns,
		.low_nj = 2 * time_ns,
		.high_nj = 4 * time_ns,
		.basis = "data"};
}

static void add_collectives(struct kwhy_digest *digest, const struct section *section)
{
	struct kwhy_digest_communicator *communicator = KWHY_DIGEST_ADD(digest, communicator, &error);
	struct kwhy_digest_operation *operation = KWHY_DIGEST_ADD(digest, operation, &error);

	*communicator = (struct kwhy_digest_communicator){.size = KWHY_NONE,
		.collectives = section->collectives,
		.total_ns = 10 * section->collectives};
	*operation = (struct kwhy_digest_operation){.name = "all_reduce", .meets = 1};
	for (int i = 0; i < section->collectives; i++)
		*(struct kwhy_digest_collective *)KWHY_DIGEST_ADD(
			digest, collective, &error) = (struct kwhy_digest_collective){.sequence = i,
			.enter_ns = section->start_ns + 20 * i,
			.exit_ns = section->start_ns + 20 * i + 10};
}

static struct kwhy_digest make(const struct section *section)
{
	struct kwhy_digest digest = {0};
	const int64_t length_ns = section->end_ns - section->start_ns;
	struct kwhy_digest_digest *about = KWHY_DIGEST_ADD(&digest, digest, &error);
	struct kwhy_digest_device *device = KWHY_DIGEST_ADD(&digest, device, &error);
	struct kwhy_digest_category *category = KWHY_DIGEST_ADD(&digest, category, &error);
	struct kwhy_digest_gauge *gauge = KWHY_DIGEST_ADD(&digest, gauge, &error);

	about->schema = KWHY_DIGEST_SCHEMA;
	about->identity = "00000000000000ff";
	about->rank = section->rank;
	about->start_ns = section->start_ns;
	about->end_ns = section->end_ns;
	about->origin_unix_ns = 1000;
	about->collectives = section->collectives;
	about->kept_ratio = 1;
	*device = (struct kwhy_digest_device){.uuid = "GPU-1",
		.first_ns = section->start_ns,
		.last_ns = section->end_ns,
		.span_ns = length_ns,
		.busy_ns = length_ns,
		.compute_ns = length_ns,
		.kernels = 2,
		.measured_nj = 5 * length_ns};
	category->device = 0;
	category->category = "compute";
	category->span_ns = length_ns;
	*gauge = (struct kwhy_digest_gauge){.gauge = "sm_clock_hz",
		.readings = section->readings,
		.least = 1,
		.median = section->clock_hz,
		.most = 9};
	add_account(&digest, section->kernel, 2, length_ns);
	add_account(&digest, "copy_kernel", 1, 7);
	if (section->collectives)
		add_collectives(&digest, section);
	return digest;
}

static void fold(struct kwhy_digest *sum, const struct section *section)
{
	struct kwhy_digest next = make(section);

	assert_int_equal(kwhy_digest_fold(sum, &next, &error), KWHY_OK);
	kwhy_digest_done(&next);
}

static const struct kwhy_digest_account *account_of(const struct kwhy_digest *sum, const char *name)
{
	for (size_t i = 0; i < sum->account_count; i++)
		if (!strcmp(sum->account[i].name, name))
			return &sum->account[i];
	return NULL;
}

static void accounts_times_and_energies_add_up(void **state)
{
	const struct section sections[] = {{3, 100, 300, "gemm", 0, 10, 1000},
		{3, 350, 400, "gemm", 0, 30, 2000}, {3, 400, 500, "conv", 0, 0, 0}};
	struct kwhy_digest sum = {0};
	const struct kwhy_digest_account *gemm;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		fold(&sum, &sections[i]);
	gemm = account_of(&sum, "gemm");
	assert_int_equal(sum.account_count, 3);
	assert_int_equal(gemm->count, 4);
	assert_int_equal(gemm->time_ns, 250);
	assert_int_equal(gemm->gross_nj, 750);
	assert_int_equal(gemm->low_nj, 500);
	assert_int_equal(account_of(&sum, "copy_kernel")->count, 3);
	assert_int_equal(account_of(&sum, "conv")->time_ns, 100);
	assert_int_equal(sum.device_count, 1);
	assert_int_equal(sum.device->first_ns, 100);
	assert_int_equal(sum.device->last_ns, 500);
	assert_int_equal(sum.device->span_ns, 400);
	assert_int_equal(sum.device->busy_ns, 350);
	assert_int_equal(sum.device->idle_ns, 50); /* between the first two sections */
	assert_int_equal(sum.device->kernels, 6);
	assert_int_equal(sum.device->measured_nj, 5 * 350);
	assert_int_equal(sum.category_count, 2);
	assert_int_equal(sum.category[0].accounts, 3);
	assert_int_equal(sum.category[0].span_ns + sum.category[1].span_ns, sum.device->span_ns);
	assert_string_equal(sum.category[1].category, "idle");
	assert_int_equal(sum.gauge->median, 1750);
	assert_int_equal(sum.digest->end_ns, 500);
	kwhy_digest_done(&sum);
}

/* An activity of the first section still runs where the second begins. */
static void time_in_two_sections_counts_once(void **state)
{
	const struct section sections[] = {{3, 100, 300, "gemm", 0, 0, 0}, {3, 280, 400, "gemm", 0, 0, 0}};
	struct kwhy_digest sum = {0};

	(void)state;
	fold(&sum, &sections[0]);
	fold(&sum, &sections[1]);
	assert_int_equal(sum.device->span_ns, 300);
	assert_int_equal(sum.device->busy_ns, 300);
	assert_int_equal(sum.category->span_ns, 300);
	kwhy_digest_done(&sum);
}

static void collectives_are_numbered_through_and_bounded(void **state)
{
	struct section section = {3, 0, 60000, "gemm", 3000, 0, 0};
	struct kwhy_digest sum = {0}, digest = {0};
	size_t bytes;

	(void)state;
	for (int i = 0; i < 5; i++) {
		fold(&sum, &section);
		section.start_ns += 60000;
		section.end_ns += 60000;
	}
	assert_int_equal(sum.digest->collectives, 15000);
	assert_int_equal(sum.communicator_count, 1);
	assert_int_equal(sum.communicator->collectives, 15000);
	assert_in_range(sum.collective_count, 1000, 4096);
	for (size_t i = 0; i < sum.collective_count; i++) {
		assert_true(kwhy_digest_keeps(sum.collective[i].sequence, sum.digest->kept_ratio));
		assert_int_equal(sum.collective[i].enter_ns, 20 * sum.collective[i].sequence);
	}
	assert_int_equal(sum.communicator->kept_ns, 10 * (int64_t)sum.collective_count);
	assert_int_equal(kwhy_digest_fit(&sum, &digest, &error), KWHY_OK);
	assert_int_equal(kwhy_digest_size(&digest, &bytes, &error), KWHY_OK);
	assert_true(bytes <= KWHY_DIGEST_BYTES_MAX);
	assert_true(digest.collective_count > 500);
	kwhy_digest_done(&digest);
	kwhy_digest_done(&sum);
}

static void a_digest_of_many_accounts_keeps_the_largest_and_sums_the_rest(void **state)
{
	enum { ACCOUNTS = 1500 };
	struct kwhy_digest sum = {0}, digest = {0};
	static char names[ACCOUNTS][16];
	int64_t time_ns = 0;
	size_t bytes;

	(void)state;
	for (int i = 0; i < ACCOUNTS; i++) {
		snprintf(names[i], sizeof(names[i]), "kernel %d", i);
		fold(&sum, &(struct section){3, 10000 * i, 10000 * i + 100 + i, names[i], 0, 0, 0});
	}
	assert_int_equal(sum.account_count, ACCOUNTS + 1);
	assert_int_equal(kwhy_digest_fit(&sum, &digest, &error), KWHY_OK);
	assert_int_equal(kwhy_digest_size(&digest, &bytes, &error), KWHY_OK);
	assert_true(bytes <= KWHY_DIGEST_BYTES_MAX);
	assert_string_equal(digest.account[0].name, "copy_kernel");
	assert_string_equal(digest.account[1].name, names[ACCOUNTS - 1]);
	for (size_t i = 0; i < digest.account_count; i++)
		time_ns += digest.account[i].time_ns;
	assert_int_equal(time_ns, sum.device->busy_ns + 7 * ACCOUNTS);
	assert_null(digest.account[digest.account_count - 1].name);
	kwhy_digest_done(&digest);
	kwhy_digest_done(&sum);
}

/* The device of a rank that has not used it yet has a sum of its own, without a rank. */
static void an_unused_device_is_taken_in(void **state)
{
	struct kwhy_digest sum = {0}, unused = make(&(struct section){KWHY_NONE, 0, 50, "none", 0, 0, 0});

	(void)state;
	unused.device->busy_ns = unused.device->kernels = unused.device->compute_ns = unused.device
											      ->span_ns = 0;
	unused.account_count = unused.category_count = 0;
	fold(&sum, &(struct section){3, 100, 300, "gemm", 0, 0, 0});
	assert_int_equal(kwhy_digest_fold(&sum, &unused, &error), KWHY_OK);
	assert_int_equal(sum.digest->rank, 3);
	assert_int_equal(sum.device_count, 1);
	assert_int_equal(sum.device->first_ns, 100);
	assert_int_equal(sum.device->idle_ns, 0);
	assert_int_equal(sum.device->measured_nj, 5 * 250);
	kwhy_digest_done(&unused);
	kwhy_digest_done(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts_times_and_energies_add_up),
		cmocka_unit_test(time_in_two_sections_counts_once),
		cmocka_unit_test(collectives_are_numbered_through_and_bounded),
		cmocka_unit_test(a_digest_of_many_accounts_keeps_the_largest_and_sums_the_rest),
		cmocka_unit_test(an_unused_device_is_taken_in),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
