/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/whole_make.h"
#include "unit/ledger/whole_text.h"

#include "base/file.h"
#include "unit/guarded_memory.h"

#include <stdlib.h>
#include <string.h>

/*
 * Compares every figure of the ledgers of many small random recordings with stored texts. With
 * KWHY_UPDATE_GOLDEN=1 the stored texts are replaced; read the difference before you commit it.
 */

#define FOLDER KWHY_SOURCE_DIR "/tests/unit/ledger/whole/"

enum { LINE_BYTES = 200 };

/* How much of a case's text is stored. */
enum stored { STORED_WHOLE, STORED_REALS, STORED_DIGEST };

struct cases {
	const char *file; /* name of the stored text */
	void (*make)(struct whole_made *made, uint64_t seed);
	const uint64_t *seeds; /* [count]; NULL: 0 to count - 1 */
	size_t count;
	enum stored stored;
};

/* Checks, apart from the stored texts, that all parts of a device's time and energy add up. */
static void check_sums(const struct kwhy_device_ledger *device, bool has_calls)
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
		if (energy->modelled) /* without a meter, idle power may be unknown */
			continue;
		net_nj += account->net_nj;
		idle_nj += account->idle_nj;
	}
	if (!energy->known)
		return;
	assert_int_equal(gross_nj, energy->attributed_nj);
	if (energy->modelled)
		return;
	assert_int_equal(gross_nj, energy->measured_nj);
	assert_int_equal(gross_nj, net_nj + idle_nj);
}

/* Writes the text of a recording's ledger, or the message with which it was refused. Frees both. */
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
		check_sums(&ledger->devices[d], made->recording->has_calls);
	check_arena_guards(status == KWHY_OK); /* a refused ledger has freed its arena */
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
	__real_free(text); /* open_memstream() of the C library allocated it, so it has no guard bytes */
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

	for (size_t i = 0; i < cases->count; i++)
		add_case(out, cases, cases->seeds ? cases->seeds[i] : i);
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
	check(&(struct cases){"times", whole_make_timed, NULL, 4, STORED_WHOLE});
	check(&(struct cases){"times-short", whole_make_timed, NULL, 300, STORED_DIGEST});
}

#define SEEDS(list) list, sizeof(list) / sizeof((list)[0])

/*
 * Of the first 400 seeds: those whose ledgers together have each meter with each note, basis and kind of
 * coverage; those with most readings for their processor time; and seed 4, in which kernels are joined to
 * groups.
 */
static void energies_are_as_before(void **state)
{
	static const uint64_t whole[] = {20, 34, 51, 69, 72, 15, 42, 64};
	static const uint64_t first[] = {0, 4, 7, 9, 13, 17, 18, 35, 36, 50, 53, 73, 75, 92, 94, 102, 104,
		107, 108, 110, 117, 118, 120, 123, 126, 128, 129, 130, 134, 138, 144, 155, 156, 165, 166, 167,
		168, 172, 176, 181, 185, 186, 189, 193, 196, 198, 199, 203, 205, 206, 211, 213, 215};
	static const uint64_t second[] = {235, 236, 245, 246, 247, 251, 252, 257, 259, 260, 262, 265, 266,
		267, 269, 280, 283, 284, 286, 290, 298, 306, 307, 312, 317, 319, 322, 323, 332, 335, 338, 340,
		348, 349, 350, 359, 360, 367, 368, 375, 377, 381, 384, 386, 387, 388, 390, 393, 394, 396,
		397};

	/*
	 * seeds that show whether the figures of one device depend on the other one's records, which they
	 * must not
	 */
	static const uint64_t two[] = {0, 2, 3, 5, 6, 9, 12, 13};

	(void)state;
	check(&(struct cases){"energy", whole_make_metered, SEEDS(whole), STORED_WHOLE});
	check(&(struct cases){"energy-short-1", whole_make_metered, SEEDS(first), STORED_REALS});
	check(&(struct cases){"energy-short-2", whole_make_metered, SEEDS(second), STORED_REALS});
	check(&(struct cases){"energy-two", whole_make_two, SEEDS(two), STORED_REALS});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_and_sums_are_as_before),
		cmocka_unit_test(energies_are_as_before),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
