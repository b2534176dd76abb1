import { type Dialect, raw, type Statement, sql } from "@hamlet/database"
import type { Viewer } from "../../domain/access/rights.ts"

/** Whether the viewer has a role in the owner whose id is in the column. */
export function hasRole(dialect: Dialect, column: string, { roles }: Viewer): Statement {
  const [first, ...others] = roles.keys()
  if (first === undefined) return raw("1 = 0")
  return others.length === 0
    ? sql`${raw(column)} = ${first}`
    : dialect.isAnyId(column, [first, ...others])
}

/** Whether the viewer may see the val, given its address: the rule of `rightsOn` as SQL. */
export function isVisible(
  dialect: Dialect,
  viewer: Viewer | undefined,
  alias: string = "v",
): Statement {
  const isForAll = raw(`${alias}.privacy <> 'private'`)
  return viewer === undefined
    ? isForAll
    : sql`(${isForAll} or ${hasRole(dialect, `${alias}.owner_id`, viewer)})`
}

/** Whether the viewer may find the val in a list: it is public, or of an owner of theirs. */
export function isListed(dialect: Dialect, alias: string, viewer: Viewer | undefined): Statement {
  const isPublic = raw(`${alias}.privacy = 'public'`)
  return viewer === undefined
    ? isPublic
    : sql`(${isPublic} or ${hasRole(dialect, `${alias}.owner_id`, viewer)})`
}
