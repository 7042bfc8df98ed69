/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_TRACES_H
#define KWHY_TESTS_TRACES_H

#include "cmocka_all.h"

#include <unistd.h>

/* Recordings by the authors of kwhy, part of this repository. */
#define EXAMPLES KWHY_SOURCE_DIR "/examples/"

/*
 * Traces published by others, outside of this repository. A case that reads them begins with need_traces().
 */
#define TRACES KWHY_SOURCE_DIR "/../shared/data/traces/"

static inline void need_traces(void)
{
	if (access(TRACES, R_OK) != 0)
		kwhy_skip("the traces of others (../shared/data/traces) are not here");
}

#endif
