import type { NodeStore } from "../domain/nodes.ts"
import { type Database, rows } from "./database/database.ts"
import { sql } from "./database/sql.ts"

interface NodeRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly pid_started: string
  readonly is_expired: number
}

/** Nodes in the database. */
export function createNodeStore(db: Database): NodeStore {
  const { now } = db.dialect
  return {
    add: (node, leaseMs) =>
      db.write(function* () {
        yield sql`insert into nodes (id, host, pid, pid_started, lease_until)
          values (${node.id}, ${node.host}, ${node.pid}, ${node.pidStarted}, ${now} + ${leaseMs})
          on conflict (id) do update set lease_until = excluded.lease_until`
      }),
    renew: (id, leaseMs) =>
      db.write(function* () {
        const renewed = yield* rows(
          sql`update nodes set lease_until = ${now} + ${leaseMs} where id = ${id} returning id`,
        )
        return renewed.length > 0
      }),
    async list() {
      const found = await db.read<NodeRow>(sql`
        select id, host, pid, pid_started, case when lease_until < ${now} then 1 else 0 end as is_expired from nodes`)
      return found.map((row) => ({
        id: row.id,
        host: row.host,
        pid: row.pid,
        pidStarted: row.pid_started,
        isExpired: row.is_expired === 1,
      }))
    },
    remove: (id) =>
      db.write(function* () {
        yield sql`delete from nodes where id = ${id}`
      }),
    removeExpired: (id) =>
      db.write(function* () {
        const removed = yield* rows(
          sql`delete from nodes where id = ${id} and lease_until < ${now} returning id`,
        )
        return removed.length > 0
      }),
  }
}
