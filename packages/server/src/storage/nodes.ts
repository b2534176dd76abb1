import type { NodeStore } from "../domain/nodes.ts"
import { type Database, firstRow, type Script } from "./database/database.ts"
import type { Dialect } from "./database/dialect.ts"
import { nothing, type Statement, sql } from "./database/sql.ts"
import { hasOpenClaims, parseClaims, toFencesJson } from "./queue/claims.ts"
import { removeEmptyNode } from "./queue/take-over-runs.ts"

interface NodeRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly pid_started: string
  readonly is_expired: number
  readonly is_gone: number
}

/** Nodes in the database. */
export function createNodeStore(db: Database): NodeStore {
  const { now } = db.dialect
  return {
    add: (node, leaseMs) =>
      db.write(function* () {
        yield sql`insert into nodes (id, host, pid, pid_started, lease_until)
          values (${node.id}, ${node.host}, ${node.pid}, ${node.pidStarted}, ${now} + ${leaseMs})
          on conflict (id) do update set lease_until = excluded.lease_until, is_gone = 0, begun = null, claims = null`
      }),
    async renew(id, leaseMs) {
      const renewed = await db.writeOne(
        sql`update nodes set lease_until = ${now} + ${leaseMs} where id = ${id} and is_gone = 0 returning id`,
      )
      return renewed.length > 0
    },
    async list() {
      const found = await db.read<NodeRow>(sql`
        select id, host, pid, pid_started, is_gone, case when lease_until < ${now} then 1 else 0 end as is_expired from nodes`)
      return found.map((row) => ({
        id: row.id,
        host: row.host,
        pid: row.pid,
        pidStarted: row.pid_started,
        isExpired: row.is_expired === 1,
        isGone: row.is_gone === 1,
      }))
    },
    async saveBegun(id, fences) {
      const saved = await db.writeOne(
        sql`update nodes set begun = ${toFencesJson(fences)} where id = ${id} and is_gone = 0 returning id`,
      )
      return saved.length > 0
    },
    end: (id) => db.write(() => endNode(db.dialect, id, nothing)),
    endExpired: (id) => db.write(() => endNode(db.dialect, id, sql`and lease_until < ${now}`)),
  }
}

/** A node without runs is removed at once. */
function* endNode(dialect: Dialect, id: string, condition: Statement): Script<void> {
  const gone = yield* firstRow<{ claims: string | null }>(
    sql`update nodes set is_gone = 1 where id = ${id} ${condition} returning claims`,
  )
  if (gone && !(yield* hasOpenClaims(dialect, parseClaims(gone.claims)))) yield removeEmptyNode(id)
}
