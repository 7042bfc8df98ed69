/* SPDX-License-Identifier: Apache-2.0 */
#include "kwhy/analyse.h"

#include <string.h>

/* Compiled as C++: kwhy/analyse.h must compile, and its functions must have C linkage. */
int main(void)
{
	struct kwhy_analysis_options options;
	struct kwhy_analysis *analysis = NULL;
	const char *path = "no-such-file";

	kwhy_analysis_options_init(&options, sizeof(options));
	if (strcmp(kwhy_analyse_version(), KWHY_ANALYSE_VERSION) != 0 ||
		kwhy_analysis_open(&path, 1, &options, &analysis, NULL, 0) != KWHY_ANALYSE_E_INPUT)
		return 1;
	kwhy_analysis_close(analysis);
	return 0;
}
