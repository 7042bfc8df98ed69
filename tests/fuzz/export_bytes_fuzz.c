/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_database.h"

/* Fuzzes the reader of kwhy's own SQLite exports, which other programs may have changed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	database_read(&kwhy_reader_sqlite, data, length);
	return 0;
}
