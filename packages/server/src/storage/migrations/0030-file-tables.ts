import type { Migration } from "../database/migrate.ts"

// Not `in`, for which SQLite builds an index in each insert.
const isFileType = ["http", "script", "interval", "email", "file", "directory"]
  .map((type) => `type = '${type}'`)
  .join(" or ")

/**
 * The tables of branches and files. Those with a name in `new_` take the place of an older table when
 * all vals have been copied into them, in the next migration.
 *
 * `branches`: every val has `main`, which has the id of its val. `version` is the current version;
 * `version_last` the highest number ever used, so that no number is used twice. `entry_type` is the
 * type of the current version's entry file.
 *
 * `versions`: `entry_path` and `entry_since` are the state of the entry file, `readme_since` is that
 * of README.md; null where the version has no such file.
 *
 * `files`: `path` is where the file is, or was when it was deleted.
 *
 * `states` are only appended. A state holds from the version `since` until the next row of its path;
 * one without a type is the end of the path. The file at a path in a version is the last row that
 * is not newer than the version.
 *
 * `imports` belong to the state whose text has them. `branch_key` is the branch that the specifiers
 * name, empty for main.
 */
export const fileTables: Migration = {
  version: 30,
  name: "file-tables",
  statements: ({ types: { id, integer, text, time }, tableOptions }) => [
    `create table branches (
      id ${id} primary key,
      val_id ${id} not null references vals on delete cascade,
      name ${text} not null,
      name_key ${text} not null,
      version ${integer} not null,
      version_last ${integer} not null,
      entry_type ${text},
      forked_from_id ${id},
      forked_from_version ${integer},
      created_at ${time} not null,
      updated_at ${time} not null,
      unique (val_id, name_key)
    ) ${tableOptions}`,
    `create table new_versions (
      branch_id ${id} not null references branches on delete cascade,
      version ${integer} not null,
      created_at ${time} not null,
      run_started_at ${time},
      run_ended_at ${time},
      author_id ${id},
      note ${text},
      entry_path ${text},
      entry_since ${integer},
      readme_since ${integer},
      primary key (branch_id, version)
    ) ${tableOptions}`,
    `create table files (
      id ${id} primary key,
      branch_id ${id} not null references branches on delete cascade,
      path ${text} not null
    ) ${tableOptions}`,
    "create index files_by_branch on files (branch_id)",
    `create table states (
      branch_id ${id} not null references branches on delete cascade,
      path ${text} not null,
      since ${integer} not null,
      file_id ${id} not null,
      type ${text} check (${isFileType}),
      created_at ${time} not null,
      content ${text},
      primary key (branch_id, path, since)
    ) ${tableOptions}`,
    `create table new_imports (
      branch_id ${id} not null,
      path ${text} not null,
      since ${integer} not null,
      username_key ${text} not null,
      name_key ${text} not null,
      branch_key ${text} not null default '',
      pinned_val_id ${id},
      pinned_version ${integer},
      specifiers ${text},
      pinned_at ${time},
      primary key (branch_id, path, since, username_key, name_key, branch_key),
      foreign key (branch_id, path, since) references states on delete cascade
    ) ${tableOptions}`,
    `create table new_locks (
      branch_id ${id} not null,
      version ${integer} not null,
      owner_id ${id} not null,
      state ${text} not null check (state in ('pending', 'ready', 'failed')),
      attempts ${integer} not null default 0,
      next_attempt_at ${time},
      node_id ${id},
      fence ${integer} not null default 0,
      updated_at ${time} not null,
      bundle_hash ${text},
      resolution ${text},
      primary key (branch_id, version),
      foreign key (branch_id, version) references new_versions on delete cascade
    ) ${tableOptions}`,
  ],
}
