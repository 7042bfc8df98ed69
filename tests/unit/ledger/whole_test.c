/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/whole_make.h"
#include "unit/ledger/whole_text.h"

#include "base/file.h"
#include "unit/guarded_memory.h"

#include <stdlib.h>
#include <string.h>

/*
 * Compares every figure of the ledgers of many small recordings with stored texts. KWHY_UPDATE_GOLDEN=1
 * rewrites the stored texts; read the difference before you commit it.
 */

#define FOLDER KWHY_SOURCE_DIR "/tests/unit/ledger/whole/"

enum { LINE_BYTES = 200 };

/* How much of a case's text is stored. */
enum stored { STORED_WHOLE, STORED_REALS, STORED_DIGEST };

struct cases {
	const char *file; /* name of the stored text */
	void (*make)(struct whole_made *made, uint64_t seed);
	uint64_t from, to; /* seeds [from, to) */
	enum stored stored;
};

/* Checks laws that hold whatever the stored texts say: all parts of the time and of the energy add up. */
static void check_books(const struct kwhy_device_ledger *device, bool has_calls)
{
	const struct kwhy_device_time *time = &device->time;
	const struct kwhy_device_energy *energy = &device->energy;
	int64_t gross_nj = 0, net_nj = 0, idle_nj = 0;

	assert_int_equal(
		time->compute_ns + time->collective_ns + time->copy_ns + time->memset_ns + time->overlap_ns,
		time->busy_ns);
	assert_int_equal(
		time->busy_ns + time->idle_ns + time->probing_ns + time->unrecorded_ns, time->span_ns);
	if (has_calls && time->sync_ns != KWHY_UNKNOWN_NS)
		assert_int_equal(
			time->sync_ns + time->launch_ns + time->alloc_ns + time->host_ns, time->idle_ns);
	for (size_t i = 0; i < device->account_count && energy->known; i++) {
		const struct kwhy_account *account = &device->accounts[i];

		if (!energy->modelled)
			assert_true(account->low_nj <= account->gross_nj &&
				account->gross_nj <= account->high_nj);
		if (account->gross_nj == KWHY_UNKNOWN_NJ)
			continue;
		gross_nj += account->gross_nj;
		net_nj += account->net_nj;
		idle_nj += account->idle_nj;
	}
	if (!energy->known)
		return;
	assert_int_equal(gross_nj, energy->attributed_nj);
	if (energy->modelled) /* without a meter, idle power may be unknown */
		return;
	assert_int_equal(gross_nj, energy->measured_nj);
	assert_int_equal(gross_nj, net_nj + idle_nj);
}

/* Writes the text of a case's ledger, or of the refusal. */
static void write_case(FILE *out, struct whole_made *made)
{
	struct kwhy_ledger *ledger = NULL;
	enum kwhy_status status;

	OK(kwhy_recording_finish(made->recording, &error));
	status = made->of_program
		? kwhy_ledger_new_of_program(made->recording, &made->options, &ledger, &error)
		: kwhy_ledger_new(made->recording, &made->options, &ledger, &error);
	if (status)
		fprintf(out, "refused: %s\n", error.text);
	else
		whole_text_write(out, ledger, made->recording);
	for (size_t d = 0; !status && d < ledger->device_count; d++)
		check_books(&ledger->devices[d], made->recording->has_calls);
	build_free(made->recording, ledger);
}

static void add_case(FILE *out, const struct cases *cases, uint64_t seed)
{
	struct whole_made made;
	char *text = NULL;
	size_t size;
	FILE *own = open_memstream(&text, &size);

	cases->make(&made, seed);
	write_case(own, &made);
	assert_int_equal(fclose(own), 0);
	fprintf(out, "case %llu%s", (unsigned long long)seed, cases->stored == STORED_WHOLE ? "\n" : "");
	if (cases->stored == STORED_WHOLE)
		fputs(text, out);
	else
		whole_text_shorten(out, text, cases->stored == STORED_DIGEST);
	__real_free(text); /* the C library's own memory */
}

static const char *line_of(const char *text, size_t line)
{
	for (; line > 1 && text; line--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text : "";
}

static void compare(const char *path, const char *expected, const char *got)
{
	const size_t line = whole_text_difference(expected, got);

	if (line)
		fail_msg("%s differs in line %zu: '%.*s' became '%.*s'; KWHY_UPDATE_GOLDEN=1 accepts it",
			path, line, LINE_BYTES, line_of(expected, line), LINE_BYTES, line_of(got, line));
}

static void check(const struct cases *cases)
{
	const char *update = getenv("KWHY_UPDATE_GOLDEN");
	struct kwhy_text expected = {0};
	char *text = NULL, path[512];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint64_t seed = cases->from; seed < cases->to; seed++)
		add_case(out, cases, seed);
	assert_int_equal(fclose(out), 0);
	snprintf(path, sizeof(path), FOLDER "%s.txt", cases->file);
	if (update && *update == '1')
		OK(kwhy_file_write(path, text, size, &error));
	OK(kwhy_file_read(path, 1 << 24, &expected, &error));
	compare(path, expected.data, text);
	kwhy_text_done(&expected);
	__real_free(text);
}

static void times_and_sums_are_as_before(void **state)
{
	(void)state;
	check(&(struct cases){"times", whole_make_timed, 0, 4, STORED_WHOLE});
	check(&(struct cases){"times-short", whole_make_timed, 4, 300, STORED_DIGEST});
}

static void energies_are_as_before(void **state)
{
	(void)state;
	check(&(struct cases){"energy", whole_make_metered, 0, 8, STORED_WHOLE});
	check(&(struct cases){"energy-short-1", whole_make_metered, 8, 55, STORED_REALS});
	check(&(struct cases){"energy-short-2", whole_make_metered, 55, 100, STORED_REALS});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_and_sums_are_as_before),
		cmocka_unit_test(energies_are_as_before),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
