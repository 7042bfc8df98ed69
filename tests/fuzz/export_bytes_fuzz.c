/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_database.h"

/* kwhy's own SQLite export, as anybody may have changed it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	database_read(&kwhy_reader_sqlite, data, length);
	return 0;
}
