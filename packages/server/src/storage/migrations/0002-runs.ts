import type { Ddl } from "../database/ddl.ts"
import type { Migration } from "../database/migrate.ts"

/**
 * The schema for running vals: the imports of versions, changes of an environment, tokens that end
 * with a process, runs and nodes.
 */
export const runs: Migration = {
  version: 2,
  name: "runs",
  statements: (ddl) => [
    ...imports(ddl),
    ...environment(ddl),
    ...runTables(ddl),
    ...runIndexes,
    ...searchTrigger(ddl),
  ],
}

/**
 * `specifiers` are the imports as they are in the code, a JSON array; null in older rows, whose code
 * must be parsed again. Imports of other people's vals are pinned: to the val that had the name when
 * the version was saved, and to its version at that time or the version in the specifier. That val
 * may be renamed or deleted and another may take its name, but the saved version keeps importing the
 * same code. No foreign key: a pin to a deleted val must not become a name that others can take.
 */
function imports({ types: { id, integer, text } }: Ddl): readonly string[] {
  return [
    `alter table imports add column pinned_val_id ${id}`,
    `alter table imports add column pinned_version ${integer}`,
    `alter table imports add column specifiers ${text}`,
  ]
}

/**
 * Tokens with a `node_id` belong to the processes of a node: no list shows them, and they end with
 * the node.
 */
function environment({ types: { id, integer } }: Ddl): readonly string[] {
  return [
    `alter table users add column secrets_version ${integer} not null default 0`,
    `alter table tokens add column node_id ${id}`,
    "create index tokens_by_node on tokens (node_id) where node_id is not null",
  ]
}

/**
 * Creates the runs again: vals could not run before, so there are none to keep. A busy server writes
 * thousands per second, nearly all of them successful http runs. SQLite takes longer for `in` with a
 * list than for the rest of such a row, so every condition tests the frequent case before the list.
 */
function runTables({ types: { id, time, integer, text }, tableOptions }: Ddl): readonly string[] {
  return [
    "drop table runs",
    // `node_id` is the node of a run while it lasts. `input` is the part of a request, besides its
    // address, that a replay needs.
    `create table runs (
      id ${id} primary key,
      val_id ${id} not null,
      version ${integer} not null,
      account_id ${id} not null,
      owner_id ${id} not null,
      parent_id ${id},
      node_id ${id},
      source ${text} not null check (source = 'http' or source in ('ui', 'api', 'interval', 'email')),
      status ${text} not null
        check (status = 'succeeded' or status in ('queued', 'running', 'failed', 'timed_out', 'cancelled', 'crashed')),
      started_at ${time} not null,
      ended_at ${time},
      cancel_requested ${integer} not null default 0,
      logs_truncated ${integer} not null default 0,
      error ${text},
      request ${text},
      input ${text},
      args ${text},
      return_value ${text},
      logs ${text}
    ) ${tableOptions}`,
    `create table nodes (
      id ${id} primary key,
      host ${text} not null,
      pid ${integer} not null,
      pid_started ${text} not null,
      seen_at ${time} not null
    ) ${tableOptions}`,
  ]
}

// The rare kinds have indexes of their own, so that a filter for them does not scan all the others.
const runIndexes: readonly string[] = [
  "create index runs_by_account on runs (account_id, started_at desc, id desc)",
  "create index runs_by_val on runs (val_id, started_at desc, id desc)",
  `create index runs_failed_by_account on runs (account_id, started_at desc, id desc)
    where status <> 'succeeded' and status in ('failed', 'timed_out', 'crashed')`,
  `create index runs_failed_by_val on runs (val_id, started_at desc, id desc)
    where status <> 'succeeded' and status in ('failed', 'timed_out', 'crashed')`,
  "create index runs_by_account_and_source on runs (account_id, source, started_at desc, id desc) where source <> 'http'",
  "create index runs_by_val_and_source on runs (val_id, source, started_at desc, id desc) where source <> 'http'",
  "create index runs_of_others on runs (val_id, account_id, started_at desc, id desc) where account_id <> owner_id",
  "create index runs_open on runs (node_id, id) where status <> 'succeeded' and status in ('queued', 'running')",
]

/**
 * A new body no longer fires the trigger: the save itself indexes the part of the body that has
 * changed.
 */
function searchTrigger({ choose }: Ddl): readonly string[] {
  return choose({
    sqlite: [
      "drop trigger search_texts_updated",
      `create trigger search_texts_updated after update of is_public, name on search_texts begin
      insert into search_name (search_name, rowid, name) select 'delete', old.key, old.name where old.is_public = 1;
      insert into search_body (search_body, rowid, body) select 'delete', old.key, old.body where old.is_public = 1;
      insert into search_name (rowid, name) select new.key, new.name where new.is_public = 1;
      insert into search_body (rowid, body) select new.key, new.body where new.is_public = 1;
    end`,
    ],
    postgres: [],
  })
}
