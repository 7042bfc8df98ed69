/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_STORE_FORMAT_H
#define KWHY_OWNERS_STORE_FORMAT_H

#include <stdint.h>

/* What writer and reader of a file of accounts agree on (docs/formats/accounts.md). */

#define KWHY_STORE_APPLICATION 1802987641 /* SQLite's application_id: the letters "kwhy" */
#define KWHY_STORE_VERSION 1		  /* SQLite's user_version */
#define KWHY_STORE_HOUR_NS INT64_C(3600000000000)
/*
 * Longest waits for the other's transaction. The writer has only the thread that also answers scrapes, and
 * tries again a period later.
 */
enum { KWHY_STORE_WRITER_MS = 300, KWHY_STORE_READER_MS = 5000 };

#endif
