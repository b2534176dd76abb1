import {
  afterCursor,
  asIs,
  type Database,
  type Dialect,
  firstRow,
  join,
  limitPart,
  limitTo,
  newestFirst,
  newestOf,
  raw,
  readPage,
  type Script,
  type Statement,
  sql,
  toPage,
  within,
} from "@hamlet/database"
import type { PageRequest, Period } from "@hamlet/database/page"
import type { AccountView } from "../../domain/access/rights.ts"
import { findCallDepth } from "../../domain/call-depth.ts"
import type {
  Comment,
  CommentStore,
  NewComment,
  Relationship,
} from "../../domain/comments/comments.ts"
import { isVisible } from "../access/visibility.ts"
import { writeOnce } from "../accounts/write-once.ts"
import { emitCommented } from "../events/val-events.ts"
import { lockAccess } from "../vals/val-rows.ts"

const columns =
  raw(`c.id, c.comment, c.created_at, c.author_id, a.username as author_name, v.id as val__id, v.name as val__name,
  b.version as val__version, v.privacy as val__privacy, v.owner_id as val__owner_id, o.username as val__owner_name`)
const joins = raw(
  "join users a on a.id = c.author_id join vals v on v.id = c.val_id join branches b on b.id = v.id join users o on o.id = v.owner_id",
)

/** Comments in the database. */
export function createCommentStore(db: Database): CommentStore {
  return {
    listOfVal: (valId, page) =>
      readPage<Comment>(db, page, newestOf("c."))`
        select ${columns} from comments c ${joins} where c.val_id = ${valId}`,
    async listOfUser(view, relationship, period, page) {
      const rows = await db.read<Comment>(listOfUser(db.dialect, view, relationship, period, page))
      return toPage(rows, page, asIs, newestFirst.toKeys)
    },
    add(comment, authorize) {
      const depth = findCallDepth()
      return writeOnce(db, () => addComment(db.dialect, comment, depth, authorize), {
        inTurnOf: comment.valId,
      })
    },
    delete: (id, authorize) => db.write(() => deleteComment(db.dialect, id, authorize)),
  }
}

/**
 * Given and received comments are read from one index each and merged. Received comments have
 * another author, so no comment is in both.
 */
function listOfUser(
  dialect: Dialect,
  view: AccountView,
  relationship: Relationship,
  period: Period,
  page: PageRequest,
): Statement {
  const given = sql`c.author_id = ${view.ownerId}`
  const received = sql`c.val_owner_id = ${view.ownerId} and c.author_id <> c.val_owner_id`
  const conditions =
    relationship === "any" ? [given, received] : relationship === "given" ? [given] : [received]
  const parts = conditions.map(
    (condition) => sql`
    select * from (select c.id, c.created_at from comments c join vals v on v.id = c.val_id
    where ${condition} and ${isVisible(dialect, view)} ${within("c.created_at", period)} ${afterCursor(page, "c.created_at, c.id", newestFirst.kinds)}
    order by c.created_at desc, c.id desc ${limitPart(page)}) part`,
  )
  return sql`
    select ${columns} from (select id, created_at from (${join(parts, " union all ")}) parts order by created_at desc, id desc ${limitTo(page)}) found
    join comments c on c.id = found.id ${joins} order by c.created_at desc, c.id desc`
}

function* addComment(
  dialect: Dialect,
  comment: NewComment,
  depth: number,
  authorize: Parameters<CommentStore["add"]>[1],
): Script<Comment | undefined> {
  const val = yield* lockAccess(dialect, comment.valId)
  if (!val) return undefined
  authorize(val)
  yield sql`insert into comments (id, val_id, val_owner_id, author_id, comment, created_at)
    values (${comment.id}, ${comment.valId}, ${val.ownerId}, ${comment.authorId}, ${comment.comment}, ${comment.at})`
  const row = yield* firstRow<Comment>(selectComment(comment.id))
  if (!row) return undefined
  yield* emitCommented(dialect, {
    ...comment,
    userId: comment.authorId,
    authorName: row.authorName,
    ownerId: val.ownerId,
    depth,
  })
  return row
}

function* deleteComment(
  dialect: Dialect,
  id: string,
  authorize: Parameters<CommentStore["delete"]>[1],
): Script<boolean> {
  const found = yield* firstRow<Comment>(selectComment(id))
  if (!found) return false
  // Read again, since it may have changed before the val was locked.
  yield* lockAccess(dialect, found.val.id)
  const row = yield* firstRow<Comment>(selectComment(id))
  if (!row) return false
  authorize(row)
  yield sql`delete from comments where id = ${id}`
  return true
}

function selectComment(id: string): Statement {
  return sql`select ${columns} from comments c ${joins} where c.id = ${id}`
}
