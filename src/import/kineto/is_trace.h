/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_IS_TRACE_H
#define KWHY_IMPORT_KINETO_IS_TRACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether JSON is a trace in Chrome's format, as opposed to a configuration or a result of a program: it has
 * a list "traceEvents", or is a list of events. `head` has the first `length` bytes of the text, which begins
 * with '{' or '[' after blanks. If these bytes do not decide, more of the file is read.
 */
bool kwhy_kineto_is_trace(const char *path, const unsigned char *head, size_t length);

#endif
