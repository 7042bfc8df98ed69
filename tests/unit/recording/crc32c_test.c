/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "recording/crc32c.h"

#include <stdlib.h>
#include <string.h>

/* Test vectors of RFC 3720, appendix B.4, and the check value of CRC-32C from catalogues of checksums. */
static void the_published_checksums_come_out(void **state)
{
	unsigned char bytes[32];

	(void)state;
	assert_int_equal(kwhy_crc32c("123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(kwhy_crc32c(bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(kwhy_crc32c(bytes, sizeof(bytes)), 0x62a8ab43);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(kwhy_crc32c(bytes, sizeof(bytes)), 0x46dd794e);
}

static void the_instruction_and_the_loop_agree_at_every_length_and_alignment(void **state)
{
	enum { BYTES = 12000 };
	unsigned char *bytes = malloc(BYTES + 8);

	(void)state;
	srandom(1);
	for (int i = 0; i < BYTES + 8; i++)
		bytes[i] = (unsigned char)random();
	for (size_t length = 0; length < BYTES; length += length < 100 ? 1 : 331)
		assert_int_equal(kwhy_crc32c(bytes + length % 8, length),
			kwhy_crc32c_portable(bytes + length % 8, length));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_checksums_come_out),
		cmocka_unit_test(the_instruction_and_the_loop_agree_at_every_length_and_alignment),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
