/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_sum(const unsigned char sum[KWHY_SHA256_BYTES], const char *hex)
{
	char text[2 * KWHY_SHA256_BYTES + 1];

	for (int i = 0; i < KWHY_SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
	assert_string_equal(text, hex);
}

/*
 * Checks the hash of the bytes, added in pieces of each length from 1 to 130, so that block boundaries fall
 * everywhere.
 */
static void assert_hash(const char *bytes, size_t length, const char *hex)
{
	for (size_t piece = 1; piece <= 130; piece++) {
		struct kwhy_sha256 sum;
		unsigned char out[KWHY_SHA256_BYTES];

		kwhy_sha256_init(&sum);
		for (size_t at = 0; at < length; at += piece)
			kwhy_sha256_add(&sum, bytes + at, length - at < piece ? length - at : piece);
		kwhy_sha256_end(&sum, out);
		assert_sum(out, hex);
	}
}

/* The examples of FIPS 180-4 and NIST's example of a million letters "a". */
static void hashes_are_those_of_the_standard(void **state)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	struct kwhy_sha256 sum;
	unsigned char out[KWHY_SHA256_BYTES];

	(void)state;
	assert_hash("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_hash("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_hash(two, strlen(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	kwhy_sha256_init(&sum);
	for (int i = 0; i < 1000000; i++)
		kwhy_sha256_add(&sum, "a", 1);
	kwhy_sha256_end(&sum, out);
	assert_sum(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Cases 1, 2 and 6 of RFC 4231: keys of 20 and 4 bytes, and a key longer than a block. */
static void authentication_codes_are_those_of_rfc_4231(void **state)
{
	unsigned char key[131], out[KWHY_SHA256_BYTES];
	const struct kwhy_sha256_part there = {"Hi There", 8};
	const struct kwhy_sha256_part want[] = {{"what do ya want ", 16}, {"for nothing?", 12}};
	const struct kwhy_sha256_part large = {"Test Using Larger Than Block-Size Key - Hash Key First", 54};

	(void)state;
	memset(key, 0x0b, 20);
	kwhy_hmac_sha256(&(struct kwhy_sha256_part){key, 20}, &there, 1, out);
	assert_sum(out, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	kwhy_hmac_sha256(&(struct kwhy_sha256_part){"Jefe", 4}, want, 2, out);
	assert_sum(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	kwhy_hmac_sha256(&(struct kwhy_sha256_part){key, sizeof(key)}, &large, 1, out);
	assert_sum(out, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void sums_are_equal_in_every_bit_or_not_at_all(void **state)
{
	unsigned char one[KWHY_SHA256_BYTES] = {0}, other[KWHY_SHA256_BYTES] = {0};

	(void)state;
	assert_true(kwhy_sha256_equal(one, other));
	for (int bit = 0; bit < 8 * KWHY_SHA256_BYTES; bit++) {
		other[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_false(kwhy_sha256_equal(one, other));
		other[bit / 8] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_those_of_the_standard),
		cmocka_unit_test(authentication_codes_are_those_of_rfc_4231),
		cmocka_unit_test(sums_are_equal_in_every_bit_or_not_at_all),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
