import type { RunRecord } from "../../../src/domain/runs/runs.ts"

/** A run on the account of its val's owner that ended well, as the runtime would write it down. */
export function toEndedRun(
  run: Pick<RunRecord, "valId" | "ownerId"> & Partial<RunRecord>,
): RunRecord {
  return {
    id: Bun.randomUUIDv7(),
    version: 1,
    accountId: run.ownerId,
    parentId: null,
    source: "api",
    status: "succeeded",
    startedAt: 1,
    endedAt: 2,
    error: null,
    request: null,
    args: [],
    returnValue: null,
    logs: [],
    logsTruncated: false,
    ...run,
  }
}
