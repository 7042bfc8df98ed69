/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_TRACES_H
#define KWHY_TESTS_TRACES_H

#include "cmocka_all.h"

#include <unistd.h>

/* Recordings by the authors of kwhy, part of this repository. */
#define EXAMPLES KWHY_SOURCE_DIR "/examples/"

/*
 * Folder with traces published by others, which is not part of this repository. A test case that reads them
 * calls need_traces() first, which skips it if the folder is missing.
 */
#define TRACES KWHY_SOURCE_DIR "/../shared/data/traces/"

static inline void need_traces(void)
{
	if (access(TRACES, R_OK) != 0)
		kwhy_skip("the traces of others (../shared/data/traces) are not here");
}

#endif
