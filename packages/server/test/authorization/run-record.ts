import type { RunRecord } from "../../src/domain/runs/runs.ts"
import type { TestApi } from "../support/api.ts"
import { toEndedRun } from "../support/fakes/ended-run.ts"

/** A run that has just ended. */
export function toRunRecord(
  api: TestApi,
  run: Pick<RunRecord, "valId" | "ownerId" | "accountId"> & Partial<RunRecord>,
): RunRecord {
  const at = api.hamlet.nouns.clock.now()
  return toEndedRun({ startedAt: at, endedAt: at, ...run })
}
