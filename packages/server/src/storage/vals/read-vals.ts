import type { Val } from "../../domain/vals/vals.ts"
import { createTimeSlice } from "../../shared/time-slice.ts"
import type { Database } from "../database/database.ts"
import type { Statement } from "../database/sql.ts"
import { withEntry } from "./val-rows.ts"

/**
 * The rows of a list with `toListedColumns`. Long texts are read afterwards, one val at a time, with
 * pauses in which the server handles other requests.
 */
export async function readVals<Row extends Val = Val>(
  db: Database,
  list: Statement,
): Promise<readonly Row[]> {
  return withTexts<Val>(
    await db.read<Omit<Val, "code"> & OptionalCode>(list),
    async ({ id, version }) => {
      const texts = await db.first<Pick<Val, "code" | "readme">>`
      select coalesce(c.content, '') as code, d.content as readme from versions n ${withEntry} where n.branch_id = ${id} and n.version = ${version}`
      // It was deleted a moment ago.
      return texts ?? { code: "", readme: null }
    },
  ) as Promise<readonly Row[]>
}

/** The code is null where it is too long for the list. */
interface OptionalCode {
  readonly code: string | null
}

/** Completes the rows whose code was too long for the list. */
export async function withTexts<Row extends { readonly code: string }>(
  rows: readonly (Omit<Row, "code"> & OptionalCode)[],
  readTexts: (row: Omit<Row, "code">) => Promise<Partial<Row>>,
): Promise<readonly Row[]> {
  const pace = createTimeSlice()
  const complete: Row[] = []
  for (const row of rows) {
    complete.push((row.code === null ? { ...row, ...(await readTexts(row)) } : row) as Row)
    await pace()
  }
  return complete
}
