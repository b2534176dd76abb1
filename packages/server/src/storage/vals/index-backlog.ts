import { type Database, type Dialect, firstRow, type Script, sql } from "@hamlet/database"
import { createTree } from "../../domain/files/tree.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { readPaths } from "../files/branch-rows.ts"
import { toSearchedFiles, writeFileTexts } from "../search/file-texts.ts"
import { writeSearchText } from "./changes/change-val.ts"
import { isJoinedId, valColumns, withCurrentVersion } from "./val-rows.ts"

/**
 * Writes the search texts of some vals that a migration or a restore has left to housekeeping. Each
 * val has a transaction of its own, which other saves need not wait for. Returns whether there may be
 * more.
 */
export async function indexBacklog(db: Database, valsMax: number): Promise<boolean> {
  const found = await db.read<{ valId: string }>`
    select val_id from search_backlog order by val_id limit ${valsMax}`
  for (const { valId } of found) await db.write(() => indexVal(db.dialect, valId))
  const left = await db.read`select val_id from search_backlog limit 1`
  return left.length > 0
}

function* indexVal(dialect: Dialect, valId: string): Script<void> {
  yield sql`select id from vals where id = ${valId} ${dialect.forUpdate}`
  const val = yield* firstRow<Val>`
    select ${valColumns} from vals v ${withCurrentVersion} where ${isJoinedId(dialect, "v.id", valId)}`
  if (!val) return
  yield writeSearchText(dialect, val)
  const { files } = createTree(yield* readPaths(valId, val.version))
  const texts = writeFileTexts(dialect, valId, undefined, toSearchedFiles(files, val.file.path))
  // Adds the val again if it has more text than one transaction indexes.
  yield sql`delete from search_backlog where val_id = ${valId}`
  if (texts) yield texts
}
