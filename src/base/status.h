/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_STATUS_H
#define KWHY_BASE_STATUS_H

/* Results that callers distinguish. The message that explains a failure is in struct kwhy_error. */
enum kwhy_status {
	KWHY_OK = 0,
	KWHY_E_INPUT,	    /* a file or a value from the user is wrong */
	KWHY_E_IO,	    /* the system refused to read or write */
	KWHY_E_MEMORY,	    /* out of memory, or a fixed limit of the size of something is reached */
	KWHY_E_UNSUPPORTED, /* this build or this machine cannot do it */
	KWHY_E_USAGE,	    /* the command line is wrong */
	KWHY_E_LOST, /* a device, or another process that is needed, is lost for this process, or the user
			interrupted */
	KWHY_STATUS_COUNT
};

/*
 * A message of one sentence and at most three lines: what failed, on what, why, and the cure. The caller
 * owns it and passes it as the last parameter of every function that can fail. The pointer is never NULL.
 */
struct kwhy_error {
	enum kwhy_status status;
	char text[720];
};

#define KWHY_MUST_USE __attribute__((warn_unused_result))

void kwhy_error_set(struct kwhy_error *error, enum kwhy_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Sets the message and evaluates to the status. It is a macro, so that static analysers see that the value is
 * a constant other than KWHY_OK.
 */
#define kwhy_fail(error, status, ...) (kwhy_error_set((error), (status), __VA_ARGS__), (status))

/* Fails for lack of memory; `what` names the object that could not be allocated. */
#define kwhy_fail_memory(error, what)     \
	kwhy_fail((error), KWHY_E_MEMORY, \
		"out of memory for %s; close other programs or use a larger machine", (what))

#endif
