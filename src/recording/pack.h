/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_PACK_H
#define KWHY_RECORDING_PACK_H

#include "recording/bundle.h"

/*
 * Writes the files of a recording one after the other into one new file, blocks packed with zstd where that
 * makes them smaller. Nothing is lost: bytes that are no whole block are copied as they are. KWHY_E_IO: the
 * file at `path` is there already, or cannot be written. Of a file that could not be completed nothing is
 * left.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_pack(
	const struct kwhy_bundle *bundle, const char *path, struct kwhy_error *error);

#endif
