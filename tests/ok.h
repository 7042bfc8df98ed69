/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_OK_H
#define KWHY_TESTS_OK_H

#include "base/status.h"
#include "cmocka_all.h"

/*
 * Checks that the call succeeds. If it fails, shows the text that it wrote to `error`, a struct kwhy_error
 * of the caller.
 */
#define OK(call)                                               \
	do {                                                   \
		error.text[0] = '\0';                          \
		if ((call) != KWHY_OK)                         \
			fail_msg("%s: %s", #call, error.text); \
	} while (0)

#endif
