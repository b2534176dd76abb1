import type { Migration } from "@hamlet/database"

/** What a node tells about itself whenever it renews its lease, as JSON; null for an older one. */
export const nodeReports: Migration = {
  version: 41,
  name: "node-reports",
  worksWith: 40,
  statements: ({ types: { text } }) => [`alter table nodes add column report ${text}`],
}
