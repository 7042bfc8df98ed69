/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_PYTHON_H
#define KWHY_INJECT_LINES_PYTHON_H

#include "inject/lines/python_layout.h"
#include "inject/lines/stack.h"

#include <stdatomic.h>

/*
 * Reads call stacks of CPython 3.9 to 3.14 in this process. It reads the interpreter's memory without calling
 * the interpreter. So it does not need the interpreter's lock, and it changes neither reference counts,
 * exceptions nor the garbage collector's state. A thread that is in a CUDA call runs no Python until the call
 * returns, whether it kept the interpreter's lock or, as PyTorch and JAX do, released it before. Until then
 * its frames and the code objects that they refer to stay unchanged.
 */
struct kwhy_python {
	struct kwhy_python_layout layout;
	void *(*this_thread)(void);  /* PyGILState_GetThisThreadState(): returns the thread state of the
					calling thread, or NULL */
	int (*is_initialized)(void); /* Py_IsInitialized(): false once the interpreter begins to shut down */
	const void *code_type;	     /* PyCode_Type, the type that identifies a code object */
	bool is_there;
	/*
	 * False until a stack has been read successfully with this layout. Until then memory is read through
	 * a system call, which fails on addresses that are not mapped.
	 */
	atomic_bool is_proved;
};

/*
 * Finds the interpreter's functions and layout by the dynamic symbols of the program. False: the program has
 * no interpreter, or an interpreter of an unknown version or without its lock, or the system does not permit
 * process_vm_readv().
 */
bool kwhy_python_open(struct kwhy_python *python);

/*
 * Reads the Python stack of the calling thread. *out_thread receives its thread state; NULL: it has none.
 * False: it has no Python frame, or the interpreter is shutting down.
 */
bool kwhy_python_stack_own(struct kwhy_python *python, struct kwhy_stack *out, const void **out_thread);

/*
 * Reads the Python stack of another thread, whose thread state `thread` is, such as a thread that waits for
 * the calling one. False: that thread has no frame, its stack changed during the reading, or the kernel
 * denies reading its memory.
 */
bool kwhy_python_stack_other(const struct kwhy_python *python, const void *thread, struct kwhy_stack *out);

#endif
