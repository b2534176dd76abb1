/** What went wrong, as a closed list: programs branch on the code, docs/errors.md is made from this table. */
export const errorCodes = {
  invalid_json: { status: 400, meaning: "The body is not valid JSON in UTF-8, or is nested too deeply." },
  invalid_request: {
    status: 400,
    meaning: "A path segment, query parameter, header or field of the body is not acceptable; `issues` says which and why.",
  },
  unauthenticated: { status: 401, meaning: "The route needs a bearer token and none was sent." },
  invalid_token: { status: 401, meaning: "The token is malformed, unknown, expired or revoked." },
  missing_scope: { status: 403, meaning: "The token lacks the scope that the message names." },
  scope_escalation: { status: 403, meaning: "A token cannot create a token with scopes that it does not have itself." },
  not_owner: { status: 403, meaning: "The thing is visible to the caller but belongs to somebody else." },
  route_not_found: { status: 404, meaning: "No route has this path." },
  val_not_found: { status: 404, meaning: "There is no such val, or it is private and belongs to somebody else." },
  version_not_found: { status: 404, meaning: "The val has no such version, or it was deleted." },
  user_not_found: { status: 404, meaning: "There is no such user." },
  run_not_found: { status: 404, meaning: "There is no such run, or the caller may not see it." },
  comment_not_found: { status: 404, meaning: "There is no such comment, or the caller may not see its val." },
  token_not_found: { status: 404, meaning: "The caller has no token with this id." },
  secret_not_found: { status: 404, meaning: "The caller has no secret with this name." },
  method_not_allowed: { status: 405, meaning: "The path exists but not with this method; the `allow` header lists those it has." },
  name_taken: { status: 409, meaning: "The caller already has a val with this name, ignoring case." },
  username_taken: { status: 409, meaning: "Somebody already has this username, ignoring case." },
  last_version: { status: 409, meaning: "The only version of a val cannot be deleted: delete the val instead." },
  too_many_secrets: { status: 409, meaning: "The caller has as many secrets as an account may have." },
  not_replayable: {
    status: 409,
    meaning: "What the run was started with was not kept, or its val or version can no longer be run that way.",
  },
  idempotency_in_flight: { status: 409, meaning: "A request with the same `Idempotency-Key` is still being worked on." },
  version_conflict: { status: 412, meaning: "The val has moved on from the version that `If-Match` names." },
  body_too_large: { status: 413, meaning: "The body is larger than the server accepts." },
  unsupported_encoding: { status: 415, meaning: "The body has a `content-encoding`; send it as it is." },
  idempotency_mismatch: { status: 422, meaning: "The `Idempotency-Key` was used before with another request." },
  module_not_parsable: { status: 422, meaning: "A browser asked for the val as JavaScript, but its code does not parse." },
  rate_limited: { status: 429, meaning: "Too many requests; `retry-after` says in how many seconds to try again." },
  too_many_runs: {
    status: 429,
    meaning: "The val or the account has as many runs going on and waiting as it may; `retry-after` says when to try again.",
  },
  internal: { status: 500, meaning: "A fault of the server. The request id finds it in the log." },
  run_failed: { status: 502, meaning: "The val threw, could not be loaded, was cancelled or died; `runId` names the run that tells more." },
  overloaded: { status: 503, meaning: "The server has no room for another run at the moment; `retry-after` says when to try again." },
  sandbox_unavailable: { status: 503, meaning: "The server cannot start sandboxes, so that it cannot run vals." },
  database_unavailable: { status: 503, meaning: "The database does not answer at the moment; `retry-after` says when to try again." },
  run_timed_out: { status: 504, meaning: "The val took longer than a run may; `runId` names the run that tells more." },
} as const satisfies Record<string, { status: number; meaning: string }>

/** One of the closed list of error codes. */
export type ErrorCode = keyof typeof errorCodes

/** The names of the HTTP statuses that errors use, as they appear in the `error` field. */
export const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
}
