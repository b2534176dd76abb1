import type { CodeSave, TableColumns } from "../database/dialect.ts"
import { type Statement, sql } from "../database/sql.ts"

const columns = {
  save_id: "id",
  author_id: "id",
  new_version: "integer",
  saved_at: "time",
  new_code: "text",
  code_bytes: "integer",
  search_body: "text",
  old_name: "text",
  old_privacy: "text",
  old_description: "text",
  old_version: "integer",
  old_version_last: "integer",
  code_path: "text",
  code_file_id: "id",
  code_type: "text",
  old_readme_since: "integer",
} as const satisfies TableColumns

function toRow({ before, entry, ...save }: CodeSave): Record<keyof typeof columns, unknown> {
  return {
    save_id: save.valId,
    author_id: save.ownerId,
    new_version: save.version,
    saved_at: save.savedAt,
    new_code: save.code,
    code_bytes: Buffer.byteLength(save.code),
    search_body: save.searchText.body,
    old_name: before.name,
    old_privacy: before.privacy,
    old_description: before.description,
    old_version: before.version,
    old_version_last: before.versionLast,
    code_path: entry.path,
    code_file_id: entry.fileId,
    code_type: entry.type,
    old_readme_since: save.readmeSince,
  }
}

/**
 * Saves code of several vals. Each part takes the vals that the part before it has left, so that a val is
 * saved as a whole or not at all: those that are locked by no other transaction and are still as they were
 * read. PostgreSQL compares a row again that was changed after the statement had begun.
 */
export function saveCode(
  saves: readonly CodeSave[],
  tableOf: (rows: readonly object[], columns: TableColumns) => Statement,
): Statement {
  return sql`
    with saves as materialized (select * from ${tableOf(saves.map(toRow), columns)}),
    locked as (
      select v.id from saves join vals v on v.id = save_id
      where v.name = old_name and v.privacy = old_privacy and v.description is not distinct from old_description
      order by v.id for update of v skip locked),
    saved as (
      update branches b set version = new_version, version_last = new_version, updated_at = saved_at, entry_type = code_type,
        bytes = b.bytes + code_bytes
      from locked join saves on save_id = locked.id
      where b.id = locked.id and b.version = old_version and b.version_last = old_version_last returning b.id),
    new_versions as (
      insert into versions (branch_id, version, created_at, author_id, entry_path, entry_since, readme_since)
      select id, new_version, saved_at, author_id, code_path, new_version, old_readme_since from saved join saves on save_id = id),
    new_states as (
      insert into states (branch_id, path, since, file_id, type, created_at, content)
      select id, code_path, new_version, code_file_id, code_type, saved_at, new_code from saved join saves on save_id = id),
    new_texts as (
      update search_texts t set body = search_body from saved join saves on save_id = saved.id
      where t.val_id = saved.id and t.path = '')
    select id from saved`
}
