/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TESTS_DECODERS_H
#define KWHY_LAB_TESTS_DECODERS_H

#include "cmocka_all.h"
#include "lab/decode/run.h"

#include <string.h>

/* Decoders that must open, and those that must not. */

static inline struct kwhy_decode *opened(const struct kwhy_decode_request *request)
{
	struct kwhy_decode *decode;
	struct kwhy_error error;

	if (kwhy_decode_open(request, &decode, &error))
		fail_msg("%s", error.text);
	return decode;
}

static inline void expect_refusal(
	const struct kwhy_decode_request *request, enum kwhy_status status, const char *words)
{
	struct kwhy_decode *decode;
	struct kwhy_error error;

	assert_int_equal(kwhy_decode_open(request, &decode, &error), status);
	if (!strstr(error.text, words))
		fail_msg("%s", error.text);
}

#endif
