import { ApiError, ConnectionError, LinkError } from "@hamlet/contract/client"
import { CliError } from "./cli-error.ts"
import { type ExitName, toExitName } from "./exit-codes.ts"

/** A failure as the program reports it: its exit code and its message. */
export interface Failure {
  readonly exit: ExitName
  readonly text: string
}

/**
 * Maps an error to an exit code and a sentence. Returns `undefined` for an unexpected error, which
 * is a bug and is thrown with its stack.
 */
export function toFailure(error: unknown): Failure | undefined {
  if (error instanceof CliError)
    return { exit: error.exit, text: toSentence(error.message, error.advice) }
  if (error instanceof ApiError) return toApiFailure(error)
  if (error instanceof ConnectionError)
    return {
      exit: "unavailable",
      text: toSentence(
        error.message,
        `start a server with "hamlet serve", or sign in to another with "hamlet login URL"`,
      ),
    }
  if (error instanceof LinkError) return { exit: "failed", text: error.message }
  return undefined
}

/** Whether a save failed because what it is based on has changed meanwhile. */
export function isVersionConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === "version_conflict"
}

/** The advice has a line of its own below a message of several lines, such as code that is marked. */
export function toSentence(message: string, advice: string | undefined): string {
  if (advice === undefined) return message
  if (!message.includes("\n")) return `${message}; ${advice}`
  return `${message}\n${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
}

function toApiFailure(error: ApiError): Failure {
  // A sentence about one field helps more than one that says some field is wrong.
  const issues = error.issues
    .filter(({ message }) => !error.message.includes(message))
    .map(({ path, message }) => `${path} ${message}`)
  const message = issues.length > 0 ? `${error.message} (${issues.join(", ")})` : error.message
  return { exit: toExitName(error), text: toSentence(message, toAdvice(error)) }
}

function toAdvice(error: ApiError): string | undefined {
  if (error.status === 429 || error.status === 503) return toRetryAdvice(error.retryAfterMs)
  if (error.code === "unknown") return "is this the address of a Hamlet server?"
  if (error.code === "internal")
    return `see the server's log for ${error.requestId ?? "the request id"}`
  if (error.runId !== undefined) return `see "hamlet run show ${error.runId}"`
  return advices[error.code]
}

function toRetryAdvice(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined
    ? "try again later"
    : `try again in ${Math.ceil(retryAfterMs / 1000)} s`
}

const advices: Readonly<Partial<Record<ApiError["code"], string>>> = {
  unauthenticated: 'sign in with "hamlet login"',
  invalid_token: 'sign in again with "hamlet login"',
  missing_scope:
    'create a token with that scope with "hamlet token new", signed in with one that has it',
  scope_escalation: 'ask for fewer scopes, or "hamlet login" with a token that has them',
  not_owner: 'make a copy of your own with "hamlet val fork"',
  val_not_found: 'see "hamlet val list" and "hamlet val search"',
  version_not_found: 'see "hamlet version list"',
  user_not_found: "check the spelling",
  run_not_found: 'see "hamlet run list"',
  token_not_found: 'see "hamlet token list"',
  backup_running: "try again when it has finished",
  comment_not_found: 'see "hamlet val comments"',
  secret_not_found: 'see "hamlet secret list"',
  webhook_not_found: 'see "hamlet webhook list"',
  delivery_not_found: 'see "hamlet webhook deliveries"',
  route_not_found: "the server may be older than this program",
  user_suspended: "ask the administrator of the server",
  own_account: "another administrator can do that",
  invitation_not_found: 'see "hamlet invite list", or create one with "hamlet invite new"',
  session_not_found: 'see "hamlet session list"',
  blob_not_found: 'see "hamlet blob list"',
  name_taken: "choose another name",
  username_taken: "choose another name",
  last_version: 'delete the val with "hamlet val rm"',
  version_conflict: 'see its current version with "hamlet val show"',
}
