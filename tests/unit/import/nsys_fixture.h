/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_IMPORT_NSYS_FIXTURE_H
#define TESTS_UNIT_IMPORT_NSYS_FIXTURE_H

#include "csv_file.h"

#include <sqlite3.h>
#include <sys/stat.h>

/* Makes SQLite databases from SQL: some as Nsight Systems exports them, some invalid. */

/* Ids of process 7 on machine 1 and of its thread 9. */
#define PID "281474976710656+7*16777216"
#define TID "281474976710656+7*16777216+9"
#define PID_8 "281474976710656+8*16777216"
#define TID_8 "281474976710656+8*16777216+9"

#define STRINGS                                                                          \
	"CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"  \
	"INSERT INTO StringIds VALUES(1,'my_kernel(int)'),(2,'cudaLaunchKernel_v7000')," \
	"(3,'cuMemAlloc_v2'),(4,'ncclDevKernel_AllReduce'),(5,'a step'),(6,'cudaFree_v3020');"
#define START                                                                           \
	"CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER,utcTime TEXT);" \
	"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1795245124000000123,'x');"
#define KERNELS                                                                                             \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER,end INTEGER,deviceId INTEGER,"               \
	"contextId INTEGER,streamId INTEGER,correlationId INTEGER,globalPid INTEGER,demangledName INTEGER," \
	"shortName INTEGER,registersPerThread INTEGER,gridX INTEGER,gridY INTEGER,gridZ INTEGER,blockX "    \
	"INTEGER,"                                                                                          \
	"blockY INTEGER,blockZ INTEGER,staticSharedMemory INTEGER,dynamicSharedMemory INTEGER,graphNodeId " \
	"INTEGER);"
#define KERNEL(start, end, device, correlation, pid, name)                                            \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" start "," end "," device ",1,7," correlation \
	"," pid "," name ",1,32,10,2,3,128,2,1,1000,24,NULL);"
#define CALLS                                                                                    \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER,end INTEGER,eventClass INTEGER," \
	"globalTid INTEGER,correlationId INTEGER,nameId INTEGER,returnValue INTEGER,callchainId INTEGER);"
#define CALL(start, end, class, tid, correlation, name)                                                   \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" start "," end "," class "," tid "," correlation \
										  "," name ",0,NULL);"

static inline void make_database(char path[32], const char *sql)
{
	sqlite3 *database;
	char *message = NULL;

	write_file(path, "", 0);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	if (sqlite3_exec(database, "PRAGMA synchronous=OFF", NULL, NULL, &message) ||
		sqlite3_exec(database, sql, NULL, NULL, &message))
		fail_msg("%s", message);
	sqlite3_close(database);
}

static inline enum kwhy_status import_sql(struct kwhy_recording *recording, const char *sql, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	enum kwhy_status status;
	char path[32];

	make_database(path, sql);
	status = kwhy_reader_nsys.read(recording, path, &options, &error);
	unlink(path);
	return status;
}

static inline struct kwhy_recording *finished(const char *sql)
{
	struct kwhy_recording *recording = empty_recording();

	OK(import_sql(recording, sql, false));
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static inline void refuses(const char *sql, const char *words)
{
	struct kwhy_recording *recording = empty_recording();

	refused(import_sql(recording, sql, false), words);
	kwhy_recording_free(recording);
}

static inline const char *name_of(const struct kwhy_recording *recording, uint32_t name)
{
	return kwhy_names_get(&recording->names, name);
}

#endif
