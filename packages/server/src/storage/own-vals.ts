import type { OwnValFilter, OwnValSort, OwnValStore } from "../domain/own-vals.ts"
import type { Page } from "../domain/paging.ts"
import type { Database } from "./database.ts"
import { readVals } from "./read-vals.ts"
import { limitTo, toSlice } from "./slices.ts"
import { nothing, raw, type Statement, sql } from "./sql.ts"
import { listedColumns, toVal, withCurrentVersion } from "./val-rows.ts"

const limits = {
  /** So many of the newest vals are sorted where no index has the order: it takes some milliseconds. */
  sortedMax: 10_000,
}

/** The owner's vals in the database, as they are listed for them. */
export function createOwnValStore(db: Database, { sortedMax } = limits): OwnValStore {
  return {
    async list(ownerId, filter, page) {
      return toSlice(await readVals(db, listOwn(ownerId, filter, page, sortedMax)), page, toVal)
    },
  }
}

const columns: Readonly<Record<OwnValSort, string>> = {
  created: "created_at",
  updated: "updated_at",
  name: "name_key",
  likes: "like_count",
  run: "run_started_at",
}

/** Those for which there is an index, from which the list is read in order and cut. */
const indexedSorts: readonly OwnValSort[] = ["created", "name"]

function listOwn(ownerId: string, filter: OwnValFilter, page: Page, sortedMax: number): Statement {
  const { sort, order = sort === "name" ? "asc" : "desc" } = filter
  const isIndexed = indexedSorts.includes(sort)
  const own = isIndexed
    ? sql`vals own where own.owner_id = ${ownerId}`
    : sql`(select id, name_key, privacy, type, updated_at, like_count, run_started_at from vals where owner_id = ${ownerId}
        order by created_at desc, id desc limit ${sortedMax}) own where 1 = 1`
  // Never run is neither the latest nor the earliest, and the databases do not agree on which.
  const direction = isIndexed ? order : `${order} nulls last`
  // No two vals of an owner have the same name, and the index has nothing else.
  const ties = (alias: string) => (sort === "name" ? "" : `, ${alias}.id ${order}`)
  return sql`
    select ${listedColumns} from (select own.id, own.${raw(columns[sort])} as place from ${own} ${conditionsOf(filter)}
      order by ${raw(`own.${columns[sort]} ${direction}${ties("own")}`)} ${limitTo(page)}) found
    join vals v on v.id = found.id ${withCurrentVersion}
    order by ${raw(`found.place ${direction}${ties("found")}`)}`
}

function conditionsOf({ query, privacy, type }: OwnValFilter): Statement {
  return sql`${query ? sql`and own.name_key like ${`%${escapeLike(query.toLowerCase())}%`} escape '\\'` : nothing}
    ${privacy ? sql`and own.privacy = ${privacy}` : nothing} ${type ? sql`and own.type = ${type}` : nothing}`
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&")
}
