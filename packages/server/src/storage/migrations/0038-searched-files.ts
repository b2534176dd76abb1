import type { Migration } from "../database/migrate.ts"

/** Whether the state `s` is that of its path in the current version of the branch `branches`. */
const isCurrent = `s.since <= branches.version and not exists (select 1 from states l
  where l.branch_id = s.branch_id and l.path = s.path and l.since > s.since and l.since <= branches.version)`

/**
 * Search finds every text file of `main`. A val has one text with its name, description, code and
 * readme, whose `path` is empty, and one for each other file. The vals that need more than the text
 * they have are in `search_backlog`; housekeeping indexes them.
 *
 * A branch counts the files of its current version and the bytes of all its texts, and a val its
 * branches, so that lists and limits need no sum.
 */
export const searchedFiles: Migration = {
  version: 38,
  name: "searched-files",
  statements: ({ types, tableOptions, choose }) => [
    ...choose({ sqlite: newTable(types, tableOptions), postgres: newColumn(types) }),
    `create table search_backlog (val_id ${types.id} primary key references vals on delete cascade) ${tableOptions}`,
    `insert into search_backlog (val_id) select v.id from vals v where v.description is not null
      or exists (select 1 from files f where f.branch_id = v.id and f.id <> v.id and f.path <> 'README.md')`,
    `alter table branches add column file_count ${types.integer} not null default 0`,
    `alter table branches add column bytes ${types.time} not null default 0`,
    `update branches set
      file_count = (select count(*) from states s where s.branch_id = branches.id and s.type is not null and s.type <> 'directory' and ${isCurrent}),
      bytes = (select coalesce(sum(octet_length(s.content)), 0) from states s where s.branch_id = branches.id)`,
    `alter table vals add column branch_count ${types.integer} not null default 1`,
    `update vals set branch_count = (select count(*) from branches b where b.val_id = vals.id)
      where id in (select val_id from branches where id <> val_id)`,
  ],
}

type Types = Parameters<Migration["statements"]>[0]["types"]

/** SQLite cannot drop the constraint that a val has one text. The keys of the index stay. */
function newTable({ id, identity, integer, text }: Types, options: string): readonly string[] {
  return [
    `create table new_search_texts (
      key ${identity},
      val_id ${id} not null references vals on delete cascade,
      path ${text} not null default '',
      is_public ${integer} not null,
      name ${text} not null,
      body ${text} not null,
      unique (val_id, path)
    ) ${options}`,
    "insert into new_search_texts (key, val_id, is_public, name, body) select key, val_id, is_public, name, body from search_texts order by key",
    "drop table search_texts",
    "alter table new_search_texts rename to search_texts",
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
}

function newColumn({ text }: Types): readonly string[] {
  return [
    `alter table search_texts add column path ${text} not null default ''`,
    "alter table search_texts drop constraint search_texts_val_id_key",
    "alter table search_texts add constraint search_texts_path_key unique (val_id, path)",
  ]
}
