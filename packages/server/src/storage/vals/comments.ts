import { findCallDepth } from "../../domain/call-depth.ts"
import type { PageRequest, Period } from "../../domain/paging.ts"
import type { Comment, CommentStore, NewComment, Relationship } from "../../domain/vals/comments.ts"
import type { Privacy } from "../../domain/vals/vals.ts"
import { type Database, firstRow, type Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import {
  afterCursor,
  limitPart,
  limitTo,
  newestFirst,
  toPage,
  within,
} from "../database/pagination.ts"
import { join, raw, type Statement, sql } from "../database/sql.ts"
import { writeOnce } from "../database/write-once.ts"
import { emitCommented } from "../events/val-events.ts"
import { isVisible } from "./val-rows.ts"

interface CommentRow {
  readonly id: string
  readonly comment: string
  readonly created_at: number | string
  readonly author_id: string
  readonly author_name: string
  readonly val_id: string
  readonly name: string
  readonly version: number
  readonly privacy: Privacy
  readonly owner_id: string
  readonly owner_name: string
}

const columns =
  raw(`c.id, c.comment, c.created_at, c.author_id, a.username as author_name, v.id as val_id, v.name, v.version, v.privacy,
  v.owner_id, o.username as owner_name`)
const joins = raw(
  "join users a on a.id = c.author_id join vals v on v.id = c.val_id join users o on o.id = v.owner_id",
)

/** Comments in the database. */
export function createCommentStore(db: Database): CommentStore {
  return {
    async find(id) {
      const [row] = await db.read<CommentRow>(
        sql`select ${columns} from comments c ${joins} where c.id = ${id}`,
      )
      return row && toComment(row)
    },
    async listOfVal(valId, page) {
      const rows = await db.read<CommentRow>(sql`
        select ${columns} from comments c ${joins} where c.val_id = ${valId} ${isAfter(page)}
        order by c.created_at desc, c.id desc ${limitTo(page)}`)
      return toPage(rows, page, toComment, newestFirst.toKeys)
    },
    async listOfUser(userId, relationship, period, page) {
      const rows = await db.read<CommentRow>(listOfUser(userId, relationship, period, page))
      return toPage(rows, page, toComment, newestFirst.toKeys)
    },
    add(comment) {
      const depth = findCallDepth()
      return writeOnce(db, () => addComment(db.dialect, comment, depth))
    },
    delete: (id) =>
      db.write(function* () {
        yield sql`delete from comments where id = ${id}`
      }),
  }
}

function isAfter(page: PageRequest): Statement {
  return afterCursor(page, "c.created_at, c.id", newestFirst.kinds)
}

/**
 * Given and received comments are read from one index each and merged. Received comments have
 * another author, so no comment is in both.
 */
function listOfUser(
  userId: string,
  relationship: Relationship,
  period: Period,
  page: PageRequest,
): Statement {
  const given = sql`c.author_id = ${userId}`
  const received = sql`c.val_owner_id = ${userId} and c.author_id <> c.val_owner_id`
  const conditions =
    relationship === "any" ? [given, received] : relationship === "given" ? [given] : [received]
  const parts = conditions.map(
    (condition) => sql`
    select * from (select c.id, c.created_at from comments c join vals v on v.id = c.val_id
    where ${condition} and ${isVisible(userId)} ${within("c.created_at", period)} ${isAfter(page)}
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
): Script<Comment | undefined> {
  const val = yield* firstRow<{ owner_id: string }>(
    sql`select owner_id from vals where id = ${comment.valId} ${dialect.forUpdate}`,
  )
  if (!val) return undefined
  yield sql`insert into comments (id, val_id, val_owner_id, author_id, comment, created_at)
    values (${comment.id}, ${comment.valId}, ${val.owner_id}, ${comment.authorId}, ${comment.comment}, ${comment.at})`
  const row = yield* firstRow<CommentRow>(
    sql`select ${columns} from comments c ${joins} where c.id = ${comment.id}`,
  )
  if (!row) return undefined
  yield* emitCommented(dialect, {
    ...comment,
    ...{ userId: comment.authorId, authorName: row.author_name, ownerId: val.owner_id, depth },
  })
  return toComment(row)
}

function toComment(row: CommentRow): Comment {
  return {
    id: row.id,
    comment: row.comment,
    createdAt: Number(row.created_at),
    authorId: row.author_id,
    authorName: row.author_name,
    val: {
      id: row.val_id,
      name: row.name,
      version: row.version,
      privacy: row.privacy,
      ownerId: row.owner_id,
      ownerName: row.owner_name,
    },
  }
}
