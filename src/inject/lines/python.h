/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_PYTHON_H
#define KWHY_INJECT_LINES_PYTHON_H

#include "inject/lines/python_layout.h"
#include "inject/lines/stack.h"

#include <stdatomic.h>

/*
 * Call stacks of CPython 3.9 to 3.14 in this process. They are read from the interpreter's memory and nothing
 * of it is called, so that neither its lock is needed nor anything of it changes: reference counts,
 * exceptions and the garbage collector stay as they are. A thread that is in a call of CUDA runs no Python
 * meanwhile, whether it kept the interpreter's lock or, as PyTorch and JAX do, gave it back before; its own
 * frames and the code objects that they hold stay what they are until it returns.
 */
struct kwhy_python {
	struct kwhy_python_layout layout;
	void *(*this_thread)(void);  /* PyGILState_GetThisThreadState: this thread's state; NULL: none */
	int (*is_initialized)(void); /* Py_IsInitialized: false once the interpreter begins to end */
	const void *code_type;	     /* PyCode_Type, by which a code object is known */
	bool is_there;
	/* Reads go through the kernel, which refuses what is no memory, until the layout has proved right. */
	atomic_bool is_proved;
};

/* Looks the interpreter up among the symbols of the program. False: there is none, or of no known version. */
bool kwhy_python_open(struct kwhy_python *python);

/* The stack of this thread; its state, NULL where it has none, goes to *out_thread. False: it has no frame.
 */
bool kwhy_python_stack_own(struct kwhy_python *python, struct kwhy_stack *out, const void **out_thread);

/*
 * The stack of another thread by its state, as of a thread that waits for this one. False: it has none, it
 * changed meanwhile, or the kernel does not let us read.
 */
bool kwhy_python_stack_other(const struct kwhy_python *python, const void *thread, struct kwhy_stack *out);

#endif
