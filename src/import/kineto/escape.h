/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_ESCAPE_H
#define KWHY_IMPORT_KINETO_ESCAPE_H

#include "base/names.h"

#include <stddef.h>

/*
 * Decodes the escapes of the text inside a JSON string into `out`, without a final NUL. Stops once more than
 * KWHY_NAME_MAX_BYTES bytes are written, because longer names are cut. Returns the number of bytes written.
 */
size_t kwhy_kineto_unescape(const char *bytes, size_t length, char out[KWHY_NAME_MAX_BYTES + 8]);

#endif
