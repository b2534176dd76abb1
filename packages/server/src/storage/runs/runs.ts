import { type Database, firstId, type Statement, sql } from "@hamlet/database"
import type { PageRequest } from "@hamlet/database/page"
import type { RunFilter, RunStore } from "../../domain/runs/runs.ts"
import { hasRole, isVisible } from "../access/visibility.ts"
import { giveUpRuns } from "../queue/give-up-runs.ts"
import { recordClaimed, toClaimedState } from "../queue/record-claimed.ts"
import { cancelChannel, requestCancel } from "../queue/take-over-runs.ts"
import { listRuns } from "./list-runs.ts"
import { sizesOf } from "./purge-runs.ts"
import { readLogs } from "./read-logs.ts"
import { countRunBytes, type RunWrite, toRunValues, writeRuns } from "./record-runs.ts"
import { addPartitions, dropPartitions, listPurgedTables } from "./run-partitions.ts"
import {
  fromStoredInput,
  isOfNoVal,
  type RunDetailRow,
  runColumns,
  runJoins,
  type StoredRunInput,
  toDetailColumns,
  toRunDetail,
} from "./run-rows.ts"

const limits = {
  /** Runs of a val among which the last one of a file is searched. */
  latestMax: 1_000,
  /**
   * Runs and bytes of a batch that starts the thread. From then on the thread writes every batch,
   * because waiting for the disk blocks the thread that writes.
   */
  threadRunsMin: 16,
  threadBytesMin: 262_144,
  /** Cancel requests that are read at a time. Those that were carried out make room for others. */
  cancelRequestsMax: 1_000,
}

const thread = new URL("./runs-thread.ts", import.meta.url)

function isLarge(write: RunWrite): boolean {
  if (write.kind !== "record") return false
  const { threadRunsMin, threadBytesMin } = limits
  return write.runs.length >= threadRunsMin || countRunBytes(write.runs) >= threadBytesMin
}

/** Runs in the database. */
export function createRunStore(db: Database): RunStore {
  const list = (condition: Statement, filter: RunFilter, page: PageRequest) =>
    listRuns(db, condition, filter, page)
  const write = (input: RunWrite) =>
    db.write(() => writeRuns(db.dialect, input), {
      byThread: { name: `runs: ${input.kind}`, module: thread, input, isLarge: isLarge(input) },
    })
  return {
    async find(view, id) {
      const row = await db.first<RunDetailRow>`
        select ${runColumns}, ${toDetailColumns(id)} from runs r ${runJoins}
        where r.id = ${id} and (${hasRole(db.dialect, "v.owner_id", view)} or (r.account_id = ${view.ownerId} and (${isOfNoVal} or v.privacy <> 'private')))`
      return row && toRunDetail(row)
    },
    listOfAccount: (view, filter, page) =>
      list(
        sql`r.account_id = ${view.ownerId} and (${isOfNoVal} or ${isVisible(db.dialect, view)})`,
        filter,
        page,
      ),
    listOfVal: (valId, accountId, filter, page) =>
      // Runs of a viewer who does not own the val are read by account, from a small index of such
      // runs.
      list(
        accountId === undefined
          ? sql`r.val_id = ${valId}`
          : sql`r.val_id = ${valId} and r.account_id = ${accountId} and r.account_id <> r.owner_id`,
        filter,
        page,
      ),
    // By val only: nearly all runs of a val are on the account of its owner.
    listOfOwner: (valId, filter, page) =>
      list(sql`r.val_id = ${valId} and r.account_id = r.owner_id`, filter, page),
    findLogs: (ids) => readLogs(db, ids),
    async findLastStart(valId, fileId) {
      const row = await db.first<{ startedAt: number }>`
        select started_at from (select id, file_id, val_id, started_at from runs where val_id = ${valId}
          order by started_at desc, id desc limit ${limits.latestMax}) r
        where coalesce(r.file_id, r.val_id) = ${fileId} order by started_at desc, id desc limit 1`
      return row?.startedAt ?? null
    },
    async findInput(id) {
      const row = await db.first<{ input: StoredRunInput | null }>`
        select input as input_json from runs where id = ${id}`
      return fromStoredInput(row?.input)
    },
    async record(all) {
      const runs = all.filter(({ claim }) => claim === undefined).map(toRunValues)
      const claimed = all.filter(({ claim }) => claim !== undefined).map(toClaimedState)
      const [, lost] = await Promise.all([
        runs.length > 0 && write({ kind: "record", runs }),
        claimed.length > 0 ? db.write(() => recordClaimed(db.dialect, claimed)) : [],
      ])
      return lost
    },
    giveUp: (nodeId, runs, end) => giveUpRuns(db, nodeId, runs, end),
    requestCancel: (id, at) => db.write(() => requestCancel(db.dialect, id, at)),
    onCancelRequest: (listener) => db.listen(cancelChannel, listener),
    async listCancelRequests() {
      const found = await db.read<{ id: string }>`
        select id from runs where cancel_requested = 1 and ended_at is null and id > ${firstId}
        order by id limit ${limits.cancelRequestsMax}`
      return found.map(({ id }) => id)
    },
    purge: (runsMax) => write({ kind: "purge_deleted", runsMax }),
    addPartitions: (keptMs) => addPartitions(db, keptMs),
    dropPartitions: (keptMs) => dropPartitions(db, keptMs),
    async purgeOlder(before, runsMax) {
      let hasMore = false
      for (const table of await listPurgedTables(db))
        hasMore = (await write({ kind: "purge_older", table, before, runsMax })) || hasMore
      return hasMore
    },
    purgeBeyond: (valId, keptMax, runsMax) =>
      write({ kind: "purge_beyond", valId, keptMax, runsMax }),
    listSizes: (accountId, after, runsMax) => db.read(sizesOf(accountId, after, runsMax)),
    purgeFrom: (accountId, from, runsMax) =>
      write({ kind: "purge_from", accountId, from, runsMax }),
  }
}
