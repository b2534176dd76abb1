import { limits } from "@hamlet/contract"
import type { Output } from "@hamlet/contract/client"
import { z } from "zod"
import { findStorage, storageArgument as val } from "../find-storage.ts"
import { truncate } from "../text-pages.ts"
import { defineTool, toolLimits } from "../tool.ts"

const sql = z.string().min(1).max(limits.sqlCharsMax).describe("One SQLite statement")
const cell = z.union([z.null(), z.number(), z.string()])
const args = z
  .array(z.union([z.null(), z.boolean(), z.number(), z.string()]))
  .max(1_000)
  .optional()
  .describe("The values of its ? parameters")

const result = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(cell)),
  rowCount: z.int().describe("How many rows the statement returned"),
  isTruncated: z.boolean().describe("Whether rows or long values were left out; use LIMIT"),
  rowsAffected: z.int(),
})

type ResultSet = Output<"executeSql">

/** Rows until there are too many, or too much text. */
function toResult({ columns, rows, rowsAffected }: ResultSet): z.infer<typeof result> {
  const taken: ResultSet["rows"] = []
  let chars = 0
  let isTruncated = false
  for (const row of rows) {
    const cells = row.map((value) => {
      if (typeof value !== "string" || value.length <= toolLimits.valueCharsMax) return value
      isTruncated = true
      return truncate(value, toolLimits.valueCharsMax)
    })
    chars += JSON.stringify(cells).length
    const isFull = taken.length === toolLimits.rowsMax || chars > toolLimits.textCharsMax
    if (isFull && taken.length > 0) break
    taken.push(cells)
  }
  isTruncated ||= taken.length < rows.length
  return { columns, rows: taken, rowCount: rows.length, isTruncated, rowsAffected }
}

const querySqlite = defineTool({
  name: "query_sqlite",
  title: "Query the database",
  description:
    "Runs one statement that reads your SQLite database: the one that all your vals share through std/sqlite, or that of one val. select name, sql from sqlite_master shows the tables, of which _hamlet_requests is the server's.",
  scopes: ["sqlite:read"],
  effect: "read",
  input: z.object({ sql, args, val }),
  output: result,
  async run(context, { sql, args = [], val }) {
    const { storage } = await findStorage(context, val)
    const statements = [{ sql, args }]
    const [first] = await storage.batchSql({ statements, mode: "read" })
    const none = { columns: [], columnTypes: [], rows: [], rowsAffected: 0, lastInsertRowid: null }
    return { data: toResult(first ?? none) }
  },
})

const executeSqlite = defineTool({
  name: "execute_sqlite",
  title: "Change the database",
  description:
    "Runs statements that change your SQLite database, all of them or none. There is no undo.",
  scopes: ["sqlite:read", "sqlite:write"],
  effect: "destroy",
  input: z.object({
    statements: z
      .array(z.object({ sql, args }))
      .min(1)
      .max(100)
      .describe("In this order, in one transaction"),
    val,
  }),
  output: z.object({ results: z.array(result) }),
  async run(context, { statements, val }) {
    const { storage } = await findStorage(context, val)
    const results = await storage.batchSql({
      statements: statements.map(({ sql, args = [] }) => ({ sql, args })),
      mode: "write",
    })
    return { data: { results: results.map(toResult) } }
  },
})

/** The database of the user, and those of the user's vals. */
export const sqliteTools = [querySqlite, executeSqlite]
