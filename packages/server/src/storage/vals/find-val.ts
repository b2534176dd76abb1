import type { Val, ValStore } from "../../domain/vals/vals.ts"
import { createBatchLookup } from "../database/batch-lookups.ts"
import type { Database } from "../database/database.ts"
import { createExactCache } from "../database/exact-cache.ts"
import { sql } from "../database/sql.ts"
import { toVal, type ValRow, valColumns, withCurrentVersion } from "./val-rows.ts"

const limits = { keysMax: 100, rememberedCharsMax: 8_000_000 }

/** Finds a val by its id, the lookup that nearly every request begins with. */
export function createFindById(db: Database): ValStore["findById"] {
  const find = async (id: string) => {
    const [row] = await db.read<ValRow>(
      sql`select ${valColumns} from vals v ${withCurrentVersion} where v.id = ${id}`,
    )
    return row && toVal(row)
  }
  const { gather } = db.dialect
  if (!gather) return createExactCache(db, find, { weightMax: limits.rememberedCharsMax }, weigh)
  return createBatchLookup<string, Val>(async (ids) => {
    const found = await db.read<ValRow>(
      sql`select ${valColumns} from vals v ${withCurrentVersion} where ${gather.isAnyId("v.id", ids)}`,
    )
    return new Map(found.map((row) => [row.id, toVal(row)]))
  }, limits)
}

function weigh(val: Val): number {
  return val.code.length + (val.readme?.length ?? 0) + 500
}
