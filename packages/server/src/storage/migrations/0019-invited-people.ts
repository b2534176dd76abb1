import type { Migration } from "../database/migrate.ts"

/** The email address and the quotas, as JSON, that the invited person gets. */
export const invitedPeople: Migration = {
  version: 19,
  name: "invited-people",
  statements: ({ types: { text } }) => [
    `alter table invitations add column email ${text}`,
    `alter table invitations add column quotas ${text}`,
  ],
}
