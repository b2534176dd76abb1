/**
 * The closed list of error codes, on which programs branch, by status. docs/errors.md is generated
 * from it.
 */
const meanings = {
  400: {
    content_not_text:
      "The content of a file contains the NUL character or is not valid Unicode: only text can be stored.",
    invalid_json: "The body is not valid JSON in UTF-8, or is nested too deeply.",
    invalid_request:
      "A path segment, query parameter, header or body field is invalid; `issues` says which and why.",
    is_directory: "The path is that of a directory, which has neither content nor another type.",
    openai_refused:
      "The service with the language models refused the request; the message comes from the service.",
    sql_failed:
      "The database rejected a statement, or the statement took too long; the message comes from the database.",
  },
  401: {
    unauthenticated: "The route requires a bearer token, and the request has none.",
    invalid_token: "The token is malformed, unknown, expired or revoked.",
    invalid_session: "The browser is no longer signed in: its session has expired or was ended.",
    invalid_sign_in_code: "The sign-in link was used before, has expired, or never existed.",
  },
  403: {
    sign_up_refused:
      "No account belongs to the person whom the OpenID Connect provider named, and the operator does not let this person create one, or only with an invitation.",
    user_suspended:
      "The account is suspended or deleted: its tokens and sessions are refused, and its vals do not run.",
    cross_site_request:
      "Only a page of this server may sign a browser in or use `/mcp`, and another page sent the request.",
    missing_scope: "The token lacks the scope that the message names.",
    scope_escalation: "A token cannot create a token with scopes that it does not have.",
    one_user_only:
      "Only Deno's permissions isolate the vals of this server. That is sufficient for the code of one person, so it cannot have a second user.",
    role_too_low:
      "The role of the caller in the organisation does not allow this: viewers change nothing, and members do not manage it.",
    not_owner: "The resource is visible to the caller but belongs to another user.",
  },
  404: {
    route_not_found: "No route has this path.",
    val_not_found: "There is no such val, or it is private and belongs to another user.",
    version_not_found: "The val has no such version, or it was deleted.",
    branch_not_found: "The val has no such branch, or it was deleted.",
    file_not_found:
      "There is no file or directory at the path, or with the id, or the caller may not see its val.",
    org_not_found:
      "There is no such organisation, or the caller does not belong to it, or has no open invitation of it.",
    member_not_found: "The organisation has no such member.",
    user_not_found: "There is no such user.",
    run_not_found: "There is no such run, or the caller may not see it.",
    comment_not_found: "There is no such comment, or the caller may not see its val.",
    token_not_found: "The caller has no token with this id.",
    session_not_found: "The caller has no session with this id.",
    authorization_not_found: "The caller has authorized no program under this id.",
    invitation_not_found:
      "There is no such invitation, or it was accepted or revoked, or has expired.",
    identity_not_found: "The caller is not signed in by an identity with this id.",
    blob_not_found: "The caller, or the val, has no blob with this key.",
    email_not_found: "The account of the caller has no outgoing email with this id.",
    webhook_not_found: "The caller has no webhook with this id.",
    delivery_not_found: "The webhook has no delivery with this id, or it is no longer stored.",
    secret_not_found: "The caller, or the val, has no secret with this name.",
    connection_not_found: "The account is not connected to this service.",
    schedule_not_found: "The val has no schedule.",
  },
  405: {
    method_not_allowed:
      "The path does not support this method; the `allow` header lists the methods that it supports.",
  },
  408: {
    body_timed_out: "The body of the request did not arrive in time.",
  },
  409: {
    name_taken:
      "The caller already has a val with this name, ignoring case, and with `-` the same as `_`.",
    last_owner:
      "The person is the last owner of the organisation: make another member an owner first, or delete the organisation.",
    too_many_organisations: "The person belongs to as many organisations as one can.",
    too_many_members: "The organisation has as many members as it can have.",
    roles_changed:
      "The roles of the caller have changed while the request was carried out, and nothing was stored: send it again.",
    branch_exists: "The val already has a branch with this name, ignoring case.",
    branch_is_default: "The branch `main` cannot be deleted: delete the val instead.",
    branch_has_no_parent:
      "The branch cannot be merged: it is `main`, or the branch that it was made from was deleted.",
    merge_conflict:
      "Both branches changed the same lines of files; `conflicts` has their texts. Nothing was changed: send the merge again with `resolved`.",
    file_exists:
      "There is a file or directory at the path, or at one that differs only in case, or a file where a directory is needed.",
    moved_into_itself: "A directory cannot be moved into itself.",
    directory_not_empty: "The directory contains files: delete it with `recursive=true`.",
    val_full:
      "The val has the maximum number of files, directories, branches, bytes or imports of other vals; the message says which.",
    username_taken: "Another user already has this username, ignoring case.",
    identity_taken: "The account at the OpenID Connect provider signs in another user already.",
    too_many_identities: "The caller has the maximum number of identities.",
    own_account: "An administrator cannot suspend or delete the account that the token belongs to.",
    too_many_invitations: "The maximum number of invitations is open; revoke some first.",
    last_version: "The only version of a val cannot be deleted: delete the val instead.",
    secret_exists: "The val has a secret with this name already.",
    too_many_secrets: "The caller has the maximum number of secrets.",
    email_missing: "The caller's profile has no email address.",
    email_unverified:
      "The email names no recipient, and the caller has no confirmed email address to which it could go.",
    email_verified: "The caller's email address is confirmed already.",
    email_not_failed:
      "Only an email that has failed, and whose content is still stored, can be sent again.",
    too_many_webhooks: "The caller has the maximum number of webhooks.",
    not_replayable:
      "The input of the run was not stored, or its val or version can no longer run with it.",
    not_code: "The file is of type `file`, so nothing can start it.",
    not_http: "The val or file is not of type `http`, so it has no web address.",
    not_interval: "The val or file is not of type `interval`, so it cannot have a schedule.",
    too_many_schedules: "The caller has the maximum number of schedules that are not paused.",
    not_email: "The val is not of type `email`, so it receives no mail.",
    backup_running: "The maximum number of backups is running.",
    database_damaged:
      "The database of the user that the message names cannot be read. With `skipDamaged`, a backup leaves it out.",
    idempotency_in_flight: "A request with the same `Idempotency-Key` is still in progress.",
    idempotency_result_lost:
      "The same SQL was executed before with this `Idempotency-Key`, and its result was not kept.",
  },
  412: {
    precondition_failed:
      "The content is not the one that `If-Match` names, or has changed since `If-Unmodified-Since`.",
    version_conflict:
      "The current version of the val or the branch is not the one that `If-Match` names. Its number is in `ETag`.",
  },
  413: {
    body_too_large: "The body is larger than the server accepts.",
    quota_exceeded: "The storage of the caller is full; the message names the limit.",
  },
  415: {
    unsupported_encoding: "The body has a `content-encoding`; send it uncompressed.",
  },
  416: {
    range_not_satisfiable: "The `Range` begins after the end; `content-range` has the size.",
  },
  422: {
    idempotency_mismatch: "The `Idempotency-Key` was used before with another request.",
    invalid_email_code:
      "The code does not confirm the caller's email address: it is wrong or has expired, was tried too often, or was sent to another address.",
    sign_in_refused:
      "The sign-in with the OpenID Connect provider is not valid: it was cancelled or took too long, its response was used before, or another browser began it.",
    webhook_url_refused: "The server may not send to this URL; the message says why.",
    mail_refused: "A mail server would refuse the message; the message of the error says why.",
    module_not_parsable:
      "The code has a syntax error, so that it can neither be formatted nor be sent to a browser as JavaScript.",
  },
  429: {
    rate_limited:
      "Too many requests, or too many writes of the account that wait; `retry-after` has the seconds to wait.",
    too_many_runs:
      "The val or the account has the maximum number of runs, running and waiting together.",
    queue_full: "The account has the maximum number of runs that wait in the queue.",
  },
  500: {
    internal: "An internal error of the server. The log has it under the request id.",
  },
  501: {
    sqlite_unavailable:
      "Users have no SQLite databases on this server: it stores its data in PostgreSQL, and its nodes share neither a libSQL server nor a data folder.",
    mail_unavailable: "The server cannot send mail: its operator has not set HAMLET_SMTP_URL.",
    openai_unavailable:
      "The server offers no language models: its operator has set neither HAMLET_OPENAI_URL nor HAMLET_OPENAI_KEY.",
    oidc_unavailable:
      "The server has no OpenID Connect provider: its operator has not set HAMLET_OIDC_ISSUER.",
  },
  502: {
    oidc_failed:
      "The OpenID Connect provider could not be reached, or its response is not valid. The log of the server has the reason.",
    openai_failed:
      "The service with the language models could not be reached, failed, or refused the key of this server.",
    run_failed:
      "The val threw, could not be loaded, was cancelled or crashed; `runId` names the run, which has the details.",
  },
  503: {
    overloaded:
      "The server has no capacity for another run, search, large body or large response at the moment, or too many files open for any request.",
    packages_pending: "The remote imports of the version are still being fetched.",
    sandbox_unavailable:
      "The server cannot start sandboxes, so it cannot run vals until its operator has fixed that.",
    web_app_unavailable:
      "The server could not build its web app; its log has the reason. The API is not affected.",
    database_unavailable:
      "The database, or the libSQL server of users' databases, is unavailable, or a newer version of Hamlet has migrated it and this node no longer writes.",
    secret_key_missing:
      "A secret is encrypted with a key that this node does not have; the message and the log name the key.",
    storage_unavailable: "The bucket that stores large blobs is unavailable.",
  },
  504: {
    run_timed_out:
      "The val took longer than a run may take; `runId` names the run, which has the details.",
    search_timed_out:
      "The search took longer than a search may take. The same search is likely to do so again; another text may be found faster.",
  },
  508: {
    call_too_deep: "Vals have called each other in a chain that is too long, most likely a cycle.",
  },
} as const

