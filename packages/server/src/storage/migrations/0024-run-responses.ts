import type { Migration } from "../database/migrate.ts"

/**
 * What a run tells besides its outcome: the start of its last log line, which lists show without
 * reading the log, the gap in a log that was too long, and the response of an http val. Responses
 * have a table of their own, so that lists do not read them. It does not refer to runs with a
 * constraint, which PostgreSQL would check for each of thousands of rows per second: runs are
 * deleted together with their responses.
 */
export const runResponses: Migration = {
  version: 24,
  name: "run-responses",
  statements: ({ types: { id, text }, tableOptions }) => [
    `alter table runs add column last_line ${text}`,
    `alter table runs add column log_gap ${text}`,
    `create table run_responses (
      run_id ${id} primary key,
      response ${text} not null
    ) ${tableOptions}`,
  ],
}
