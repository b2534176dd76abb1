import {
  type Database,
  listOrder,
  raw,
  readPage,
  type Statement,
  sql,
  within,
} from "@hamlet/database"
import type { PageRequest, Period } from "@hamlet/database/page"
import type { Reference, ReferenceStore } from "../../domain/vals/references.ts"
import { isListed } from "../access/visibility.ts"

/** The importing val, and the imported val. */
type End = "from" | "to"

/**
 * References in the database. The viewer may see the val that a list is about; the val at the other
 * end must be one that they may find in a list.
 */
export function createReferenceStore(db: Database): ReferenceStore {
  const list = (condition: Statement, ends: readonly End[], period: Period, page: PageRequest) => {
    const columns = ["d.created_at", ...ends.map((end) => `d.${end}_val_id`)]
    const order = listOrder<Reference>(
      columns.join(", "),
      ["time", ...ends.map(() => "id" as const)],
      (row) => [row.at, ...ends.map((end) => row[end].id)],
    )
    return readPage(db, page, order)`
      select d.created_at as at, f.id as from__id, f.name as from__name, f.owner_id as from__owner_id, fo.username as from__owner_name,
        t.id as to__id, t.name as to__name, t.owner_id as to__owner_id, o.username as to__owner_name
      from dependencies d
      join vals f on f.id = d.from_val_id join users fo on fo.id = f.owner_id
      join vals t on t.id = d.to_val_id join users o on o.id = t.owner_id
      where ${condition} ${within("d.created_at", period)}`
  }
  return {
    listToUser: (view, period, page) =>
      list(
        sql`d.to_owner_id = ${view.ownerId} and ${isListed(db.dialect, "f", view)}`,
        ["from", "to"],
        period,
        page,
      ),
    listOfVal(viewer, valId, end, period, page) {
      const isOther = isListed(db.dialect, end === "to" ? "f" : "t", viewer)
      const condition = sql`d.${raw(end)}_val_id = ${valId} and ${isOther}`
      return list(condition, [end === "to" ? "from" : "to"], period, page)
    },
  }
}
