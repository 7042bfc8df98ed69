/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_PACK_H
#define KWHY_RECORDING_PACK_H

#include "recording/bundle.h"

/*
 * Writes the files of a recording one after the other into one new file. Each block is compressed by zstd if
 * that makes it smaller. Bytes that are not a whole block are copied unchanged. KWHY_E_IO: a file at `path`
 * exists already, or cannot be written; an incomplete file is then deleted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_pack(
	const struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error);

#endif
