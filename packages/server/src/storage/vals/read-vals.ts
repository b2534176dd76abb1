import type { CursorKeys } from "@hamlet/contract"
import {
  asIs,
  type Database,
  type LongTexts,
  readLongTexts,
  type Statement,
} from "@hamlet/database"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Val } from "../../domain/vals/vals.ts"
import { withEntry } from "./val-rows.ts"

/** A row of a list with `toListedColumns`: the code is null where the texts are too long for it. */
type Listed<Row extends Val> = Omit<Row, "code"> & { readonly code: string | null }

/** A page of vals. The statement selects them with `toListedColumns`. */
export async function readVals<Row extends Val>(
  db: Database,
  page: PageRequest,
  list: Statement,
  toKeys: (row: Row) => CursorKeys,
): Promise<Page<Row>> {
  return completeVals(db, page, await readListedVals<Row>(db, list), toKeys)
}

/** The rows of a list, some of which may lack their texts. */
export function readListedVals<Row extends Val = Val>(
  db: Database,
  list: Statement,
): Promise<readonly Listed<Row>[]> {
  return db.read<Omit<Val, "code"> & Pick<Listed<Val>, "code">>(list) as Promise<
    readonly unknown[]
  > as Promise<readonly Listed<Row>[]>
}

/** The page of these rows, with all texts. */
export function completeVals<Row extends Val>(
  db: Database,
  page: PageRequest,
  rows: readonly Listed<Row>[],
  toKeys: (row: Row) => CursorKeys,
): Promise<Page<Row>> {
  const texts: LongTexts<Listed<Row>, Row> = {
    isShort: ({ code }) => code === null,
    async complete(row) {
      const found = await db.first<Pick<Val, "code" | "readme">>`
      select coalesce(c.content, '') as code, d.content as readme from versions n ${withEntry} where n.branch_id = ${row.id} and n.version = ${row.version}`
      // The val was deleted a moment ago.
      return { ...row, ...(found ?? { code: "", readme: null }) } as unknown as Row
    },
    countChars: ({ code, readme }) => code.length + (readme?.length ?? 0),
  }
  return readLongTexts(rows, page, texts, asIs<Row>, toKeys)
}
