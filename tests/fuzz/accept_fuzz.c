/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the HTTP headers that kwhy serve parses itself: Host, Authorization and Accept, one per line. */
#include "serve/accept.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	char *text = malloc(length + 1), *rest = text;
	const char *host, *authorization, *accept;

	if (!text)
		return 0;
	if (length)
		memcpy(text, data, length);
	text[length] = '\0';
	host = strsep(&rest, "\n");
	authorization = strsep(&rest, "\n");
	accept = strsep(&rest, "\n");
	if (kwhy_accept_host(host, "gpu01:9835") && strpbrk(host, "/@? \t%"))
		abort();
	if (kwhy_accept_token(authorization, "0123456789abcdef") && strlen(authorization) != 23)
		abort();
	(void)kwhy_accept_form(accept);
	free(text);
	return 0;
}
