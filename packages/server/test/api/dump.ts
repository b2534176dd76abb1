import { raw } from "@hamlet/database"
import { openAgain, type TestDatabase } from "../support/databases.ts"

/** All rows of all tables, as a reader of the database sees them. */
export async function dumpDatabase(database: TestDatabase): Promise<string> {
  const db = await openAgain(database)
  try {
    const tables = await db.read<{ name: string }>(
      raw(database.url === undefined ? tablesOfSqlite : tablesOfPostgres),
    )
    const rows = await Promise.all(
      tables.map(({ name }) => db.read<Record<string, unknown>>(raw(`select * from "${name}"`))),
    )
    return rows
      .flat()
      .flatMap((row) => Object.values(row).map(toText))
      .join("\n")
  } finally {
    await db.stop()
  }
}

const tablesOfSqlite = "select name from sqlite_master where type = 'table'"
const tablesOfPostgres =
  "select table_name as name from information_schema.tables where table_schema = 'public'"

/**
 * Bytes as text, and also as hexadecimal digits and base64, in case that is how something was
 * hidden.
 */
function toText(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value)
  return ["latin1", "hex", "base64"]
    .map((encoding) => Buffer.from(value).toString(encoding as BufferEncoding))
    .join("\n")
}
