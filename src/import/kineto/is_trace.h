/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_IS_TRACE_H
#define KWHY_IMPORT_KINETO_IS_TRACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether JSON is a trace in Chrome's format, as opposed to settings or results of a program: an object with
 * the key "traceEvents", or a list with the key "ph" in `head`. `head` has the first `length` bytes of the
 * text, which begins with '{' or '[' after white space. If an object's head lacks the key, the whole file is
 * searched for it.
 */
bool kwhy_kineto_is_trace(const char *path, const unsigned char *head, size_t length);

#endif
