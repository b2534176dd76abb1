import type { Migration } from "../database/migrate.ts"

/** A val has a description: one line, in words of its owner. */
export const descriptions: Migration = {
  version: 32,
  name: "descriptions",
  statements: ({ types: { text } }) => [`alter table vals add column description ${text}`],
}