/** One of the closed list of error codes. */
export type ErrorCode = {
  [Status in keyof typeof meanings]: keyof (typeof meanings)[Status]
}[keyof typeof meanings]

/**
 * Errors after which the same request may succeed later: resources become free, or the operator
 * fixes the server. The server has not begun to work on the request. The status is 429 or 503,
 * which every client understands in this sense.
 */
const retryable: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "rate_limited",
  "too_many_runs",
  "queue_full",
  "overloaded",
  "packages_pending",
  "sandbox_unavailable",
  "database_unavailable",
  "secret_key_missing",
  "storage_unavailable",
])

interface ErrorRow {
  readonly status: number
  readonly isRetryable: boolean
  readonly meaning: string
}

/** The closed list of error codes. */
export const errorCodes = Object.fromEntries(
  Object.entries(meanings).flatMap(([status, codes]) =>
    Object.entries(codes).map(([code, meaning]): [string, ErrorRow] => [
      code,
      { status: Number(status), isRetryable: retryable.has(code as ErrorCode), meaning },
    ]),
  ),
) as Readonly<Record<ErrorCode, ErrorRow>>

/** Whether a client should send the request again after a while. */
export function isRetryable(code: ErrorCode): boolean {
  return errorCodes[code].isRetryable
}

/** The response headers that tell a client whether to send the request again, and when. */
export function toRetryHeaders(code: ErrorCode, afterSeconds: number): Record<string, string> {
  if (isRetryable(code)) return { "retry-after": String(afterSeconds) }
  const { status } = errorCodes[code]
  // The official client retries 409 and 5xx unless this header forbids it.
  return status === 409 || status >= 500 ? { "x-should-retry": "false" } : {}
}

/** The texts of the HTTP statuses of errors, as in the `error` field. */
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
