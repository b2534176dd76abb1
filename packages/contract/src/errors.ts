/**
 * What went wrong, as a closed list: programs branch on the code, docs/errors.md is made from this
 * table.
 */
export const errorCodes = {
  invalid_json: {
    status: 400,
    meaning: "The body is not valid JSON in UTF-8, or is nested too deeply.",
  },
  invalid_request: {
    status: 400,
    meaning:
      "A path segment, query parameter, header or field of the body is not acceptable; `issues` says which and why.",
  },
  sql_failed: {
    status: 400,
    meaning:
      "The database refused a statement, or it took too long; the message is the database's own.",
  },
  unauthenticated: { status: 401, meaning: "The route needs a bearer token and none was sent." },
  invalid_token: { status: 401, meaning: "The token is malformed, unknown, expired or revoked." },
  invalid_session: {
    status: 401,
    meaning:
      "The browser is no longer signed in: its session has expired or was ended. The answer clears the cookie.",
  },
  invalid_sign_in_code: {
    status: 401,
    meaning: "The sign-in link was used before, has expired, or was never made.",
  },
  user_suspended: {
    status: 403,
    meaning:
      "The account is suspended or deleted: its tokens and sessions are refused, and its vals do not run.",
  },
  cross_site_request: {
    status: 403,
    meaning:
      "Only a page of this server may sign a browser in, and the request does not come from one.",
  },
  missing_scope: { status: 403, meaning: "The token lacks the scope that the message names." },
  scope_escalation: {
    status: 403,
    meaning: "A token cannot create a token with scopes that it does not have itself.",
  },
  one_user_only: {
    status: 403,
    meaning:
      "Vals are isolated by Deno's permissions alone, which is for one person's own code: there can be no second user.",
  },
  not_owner: {
    status: 403,
    meaning: "The thing is visible to the caller but belongs to somebody else.",
  },
  route_not_found: { status: 404, meaning: "No route has this path." },
  val_not_found: {
    status: 404,
    meaning: "There is no such val, or it is private and belongs to somebody else.",
  },
  version_not_found: { status: 404, meaning: "The val has no such version, or it was deleted." },
  user_not_found: { status: 404, meaning: "There is no such user." },
  run_not_found: { status: 404, meaning: "There is no such run, or the caller may not see it." },
  comment_not_found: {
    status: 404,
    meaning: "There is no such comment, or the caller may not see its val.",
  },
  token_not_found: { status: 404, meaning: "The caller has no token with this id." },
  session_not_found: { status: 404, meaning: "The caller has no session with this id." },
  invitation_not_found: {
    status: 404,
    meaning: "There is no such invitation, or it was accepted or revoked, or has expired.",
  },
  blob_not_found: { status: 404, meaning: "The caller has no blob with this key." },
  secret_not_found: { status: 404, meaning: "The caller has no secret with this name." },
  method_not_allowed: {
    status: 405,
    meaning: "The path exists but not with this method; the `allow` header lists those it has.",
  },
  body_timed_out: {
    status: 408,
    meaning: "The body of the request did not arrive in time; nothing more of it came.",
  },
  name_taken: {
    status: 409,
    meaning: "The caller already has a val with this name, ignoring case.",
  },
  username_taken: { status: 409, meaning: "Somebody already has this username, ignoring case." },
  own_account: {
    status: 409,
    meaning: "An administrator cannot suspend or delete the account that the token belongs to.",
  },
  too_many_invitations: {
    status: 409,
    meaning: "As many invitations are open as there may be; revoke some first.",
  },
  last_version: {
    status: 409,
    meaning: "The only version of a val cannot be deleted: delete the val instead.",
  },
  too_many_secrets: {
    status: 409,
    meaning: "The caller has as many secrets as an account may have.",
  },
  not_replayable: {
    status: 409,
    meaning:
      "What the run was started with was not kept, or its val or version can no longer be run that way.",
  },
  not_http: {
    status: 409,
    meaning:
      "The val is not of type `http`, so that it has no web address to send a request to or to look at.",
  },
  backup_running: {
    status: 409,
    meaning: "As many backups are under way as there may be at a time.",
  },
  database_damaged: {
    status: 409,
    meaning:
      "The database of the user that the message names cannot be read. A backup goes on without it when it is asked to (`skipDamaged`).",
  },
  idempotency_in_flight: {
    status: 409,
    meaning: "A request with the same `Idempotency-Key` is still being worked on.",
  },
  version_conflict: {
    status: 412,
    meaning: "The val has moved on from the version that `If-Match` names.",
  },
  body_too_large: { status: 413, meaning: "The body is larger than the server accepts." },
  quota_exceeded: {
    status: 413,
    meaning: "The caller's storage is full; the message says which limit it is.",
  },
  unsupported_encoding: {
    status: 415,
    meaning: "The body has a `content-encoding`; send it as it is.",
  },
  range_not_satisfiable: {
    status: 416,
    meaning:
      "The `Range` begins where there is nothing any more; `content-range` says how much there is.",
  },
  idempotency_mismatch: {
    status: 422,
    meaning: "The `Idempotency-Key` was used before with another request.",
  },
  module_not_parsable: {
    status: 422,
    meaning: "A browser asked for the val as JavaScript, but its code does not parse.",
  },
  rate_limited: {
    status: 429,
    isRetryable: true,
    meaning: "Too many requests; `retry-after` says in how many seconds to try again.",
  },
  too_many_runs: {
    status: 429,
    isRetryable: true,
    meaning:
      "The val or the account has as many runs going on and waiting as it may; `retry-after` says when to try again.",
  },
  internal: { status: 500, meaning: "A fault of the server. The request id finds it in the log." },
  sqlite_unavailable: {
    status: 501,
    meaning:
      "Users have no SQLite databases on this server: it keeps its data in PostgreSQL, and its nodes share no data folder.",
  },
  run_failed: {
    status: 502,
    meaning:
      "The val threw, could not be loaded, was cancelled or died; `runId` names the run that tells more.",
  },
  overloaded: {
    status: 503,
    isRetryable: true,
    meaning:
      "The server has no room for another run, search or large body at the moment; `retry-after` says when to try again.",
  },
  packages_pending: {
    status: 503,
    isRetryable: true,
    meaning:
      "What the version imports from elsewhere is still being fetched; `retry-after` says when to try again.",
  },
  sandbox_unavailable: {
    status: 503,
    isRetryable: true,
    meaning: "The server cannot start sandboxes, so that it cannot run vals.",
  },
  web_app_unavailable: {
    status: 503,
    meaning: "The server could not build its web app; its log says why. The API is not affected.",
  },
  database_unavailable: {
    status: 503,
    isRetryable: true,
    meaning:
      "The database does not answer at the moment, or a newer version of Hamlet has migrated it and this node writes nothing any more; `retry-after` says when to try again.",
  },
  storage_unavailable: {
    status: 503,
    isRetryable: true,
    meaning:
      "The bucket that keeps large blobs does not answer; `retry-after` says when to try again.",
  },
  run_timed_out: {
    status: 504,
    meaning: "The val took longer than a run may; `runId` names the run that tells more.",
  },
  search_timed_out: {
    status: 504,
    meaning:
      "The search took longer than searches may. The same search is likely to do so again; another text may be found faster.",
  },
  call_too_deep: {
    status: 508,
    meaning: "Vals have called one another in a chain that is too long, most likely a circle.",
  },
} as const satisfies Record<string, ErrorRow>

interface ErrorRow {
  readonly status: number
  readonly meaning: string
  /**
   * The same request may succeed later: resources become free, or the operator fixes the server.
   * The server has not begun to work on the request. The status is 429 or 503, which every client
   * understands in this sense.
   */
  readonly isRetryable?: true
}

/** One of the closed list of error codes. */
export type ErrorCode = keyof typeof errorCodes

/** Whether a client should send the request again after a while. */
export function isRetryable(code: ErrorCode): boolean {
  const row: ErrorRow = errorCodes[code]
  return row.isRetryable === true
}

/** The response headers that tell a client whether to send the request again, and when. */
export function toRetryHeaders(code: ErrorCode, afterSeconds: number): Record<string, string> {
  if (isRetryable(code)) return { "retry-after": String(afterSeconds) }
  const { status } = errorCodes[code]
  // The official client retries 409 and 5xx unless this header forbids it.
  return status === 409 || status >= 500 ? { "x-should-retry": "false" } : {}
}

/** The names of the HTTP statuses that errors use, as they appear in the `error` field. */
export const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  508: "Loop Detected",
}
