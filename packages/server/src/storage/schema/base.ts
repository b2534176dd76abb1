import { readFileSync } from "node:fs"
import type { Ddl, Migration } from "@hamlet/database"

/**
 * The schema that an empty database gets first; `migrations/index.ts` has the steps after it. The
 * tables are in the `.sql` files of this folder, one text for both databases: words in capitals are
 * the column types of `Ddl`. Times are milliseconds since 1970, booleans are 0 or 1, and
 * a `…_key` is the lower-case text that must be unique.
 *
 * It is the schema of 0.2.0. On PostgreSQL, databases that are older have the same tables with some
 * other names of constraints, such as `new_versions_pkey`, and `search_texts.path` is their last column.
 */
export const base: Migration = {
  version: 40,
  name: "base",
  release: "0.2.0",
  statements: (ddl) => [
    ...["accounts", "vals", "runs", "messages"].flatMap((name) => readTables(name, ddl)),
    ...ddl.choose({ sqlite: searchTables, postgres: searchIndexes }),
  ],
}

/** The statements of a file, without its comments and line breaks. */
function readTables(name: string, { types, tableOptions }: Ddl): readonly string[] {
  const words = Object.entries(types).map(([type, text]) => [type.toUpperCase(), text] as const)
  const texts = new Map([...words, ["\n)", ` ) ${tableOptions}`]])
  return readFileSync(new URL(`./${name}.sql`, import.meta.url), "utf8")
    .replace(/^--.*\n/gm, "")
    .replace(/\b[A-Z]+\b|\n\)/g, (found) => texts.get(found) ?? found)
    .split(";\n")
    .map((statement) => statement.replace(/\s+/g, " ").trim())
    .filter((statement) => statement !== "")
}

/**
 * SQLite: two FTS5 tables over search_texts, which store no copy of the text and no positions.
 * Triggers keep them up to date. A new body fires none: the save itself indexes the part of the body
 * that has changed.
 */
const searchTables: readonly string[] = [
  `create virtual table search_name using fts5 (
    name, content = 'search_texts', content_rowid = 'key', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
  `create virtual table search_body using fts5 (
    body, content = 'search_texts', content_rowid = 'key', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
  `create trigger search_texts_inserted after insert on search_texts when new.is_public = 1 begin
    insert into search_name (rowid, name) values (new.key, new.name);
    insert into search_body (rowid, body) values (new.key, new.body);
  end`,
  `create trigger search_texts_deleted after delete on search_texts when old.is_public = 1 begin
    insert into search_name (search_name, rowid, name) values ('delete', old.key, old.name);
    insert into search_body (search_body, rowid, body) values ('delete', old.key, old.body);
  end`,
  `create trigger search_texts_updated after update of is_public, name on search_texts begin
    insert into search_name (search_name, rowid, name) select 'delete', old.key, old.name where old.is_public = 1;
    insert into search_body (search_body, rowid, body) select 'delete', old.key, old.body where old.is_public = 1;
    insert into search_name (rowid, name) select new.key, new.name where new.is_public = 1;
    insert into search_body (rowid, body) select new.key, new.body where new.is_public = 1;
  end`,
]

/** PostgreSQL: two GIN indexes. pg_trgm is trusted: the owner of a database may create it. */
const searchIndexes: readonly string[] = [
  "create extension if not exists pg_trgm",
  "create index search_names on search_texts using gin (name gin_trgm_ops) where is_public = 1",
  "create index search_bodies on search_texts using gin (body gin_trgm_ops) where is_public = 1",
]
