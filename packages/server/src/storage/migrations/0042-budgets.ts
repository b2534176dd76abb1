import type { Migration } from "@hamlet/database"

/**
 * What all nodes together use of the limits (`domain/limits/budgets.ts`). A crash may lose it, so
 * PostgreSQL writes no log of it. Half of a page is free, for the next state of its rows.
 */
export const budgets: Migration = {
  version: 42,
  name: "budgets",
  worksWith: 40,
  statements: ({ types: { text, time }, choose }) => [
    `create ${choose({ sqlite: "table", postgres: "unlogged table" })} budgets (
      key ${text} primary key,
      full_at ${time} not null,
      holders ${text}
    ) ${choose({ sqlite: "strict", postgres: "with (fillfactor = 50)" })}`,
  ],
}
