import type { Migration } from "../database/migrate.ts"

/**
 * Indexes of runs with an error, cancelled ones included: the previous indexes left these out, and
 * so did the filter.
 */
export const runsWithError: Migration = {
  version: 7,
  name: "runs-with-error",
  statements: () => [
    "drop index runs_failed_by_account",
    "drop index runs_failed_by_val",
    `create index runs_with_error_by_account on runs (account_id, started_at desc, id desc) where ${hasError}`,
    `create index runs_with_error_by_val on runs (val_id, started_at desc, id desc) where ${hasError}`,
  ],
}

const hasError =
  "status <> 'succeeded' and status in ('failed', 'timed_out', 'cancelled', 'crashed')"
