/* SPDX-License-Identifier: Apache-2.0 */
#include <kwhy/analyse.h>

#include <stdio.h>

/* Prints the three largest findings of a run. Usage: findings RECORDING|TRACE... */

int main(int argc, char **argv)
{
	struct kwhy_finding_info finding = {.size = sizeof(finding)};
	struct kwhy_analysis *analysis;
	char message[KWHY_ANALYSE_MESSAGE_BYTES];

	if (kwhy_analysis_open((const char *const *)argv + 1, (size_t)argc - 1, NULL, &analysis, message,
		    sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	for (size_t i = 0; i < 3 && kwhy_analysis_finding(analysis, i, &finding) == KWHY_ANALYSE_OK; i++) {
		printf("%s\n  %s %s%.3f s", finding.title,
			finding.frees_device ? "frees the device for" : "saves",
			finding.bound == KWHY_ANALYSE_UPPER	      ? "at most "
				: finding.bound == KWHY_ANALYSE_LOWER ? "at least "
								      : "",
			(double)finding.saved_ns * 1e-9);
		if (finding.saved_nj != KWHY_ANALYSE_UNKNOWN)
			printf(", %.1f J", (double)finding.saved_nj * 1e-9);
		printf(": %s\n", finding.cure);
	}
	kwhy_analysis_close(analysis);
	return 0;
}
