declare module '@bcoe/v8-coverage' {
  import type { Profiler } from 'node:inspector';

  export type ScriptCoverage = Profiler.ScriptCoverage;
  export interface ProcessCoverage {
    readonly result: readonly ScriptCoverage[];
  }
  export function mergeProcessCovs(coverages: readonly ProcessCoverage[]): ProcessCoverage;
}
