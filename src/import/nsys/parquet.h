/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_NSYS_PARQUET_H
#define KWHY_IMPORT_NSYS_PARQUET_H

#include <stdbool.h>

/*
 * Whether the path is a folder that "nsys export --type parquetdir" made, with one Parquet file for each
 * table: whether it has a file StringIds.parquet.
 */
bool kwhy_nsys_parquet_is(const char *path);

#endif
