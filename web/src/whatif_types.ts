// SPDX-License-Identifier: Apache-2.0
// kwhy.whatif/1 (docs/formats/whatif.md), as far as the page reads it. null is "unknown".

type N = number | null;

export interface Projection { time_ns: number; time_low_ns: number; time_high_ns: number; energy_nj: N; low_nj: N; high_nj: N; cost: N; g_co2e: N; busy_ratio?: N }
export interface Change {
	id: string; title: string; number: N; finding: string | null; bound: "expected" | "upper" | "lower"; effort: string; risk: string; places: number;
	assumption: string; saved_ns: number; saved_nj: N; after: Projection;
}
export interface LeftOut { id: string; reason: string; premise: string | null; saved_ns: N; saved_nj: N }
export interface StretchItem {
	device: N; rank?: N; stream?: number; thread?: number; name: string; category: number; before_ns: [number, number]; after_ns: [number, number] | null;
}
export interface Stretch { first_step: number; end_step: number; step_count: number; before_ns: number; after_ns: number; left_out: number; items: StretchItem[] }
export interface Plan {
	command: string | null; sources: string[]; currency: string | null; no_energy: string | null; lost?: string | null; before: Projection; after: Projection; bound?: Change["bound"]; changes: Change[]; left_out: LeftOut[]; stretch: Stretch | null;
}
