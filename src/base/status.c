/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

void kwhy_error_set(struct kwhy_error *error, enum kwhy_status status, const char *format, ...)
{
	va_list args;

	error->status = status;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
}
