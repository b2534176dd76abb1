import { type Database, join, list, raw, type Statement, sql } from "@hamlet/database"
import type { RunMessage } from "../../domain/runs/runs.ts"
import { isRequestInput } from "../../domain/runs/runs.ts"
import type { TelemetryStore, TracedRun } from "../../domain/telemetry/telemetry.ts"
import { withCode } from "../vals/val-rows.ts"
import { readLogs } from "./read-logs.ts"
import {
  fromStoredInput,
  type RunRow,
  runColumns,
  runJoins,
  type StoredRunInput,
  toRun,
} from "./run-rows.ts"
import {
  mergeParts,
  type Part,
  partOf,
  placeColumns,
  readInTurn,
  walkRuns,
  withVisibleOwner,
} from "./walk-runs.ts"

type TracedRow = RunRow & {
  readonly fileId: string
  readonly branchId: string
  readonly path: string | null
  readonly type: string | null
}

/**
 * The path and type of a run's file in its version. Of one that was moved, or whose version was
 * deleted, the last ones.
 */
const fileColumns = raw(`${placeColumns.text},
  case when c.file_id = f.id then n.entry_path else f.path end as path,
  case when c.file_id = f.id then c.type else coalesce(${typeOf("and s.since <= r.version")}, ${typeOf("")}) end as type`)
const fileJoins = sql`
  left join files f on f.id = coalesce(r.file_id, r.val_id)
  left join versions n on n.branch_id = coalesce(r.branch_id, r.val_id) and n.version = r.version ${withCode}`

function typeOf(condition: string): string {
  return `(select s.type from states s where s.branch_id = f.branch_id and s.path = f.path ${condition}
    and s.file_id = f.id and s.type is not null order by s.since desc limit 1)`
}

/** Runs in the database, read as traces. */
export function createTelemetryStore(db: Database): TelemetryStore {
  const read = readInTurn(db)
  return {
    async listVals({ branchIds, fileId }) {
      const conditions = [
        ...(branchIds === undefined ? [] : [sql`b.id in (${list(branchIds)})`]),
        ...(fileId === undefined
          ? []
          : [
              sql`b.val_id in (select o.val_id from files f join branches o on o.id = f.branch_id where f.id = ${fileId})`,
            ]),
      ]
      const found = await db.read<{ valId: string }>`
        select b.val_id from branches b where ${join(conditions, " and ")}`
      return [...new Set(found.map(({ valId }) => valId))]
    },
    walk: ({ view, vals }, { span, direction, runsMax }) => {
      // A part for each val reads as many runs as are returned.
      const atOnceMax = Math.ceil(runsMax / Math.max(1, vals?.length ?? 1))
      return walkRuns(read, { span, direction, runsMax: atOnceMax }, (part) =>
        vals === undefined
          ? withVisibleOwner(
              db.dialect,
              view,
              partOf(sql`r.account_id = ${view.ownerId}`, part),
              part,
            )
          : mergeParts(
              vals.map((val) => partOfVal(view.ownerId, val, part)),
              part,
            ),
      )
    },
    findSamples(view, ids) {
      const part = { direction: "desc" } as const
      return read(
        withVisibleOwner(
          db.dialect,
          view,
          sql`select r.id, r.val_id, ${placeColumns}, r.started_at, r.ended_at, r.status, r.owner_id from runs r
            where r.account_id = ${view.ownerId} and r.id in (${list(ids)})`,
          part,
        ),
      )
    },
    async findTraced(ids) {
      if (ids.length === 0) return new Map<string, TracedRun>()
      const found = await db.read<TracedRow>`
        select ${runColumns}, ${fileColumns} from runs r ${runJoins} ${fileJoins}
        where r.id in (${list(ids)})`
      return new Map(found.map((row) => [row.id, toTraced(row)]))
    },
    async findHeaders(id) {
      const row = await db.first<{
        input: StoredRunInput | null
        response: RunMessage | null
      }>`
        select r.input as input_json, p.response as response_json from runs r left join run_responses p on p.run_id = r.id
        where r.id = ${id}`
      const input = fromStoredInput(row?.input)
      return {
        request: input && isRequestInput(input) ? input.headers : null,
        response: row?.response?.headers ?? null,
      }
    },
    findLogs: (ids) => readLogs(db, ids),
  }
}

function toTraced({ path, type, fileId, branchId, ...row }: TracedRow) {
  return { run: toRun(row), fileId, branchId, path: path ?? "", type: type ?? "script" }
}

function partOfVal(
  accountId: string,
  { id, isOwn }: { readonly id: string; readonly isOwn: boolean },
  part: Part,
): Statement {
  // Nearly all runs of a val are on the account of its owner. Others are read by account, from a
  // small index of such runs.
  return isOwn
    ? partOf(
        sql`r.val_id = ${id}`,
        part,
        sql`case when r.account_id = ${accountId} then r.owner_id end`,
      )
    : partOf(
        sql`r.val_id = ${id} and r.account_id = ${accountId} and r.account_id <> r.owner_id`,
        part,
      )
}
