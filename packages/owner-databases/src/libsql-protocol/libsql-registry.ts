import {
  type LibsqlServer,
  type LibsqlStatement,
  type LibsqlValue,
  toUnexpected,
} from "./libsql-server.ts"

/** The owner of a database: a user, or a val of the user. */
interface Home {
  readonly ownerId: string
  readonly valId?: string
}

/** A database of the registry, and its size when it was written last. */
export type RegisteredDatabase = Home & { readonly bytes: number }

/** The namespace of the registry. */
export const registryNamespace = "hamlet"

const limits = {
  bytesMax: 1024 ** 3,
  /** Databases that are read at a time. */
  pageMax: 1_000,
}

/** The namespace of a database. */
export function toNamespace({ ownerId, valId }: Home): string {
  return valId === undefined ? `user-${ownerId}` : `val-${valId}`
}

/** Which databases of users there are. */
export type LibsqlRegistry = ReturnType<typeof createLibsqlRegistry>

/**
 * The server cannot list its namespaces, so that a list of them is in a namespace of its own. A
 * database is added before its namespace is created and removed after it, so that none is forgotten.
 */
export function createLibsqlRegistry(server: LibsqlServer) {
  let hasTable = false
  const run = async (
    statements: readonly LibsqlStatement[],
  ): Promise<readonly LibsqlValue[][][]> => {
    const first = hasTable ? [] : [{ sql: schema }]
    const rows = await server.execute(registryNamespace, [...first, ...statements])
    hasTable = rows !== undefined
    if (rows) return rows.slice(first.length)
    await server.createNamespace(registryNamespace, limits.bytesMax)
    return run(statements)
  }
  const list = async (where: string, ...args: readonly string[]) => {
    const found = await run([
      {
        sql: `select owner_id, val_id, bytes from databases where ${where}`,
        args: args.map(toText),
      },
    ])
    return (found[0] ?? []).map(toDatabase)
  }
  return {
    /** The databases of a user and of the user's vals. */
    listOf: (ownerId: string) => list("owner_id = ?", ownerId),
    /** All databases, in pages. */
    async *listAll(): AsyncGenerator<readonly RegisteredDatabase[], void> {
      for (let last = { ownerId: "", valId: "" }; ; ) {
        const page = await list(
          `(owner_id, val_id) > (?, ?) order by owner_id, val_id limit ${limits.pageMax}`,
          last.ownerId,
          last.valId,
        )
        if (page.length === 0) return
        yield page
        const { ownerId = "", valId = "" } = page.at(-1) ?? {}
        last = { ownerId, valId }
      }
    },
    async add(home: Home): Promise<void> {
      const sql = "insert into databases values (?, ?, 0) on conflict do nothing"
      await run([{ sql, args: toKey(home) }])
    },
    async remove(home: Home): Promise<void> {
      const sql = "delete from databases where owner_id = ? and val_id = ?"
      await run([{ sql, args: toKey(home) }])
    },
    /** Records sizes. */
    async setBytes(databases: readonly RegisteredDatabase[]): Promise<void> {
      if (databases.length === 0) return
      const sql = "update databases set bytes = ? where owner_id = ? and val_id = ?"
      const statements = databases.map((database) => ({
        sql,
        args: [toInteger(database.bytes), ...toKey(database)],
      }))
      await run([{ sql: "begin immediate" }, ...statements, { sql: "commit" }])
    },
  }
}

const schema = `create table if not exists databases (owner_id text not null, val_id text not null,
  bytes integer not null, primary key (owner_id, val_id)) without rowid`

/** The val of a user's own database is an empty text. */
function toKey({ ownerId, valId = "" }: Home): readonly LibsqlValue[] {
  return [toText(ownerId), toText(valId)]
}

function toDatabase(row: readonly LibsqlValue[]): RegisteredDatabase {
  const [ownerId = "", valId = "", bytes = ""] = row.map((value) =>
    "value" in value ? String(value.value) : "",
  )
  if (!/^\d{1,15}$/.test(bytes)) throw toUnexpected()
  return { ownerId, ...(valId === "" ? {} : { valId }), bytes: Number(bytes) }
}

function toText(value: string): LibsqlValue {
  return { type: "text", value }
}

/** A whole number as an argument of a statement. */
export function toInteger(value: number): LibsqlValue {
  return { type: "integer", value: String(value) }
}
