/* SPDX-License-Identifier: Apache-2.0 */
#include "kwhy/measure.h"

#include <string.h>

/*
 * Compiled as C++: checks that the header is valid C++ and that the library's names have C linkage there.
 */
int main(void)
{
	struct kwhy_session_options options;
	struct kwhy_session *session = NULL;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.without_gpus = options.without_host = 1;
	if (strcmp(kwhy_measure_version(), KWHY_MEASURE_VERSION) != 0 ||
		kwhy_session_open(&options, &session, NULL, 0) != KWHY_MEASURE_OK)
		return 1;
	kwhy_session_close(session);
	return 0;
}
