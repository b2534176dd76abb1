import type { Migration } from "../database/migrate.ts"

/** A val has a picture: the address of one, or a small one itself. */
export const pictures: Migration = {
  version: 40,
  name: "pictures",
  statements: ({ types: { text } }) => [`alter table vals add column image_url ${text}`],
}
