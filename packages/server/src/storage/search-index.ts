import { raw, type Statement, sql } from "./sql.ts"

/** A trigram index over the texts of public vals. */
export interface SearchIndex {
  readonly schema: readonly string[]
  /** Selects the `val_id` of public vals whose text contains the folded query of at least three characters; of too many, the newest where that is cheap. */
  find(column: "name" | "body", folded: string, countMax: number): Statement
}

/**
 * On SQLite an FTS5 table over search_texts, which keeps no copy of the text. Triggers keep it in step, so that the statements
 * that write search_texts are the same on both databases.
 */
export const sqliteSearchIndex: SearchIndex = {
  schema: [
    `create virtual table search_index using fts5 (name, body, content = 'search_texts', content_rowid = 'key', tokenize = 'trigram case_sensitive 1')`,
    `create trigger search_texts_inserted after insert on search_texts when new.is_public = 1 begin
      insert into search_index (rowid, name, body) values (new.key, new.name, new.body);
    end`,
    `create trigger search_texts_deleted after delete on search_texts when old.is_public = 1 begin
      insert into search_index (search_index, rowid, name, body) values ('delete', old.key, old.name, old.body);
    end`,
    `create trigger search_texts_updated after update on search_texts begin
      insert into search_index (search_index, rowid, name, body) select 'delete', old.key, old.name, old.body where old.is_public = 1;
      insert into search_index (rowid, name, body) select new.key, new.name, new.body where new.is_public = 1;
    end`,
  ],
  find: (column, folded, countMax) => sql`
    select t.val_id from (select rowid as key from search_index where search_index match ${`${column} : "${folded}"`} order by rowid desc limit ${countMax}) hit
    join search_texts t on t.key = hit.key`,
}

/** On PostgreSQL two GIN indexes. pg_trgm is a trusted extension: whoever owns the database may create it. */
export const postgresSearchIndex: SearchIndex = {
  schema: [
    "create extension if not exists pg_trgm",
    "create index search_names on search_texts using gin (name gin_trgm_ops) where is_public = 1",
    "create index search_bodies on search_texts using gin (body gin_trgm_ops) where is_public = 1",
  ],
  find: (column, folded, countMax) => sql`
    select t.val_id from search_texts t where t.is_public = 1 and t.${raw(column)} like ${`%${folded}%`} limit ${countMax}`,
}
