/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs, and so holds its stream, until the host has opened the gate `opening` times, which latch[0] counts.
 * After 10 s it gives up: it writes `opening` to latch[1] and ends. The latch is in host memory, in which
 * host and device see each other's writes immediately.
 */
typedef unsigned long long u64;
typedef unsigned int u32;

#ifdef __AMDGCN__
/* Time in ns since some start; wall_clock64() counts at 100 MHz. */
__device__ static u64 now_ns()
{
	return 10 * wall_clock64();
}
#else
__device__ static u64 now_ns()
{
	u64 time;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
	return time;
}
#endif

extern "C" __global__ void kwhy_gate(volatile u32 *latch, u32 opening)
{
	u64 start = now_ns();

	while ((int)(latch[0] - opening) < 0) {
		if (now_ns() - start > 10000000000ull) {
			latch[1] = opening;
			__threadfence_system();
			return;
		}
	}
}
