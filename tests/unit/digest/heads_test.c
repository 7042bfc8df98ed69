/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of digest files: the other ranks that used the devices of a rank. */
#include "cmocka_all.h"
#include "digest/heads.h"
#include "digest/make.h"
#include "unit/ledger/build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Saves a digest and reads its head. The caller calls kwhy_heads_done(). */
static struct kwhy_heads head_of(const struct kwhy_digest *digest)
{
	char path[] = "/tmp/kwhy-heads-XXXXXX";
	const char *const paths[] = {path};
	struct kwhy_heads heads = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(kwhy_digest_save(digest, path, &error), KWHY_OK);
	assert_int_equal(kwhy_heads_read(&heads, paths, 1, 1, &error), KWHY_OK);
	unlink(path);
	assert_int_equal(heads.count, 1);
	assert_true(heads.items[0].is_readable);
	return heads;
}

/* Ranks 1000 to 1000 + `ranks` - 1 of one device, each with a kernel. */
static struct kwhy_recording *shared_device(uint32_t ranks)
{
	struct kwhy_recording *recording = build_one();

	for (uint32_t i = 0; i < ranks; i++) {
		uint32_t process = build_process(recording, 70 + i), stream;

		recording->processes[process].rank = 1000 + i;
		stream = build_stream(recording, 0, process, 7);
		build_kernel(recording, stream, 10 * i, 10 * i + 5, "work");
	}
	return recording;
}

static void all_ranks_that_share_a_device_are_known(void **state)
{
	enum { RANKS = 400 };
	struct kwhy_recording *recording = shared_device(RANKS);
	struct kwhy_ledger *ledger = build_ledger(recording);
	const struct kwhy_findings findings = {0};
	const struct kwhy_digest_input input = {recording, ledger, &findings, false};
	struct kwhy_digest_part part = {1000, KWHY_NONE};
	const struct kwhy_digest_parts parts = {&part, 1};
	struct kwhy_digest digest = {0};
	struct kwhy_heads heads;

	(void)state;
	recording->devices[0].rank = 1000;
	assert_int_equal(kwhy_digest_make(&input, &parts, 0, &digest, &error), KWHY_OK);
	heads = head_of(&digest);
	assert_int_equal(heads.items[0].other_count, RANKS - 1);
	for (uint32_t i = 0; i < RANKS - 1; i++)
		assert_int_equal(heads.items[0].others[i], 1001 + i);
	kwhy_heads_done(&heads);
	kwhy_digest_done(&digest);
	build_free(recording, ledger);
}

/* Versions before cut a long list within a number. */
static void a_number_that_is_cut_is_no_rank(void **state)
{
	struct kwhy_digest digest = {0};
	struct kwhy_heads heads;

	(void)state;
	*KWHY_DIGEST_ADD(&digest, digest, &error) = (struct kwhy_digest_digest){.schema = KWHY_DIGEST_SCHEMA,
		.producer = "kwhy",
		.identity = "0123456789abcdef",
		.world_size = 200,
		.other_ranks = "7,8,12...#00c0ffee"};
	heads = head_of(&digest);
	assert_int_equal(heads.items[0].other_count, 2);
	assert_int_equal(heads.items[0].others[0], 7);
	assert_int_equal(heads.items[0].others[1], 8);
	kwhy_heads_done(&heads);
	kwhy_digest_done(&digest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ranks_that_share_a_device_are_known),
		cmocka_unit_test(a_number_that_is_cut_is_no_rank),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
