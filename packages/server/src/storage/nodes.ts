import {
  type Database,
  type Dialect,
  firstRow,
  idOrder,
  nothing,
  readClock,
  readPage,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import { type ListedNode, type NodeReport, type NodeStore, nodeLeaseMs } from "../domain/nodes.ts"
import { hasOpenClaims, listClaims, type StoredClaims, toFencesJson } from "./claims/node-claims.ts"
import { removeEmptyNode } from "./queue/take-over-runs.ts"

/** Nodes in the database. */
export function createNodeStore(db: Database): NodeStore {
  const { now } = db.dialect
  const columns = sql`id, host, pid, pid_started, is_gone, lease_until - ${now} as lease_left_ms`
  // A node of the release before has a longer lease.
  const seenAt = sql`case when lease_until - ${nodeLeaseMs} > ${now} then ${now} else lease_until - ${nodeLeaseMs} end`
  return {
    add: (node, leaseMs, report) =>
      db.run`insert into nodes (id, host, pid, pid_started, lease_until, report)
        values (${node.id}, ${node.host}, ${node.pid}, ${node.pidStarted}, ${now} + ${leaseMs}, ${toJson(report)})
        on conflict (id) do update set lease_until = excluded.lease_until, report = excluded.report,
          is_gone = 0, begun = null, claims = null`,
    async renew(id, leaseMs, report) {
      const renewed = await db.runUrgent`
        update nodes set lease_until = ${now} + ${leaseMs}, report = ${toJson(report)}
          where id = ${id} and is_gone = 0 returning id`
      return renewed.length > 0
    },
    readClock: () => readClock(db),
    list: () => db.read`select ${columns} from nodes`,
    listPage: (page) =>
      readPage<ListedNode>(db, page, idOrder(""))`
        select ${columns}, ${seenAt} as seen_at, report as report_json from nodes where true`,
    async saveBegun(id, fences) {
      const saved = await db.writeOne`
        update nodes set begun = ${toFencesJson(fences)} where id = ${id} and is_gone = 0 returning id`
      return saved.length > 0
    },
    end: (id) => db.write(() => endNode(db.dialect, id, nothing)),
    endExpired: (id) => db.write(() => endNode(db.dialect, id, sql`and lease_until < ${now}`)),
  }
}

/** A node without runs is removed at once. */
function* endNode(dialect: Dialect, id: string, condition: Statement): Script<void> {
  const gone = yield* firstRow<{ claims: StoredClaims | null }>`
    update nodes set is_gone = 1 where id = ${id} ${condition} returning claims as claims_json`
  if (gone && !(yield* hasOpenClaims(dialect, listClaims(gone.claims)))) yield removeEmptyNode(id)
}

const toJson = (report: NodeReport | undefined) => (report ? toOwnJson(report) : null)
