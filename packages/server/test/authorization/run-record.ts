import type { RunRecord } from "../../src/domain/runs/runs.ts"
import type { TestApi } from "../support/api.ts"

/** A run that ended well, as the runtime would write it down. */
export function toRunRecord(
  api: TestApi,
  run: Pick<RunRecord, "valId" | "ownerId" | "accountId"> & Partial<RunRecord>,
): RunRecord {
  const at = api.hamlet.deps.now()
  return {
    id: api.hamlet.deps.newId(),
    version: 1,
    parentId: null,
    source: "api",
    status: "succeeded",
    startedAt: at,
    endedAt: at,
    error: null,
    request: null,
    args: [],
    returnValue: null,
    logs: [],
    logsTruncated: false,
    ...run,
  }
}
