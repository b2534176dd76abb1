import type { Migration } from "../database/migrate.ts"

/** The declarations of packages, for editors. Runs never read them, so they have their own table. */
export const bundleTypes: Migration = {
  version: 20,
  name: "bundle-types",
  statements: ({ types: { text, bytes }, tableOptions }) => [
    `create table bundle_types (
      bundle_hash ${text} primary key references bundles (hash) on delete cascade,
      content ${bytes} not null
    ) ${tableOptions}`,
  ],
}
