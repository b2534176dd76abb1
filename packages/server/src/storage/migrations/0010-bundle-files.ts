import type { Migration } from "../database/migrate.ts"

/**
 * The files of packages, beside the bundle with their code. They have a table of their own, because
 * a row of a backup has a maximum size, and because most programs need only the bundle.
 */
export const bundleFiles: Migration = {
  version: 10,
  name: "bundle-files",
  statements: ({ types: { text, bytes }, tableOptions }) => [
    `create table bundle_files (
      bundle_hash ${text} primary key references bundles (hash) on delete cascade,
      content ${bytes} not null
    ) ${tableOptions}`,
  ],
}
