import { ApiError, ConnectionError, LinkError } from "@hamlet/contract/client"
import { CliError } from "./cli-error.ts"
import type { ExitName } from "./exit-codes.ts"

/** What a failure comes to: how the program ends, and the sentence that it says before. */
export interface Failure {
  readonly exit: ExitName
  readonly text: string
}

/**
 * The one place where errors become exit codes. What is not expected gives `undefined`: a bug,
 * which shows where it happened.
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
        `"hamlet serve" starts a server, "hamlet login URL" names another`,
      ),
    }
  if (error instanceof LinkError) return { exit: "failed", text: error.message }
  return undefined
}

function toSentence(message: string, advice: string | undefined): string {
  return advice === undefined ? message : `${message}; ${advice}`
}

function toApiFailure(error: ApiError): Failure {
  // A sentence about one field is worth more than the one that says that some field is wrong.
  const issues = error.issues.map(({ path, message }) => `${path} ${message}`)
  const message = issues.length > 0 ? `${error.message} (${issues.join(", ")})` : error.message
  return { exit: toExit(error), text: toSentence(message, toAdvice(error)) }
}

function toExit({ status, code }: ApiError): ExitName {
  if (code === "invalid_request" || code === "invalid_json") return "usage"
  if (status === 401 || status === 403) return "refused"
  if (status === 404) return "notFound"
  if (status === 409 || status === 412) return "conflict"
  if (status === 429 || status === 503) return "unavailable"
  return "failed"
}

function toAdvice(error: ApiError): string | undefined {
  if (error.status === 429 || error.status === 503) return toPatience(error.retryAfterMs)
  if (error.code === "unknown") return "is that the address of a Hamlet server?"
  if (error.code === "internal")
    return `the server's log has more, under ${error.requestId ?? "its request id"}`
  return advices[error.code]
}

function toPatience(retryAfterMs: number | undefined): string {
  return retryAfterMs === undefined
    ? "try again later"
    : `try again in ${Math.ceil(retryAfterMs / 1000)} s`
}

const advices: Readonly<Partial<Record<ApiError["code"], string>>> = {
  unauthenticated: '"hamlet login" signs you in',
  invalid_token: '"hamlet login" takes another token',
  missing_scope: '"hamlet token new" makes a token with that scope, from one that has it',
  scope_escalation: 'ask for fewer scopes, or "hamlet login" with a token that has them',
  not_owner:
    '"hamlet val pull" writes it into a file, and "hamlet val push --force" makes a val of your own of that',
  val_not_found: '"hamlet val list" shows yours, "hamlet val search" finds others',
  version_not_found: '"hamlet version list" shows which there are',
  user_not_found: "check the spelling",
  run_not_found: '"hamlet run list" shows which there are',
  token_not_found: '"hamlet token list" shows which there are',
  backup_running: "try again when it is done",
  comment_not_found: '"hamlet val comments" shows which there are',
  secret_not_found: '"hamlet secret list" shows which there are',
  route_not_found: "the server may be older than this program",
  user_suspended: "ask the administrator of the server",
  own_account: "another administrator can do that",
  invitation_not_found:
    '"hamlet invite list" shows which there are, "hamlet invite new" makes another',
  session_not_found: '"hamlet session list" shows which there are',
  blob_not_found: '"hamlet blob list" shows which there are',
  name_taken: "choose another name",
  username_taken: "choose another name",
  last_version: '"hamlet val rm" deletes the val',
  version_conflict: '"hamlet val show" shows what it is now',
}
