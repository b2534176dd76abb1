import type { Output as ApiOutput } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import { findStorage, ofVal } from "../names/find-storage.ts"
import type { Column } from "../output/list.ts"
import { readInput } from "../terminal/read-input.ts"

type ResultSet = ApiOutput<"executeSql">
type Row = ResultSet["rows"][number]

export const command = defineCommand({
  description: `Reads the statement from standard input if you pass none. The arguments after it are its parameters, parsed
as JSON where possible and otherwise taken as text. Prints rows to standard output and the number of
changed rows to standard error; with --json, the whole result is one object.`,
  examples: [
    ["hamlet sql 'select * from notes where id = ?' 3", "print rows as a table"],
    ['hamlet sql "insert into notes (text) values (?)" hello', "change data"],
    ["hamlet sql < schema.sql", "read the statement from a file"],
    ["hamlet sql --val blog 'select * from posts'", "in the database that one val has of its own"],
  ],
  takes: {
    "[statement]": "one SQL statement",
    "[args...]": "values for its parameters",
    ...ofVal,
  },
  async run({ connect, output }, { statement, args, val }) {
    const sql = statement ?? (await readInput())
    if (sql.trim() === "") throw new CliError("usage", "Cannot run SQL: the statement is empty")
    const storage = await findStorage(await connect(), val)
    const result = await storage.executeSql({ statement: { sql, args: args.map(toValue) } })
    if (output.mode === "json") return output.json(result)
    if (result.columns.length > 0)
      await output.list(toItems(result), {
        empty: "No rows",
        columns: result.columns.map(toColumn),
      })
    else output.note(`${result.rowsAffected} ${result.rowsAffected === 1 ? "row" : "rows"} changed`)
  },
})

async function* toItems({ rows }: ResultSet): AsyncGenerator<Row> {
  yield* rows
}

function toColumn(title: string, index: number): Column<Row> {
  return { title, value: (row) => toText(row[index]) }
}

function toText(value: unknown): string | number | null {
  if (value === null || value === undefined) return null
  return typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value)
}

/** Only values that SQLite can store are parsed; objects and arrays stay text. */
function toValue(text: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(text)
    if (
      value === null ||
      typeof value === "number" ||
      typeof value === "boolean" ||
      typeof value === "string"
    )
      return value
  } catch {
    // Not JSON.
  }
  return text
}
