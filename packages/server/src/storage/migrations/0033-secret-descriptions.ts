import type { Migration } from "../database/migrate.ts"

/** A secret of a val may say what it is for. */
export const secretDescriptions: Migration = {
  version: 33,
  name: "secret-descriptions",
  statements: ({ types: { text } }) => [`alter table val_secrets add column description ${text}`],
}
