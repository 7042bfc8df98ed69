# SPDX-License-Identifier: Apache-2.0
"""A Python program that uses CUDA through the fake CUPTI, as fake_cuda_program does in C. ctypes releases the
interpreter's lock while a foreign function runs, as PyTorch does."""
import ctypes
import os
import sys
import threading
import time

injected = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
cupti = ctypes.CDLL(os.environ["KWHY_CUPTI"])
LAUNCH = b"cudaLaunchKernel_v7000"


def launch(number):
    cupti.fake_cupti_call(2, LAUNCH, number)
    cupti.fake_cupti_kernel(b"_Z4evenPf", number, ctypes.c_int64(1000), ctypes.c_uint64(0))


def pause_and_launch(number):
    time.sleep(0.005)
    launch(number)  # LINE launch


class Größe:
    def step(self, number):
        pause_and_launch(number)  # LINE step


def recurse(depth, number):
    if depth:
        return recurse(depth - 1, number)
    return pause_and_launch(number)


def rows(number):
    for i in range(20):
        pause_and_launch(number + i)  # LINE generator
        yield i


def main():
    assert injected.InitializeInjection() == 1
    for i in range(20):
        Größe().step(i)  # LINE loop
    list(rows(100))
    recurse(200, 200)
    worker = threading.Thread(target=Größe().step, args=(300,))
    worker.start()
    worker.join()
    for i in range(10):
        pause_and_launch(310 + i)
    # the next call is made by a thread that has no Python frames, while this thread waits for it in C code
    cupti.fake_cupti_elsewhere(400)  # LINE waiting
    print("done", sys.version_info[0])


main()
