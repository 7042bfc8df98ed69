/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_PYTHON_H
#define KWHY_INJECT_LINES_PYTHON_H

#include "inject/lines/python_layout.h"
#include "inject/lines/stack.h"

#include <stdatomic.h>

/*
 * Reads call stacks of CPython 3.9 to 3.14 in this process. They are read from the interpreter's memory
 * without calling it, so its lock is not needed and nothing in it changes: neither reference counts nor
 * exceptions nor the garbage collector's state. A thread that is in a CUDA call runs no Python until the call
 * returns, whether it kept the interpreter's lock or, as PyTorch and JAX do, released it before. Until then
 * its frames and the code objects that they refer to stay unchanged.
 */
struct kwhy_python {
	struct kwhy_python_layout layout;
	void *(*this_thread)(
		void); /* PyGILState_GetThisThreadState; returns NULL for a thread without a state */
	int (*is_initialized)(void); /* Py_IsInitialized: false once the interpreter begins to end */
	const void *code_type;	     /* PyCode_Type, the type that identifies a code object */
	bool is_there;
	/*
	 * Until the layout has proved right, memory is read through a system call, which fails on addresses
	 * that are not mapped.
	 */
	atomic_bool is_proved;
};

/*
 * Looks the interpreter up among the program's symbols. False: the program has no interpreter, or one of an
 * unknown version.
 */
bool kwhy_python_open(struct kwhy_python *python);

/*
 * Reads the stack of this thread. *out_thread: the thread's state; NULL: it has no state. False: the thread
 * has no frame.
 */
bool kwhy_python_stack_own(struct kwhy_python *python, struct kwhy_stack *out, const void **out_thread);

/*
 * Reads the stack of another thread, such as one that waits for this thread, by its state. False: it has no
 * frame, it changed while it was read, or the kernel does not let us read it.
 */
bool kwhy_python_stack_other(const struct kwhy_python *python, const void *thread, struct kwhy_stack *out);

#endif
