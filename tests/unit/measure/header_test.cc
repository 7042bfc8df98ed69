/* SPDX-License-Identifier: Apache-2.0 */
#include "kwhy/measure.h"

#include <cstring>

/* The header is C++ too, and the library's names are C's there. */
int main()
{
	kwhy_session_options options = {};
	kwhy_session *session = nullptr;

	options.size = sizeof(options);
	options.without_gpus = options.without_host = 1;
	if (std::strcmp(kwhy_measure_version(), KWHY_MEASURE_VERSION) != 0 ||
		kwhy_session_open(&options, &session, nullptr, 0) != KWHY_MEASURE_OK)
		return 1;
	kwhy_session_close(session);
	return 0;
}
