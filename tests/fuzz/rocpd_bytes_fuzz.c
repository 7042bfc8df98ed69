/* SPDX-License-Identifier: Apache-2.0 */
#include "nsys_database.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	database_read(&kwhy_reader_rocpd, data, length);
	return 0;
}
