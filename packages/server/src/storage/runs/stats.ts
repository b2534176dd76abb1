import { type Database, join, sql } from "@hamlet/database"
import type { RunRequest } from "../../domain/runs/runs.ts"
import type { StatStore } from "../../domain/stats/stats.ts"
import { partOf, readInTurn, walkRuns, withVisibleOwner } from "./walk-runs.ts"

const limits = {
  /**
   * Reading these blocks the event loop on SQLite, for a few milliseconds. That is also why the
   * caller counts them and not the statement: window functions take four times as long as reading,
   * in one piece.
   */
  runsAtOnceMax: 1_000,
  /** How many runs a statement names. */
  requestsAtOnceMax: 200,
}

/** Runs in the database, read to be counted. */
export function createStatStore(db: Database, given: Partial<typeof limits> = {}): StatStore {
  const { runsAtOnceMax, requestsAtOnceMax } = { ...limits, ...given }
  const read = readInTurn(db)
  return {
    walkAccount: (view, span) =>
      walkRuns(read, { span, direction: "desc", runsMax: runsAtOnceMax }, (part) =>
        withVisibleOwner(db.dialect, view, partOf(sql`r.account_id = ${view.ownerId}`, part), part),
      ),
    walkVal: (valId, accountId, span) =>
      walkRuns(read, { span, direction: "desc", runsMax: runsAtOnceMax }, (part) =>
        // Runs of a viewer who does not own the val are read by account, from a small index of such
        // runs.
        partOf(
          accountId === undefined
            ? sql`r.val_id = ${valId}`
            : sql`r.val_id = ${valId} and r.account_id = ${accountId} and r.account_id <> r.owner_id`,
          part,
        ),
      ),
    async findRequests(runIds) {
      const found = new Map<string, RunRequest>()
      for (let from = 0; from < runIds.length; from += requestsAtOnceMax) {
        const ids = runIds.slice(from, from + requestsAtOnceMax).map((id) => sql`${id}`)
        const rows = await db.read<{ id: string; request: RunRequest }>`
          select id, request as request_json from runs where request is not null and id in (${join(ids, ", ")})`
        for (const row of rows) found.set(row.id, row.request)
      }
      return found
    },
  }
}
