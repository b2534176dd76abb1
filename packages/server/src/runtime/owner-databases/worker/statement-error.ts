/** That a statement cannot be run, for a reason that is its own and not SQLite's. */
export class StatementError extends Error {}

/** That a statement writes where that is not allowed. */
export class WriteRefused extends Error {}
