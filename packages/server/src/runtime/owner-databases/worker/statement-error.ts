/** A statement cannot run for a reason of ours, not of SQLite. */
export class StatementError extends Error {}

/** A statement writes where that is not allowed. */
export class WriteRefused extends Error {}
