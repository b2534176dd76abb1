import type { Migration } from "../database/migrate.ts"

/** Secrets of single vals, which take the place of the account's secrets of the same name. */
export const valSecrets: Migration = {
  version: 23,
  name: "val-secrets",
  statements: ({ types: { id, text, time, bytes }, tableOptions }) => [
    `create table val_secrets (
      val_id ${id} not null references vals (id) on delete cascade,
      name ${text} not null,
      key_id ${text} not null,
      sealed ${bytes} not null,
      hosts ${text},
      created_at ${time} not null,
      updated_at ${time} not null,
      primary key (val_id, name)
    ) ${tableOptions}`,
    "create index val_secrets_by_time on val_secrets (val_id, created_at desc, name desc)",
    "create index val_secrets_by_key on val_secrets (key_id)",
  ],
}
