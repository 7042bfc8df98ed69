/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_STORE_FORMAT_H
#define KWHY_OWNERS_STORE_FORMAT_H

#include <stdint.h>

/* Constants of the file of accounts that its writer and its reader share (docs/formats/accounts.md). */

#define KWHY_STORE_APPLICATION 1802987641 /* SQLite's application_id: the letters "kwhy" */
#define KWHY_STORE_VERSION 1		  /* SQLite's user_version */
#define KWHY_STORE_HOUR_NS INT64_C(3600000000000)
/*
 * Longest times in ms that the writer and a reader wait for each other's transactions to end. The writer's
 * only thread also answers scrapes, so it waits less; after a timeout it tries again one period later.
 */
enum { KWHY_STORE_WRITER_MS = 300, KWHY_STORE_READER_MS = 5000 };

#endif
