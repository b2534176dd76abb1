import { createPrograms, type ProgramDeps } from "../domain/modules/programs.ts"
import { RunFollowers } from "../domain/runs/follow-run.ts"
import { LiveRuns } from "../domain/runs/live-runs.ts"
import type { Runner } from "../domain/runs/runner.ts"
import type { ValStore } from "../domain/vals/vals.ts"
import { createRunStore } from "../storage/runs/runs.ts"
import { createStatStore } from "../storage/runs/stats.ts"
import type { Foundation } from "./foundation.ts"

/** Runs: what they are made of, those that go on, and the records of those that have ended. */
export function createRuns(
  foundation: Foundation,
  deps: Omit<ProgramDeps, keyof Foundation> & { readonly vals: ValStore },
  runner: Runner,
) {
  const runs = createRunStore(foundation.db)
  const liveRuns = new LiveRuns({ ...foundation, runs })
  return {
    runs,
    liveRuns,
    runner,
    stats: createStatStore(foundation.db),
    followers: new RunFollowers({ ...foundation, ...deps, runs, liveRuns }),
    programs: createPrograms({ ...foundation, ...deps }),
  }
}
