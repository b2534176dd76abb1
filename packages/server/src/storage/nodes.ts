import type { NodeStore } from "../domain/nodes.ts"
import type { Database } from "./database/database.ts"
import { sql } from "./database/sql.ts"

interface NodeRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly pid_started: string
  readonly seen_at: number | string
}

/** Nodes in the database. */
export function createNodeStore(db: Database): NodeStore {
  return {
    beat: (node, at) =>
      db.write(function* () {
        yield sql`insert into nodes (id, host, pid, pid_started, seen_at)
          values (${node.id}, ${node.host}, ${node.pid}, ${node.pidStarted}, ${at})
          on conflict (id) do update set seen_at = excluded.seen_at`
      }),
    async list() {
      const found = await db.read<NodeRow>(
        sql`select id, host, pid, pid_started, seen_at from nodes`,
      )
      return found.map((row) => ({
        id: row.id,
        host: row.host,
        pid: row.pid,
        pidStarted: row.pid_started,
        seenAt: Number(row.seen_at),
      }))
    },
    remove: (id, seenAt) =>
      db.write(function* () {
        yield seenAt === undefined
          ? sql`delete from nodes where id = ${id}`
          : sql`delete from nodes where id = ${id} and seen_at = ${seenAt}`
      }),
  }
}
