// SPDX-License-Identifier: Apache-2.0
// kwhy.compare/1 (docs/formats/report.md), as far as the page reads it. null is "unknown".

type N = number | null;

export interface Side { energy_nj: N; run_nj: N; span_ns: number }
export interface SideAccount { count: number; time_ns: number; gross_nj: N }
export interface Figure { name: string; a: N; b: N }
export interface Pair { category: string; name: string; a: SideAccount | null; b: SideAccount | null; change_nj: N; significant: boolean | null }
export interface Comparison { a: Side; b: Side; figures: Figure[]; throughput_of: { kind: string | null; name: string | null }; accounts: Pair[]; findings_gone: { title: string }[]; findings_new: { title: string }[] }
