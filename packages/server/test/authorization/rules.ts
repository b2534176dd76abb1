import type { ErrorCode, RouteDefinition, Scope } from "@hamlet/contract"
import { isOfVal } from "./samples.ts"

/** Who may see the val that a request is about. */
export type Privacy = "public" | "unlisted" | "private"

/** What the rules know of a caller. */
interface RuleCaller {
  readonly token: "none" | "bad" | "good"
  readonly scopes: readonly Scope[]
  readonly isOwner: boolean
  readonly isOfRun?: boolean
}

/** What a request must get: an answer that the route promises, or this error. */
export type Expected = "allowed" | ErrorCode

type Rule = (route: RouteDefinition, caller: RuleCaller, privacy: Privacy) => Expected

/**
 * The rules in words. A route without authentication never asks for a token. "Missing, malformed,
 * unknown, expired or revoked token on a route that needs one: 401. A bad token on a route that
 * needs none is 401 too. Missing scope: 403." The rest depends on what the path names.
 */
export function expectedOf(
  name: string,
  route: RouteDefinition,
  caller: RuleCaller,
  privacy: Privacy,
): Expected {
  // What the matrix sends comes from no page of the server.
  if (route.isSignIn) return "cross_site_request"
  if (route.auth === "none") return "allowed"
  if (caller.token === "bad") return "invalid_token"
  if (caller.token === "none" && route.auth === "required") return "unauthenticated"
  if (caller.token === "good" && route.scope !== undefined && !caller.scopes.includes(route.scope))
    return "missing_scope"
  // What the matrix sends changes something.
  if (
    caller.token === "good" &&
    route.scopeToWrite !== undefined &&
    !caller.scopes.includes(route.scopeToWrite)
  )
    return "missing_scope"
  const refusals = isOfVal(route)
    ? [valRule({ ...route, valAccess: "own" }, caller, privacy)]
    : namedBy(route).map((param) => ruleOf(name, param)(route, caller, privacy))
  // What opens a private val must not outlive the run that asked for it.
  if (name === "createPreview" && caller.isOfRun && privacy === "private")
    refusals.push("missing_scope")
  // A user can give a program only what they have themselves; the sample gives this scope.
  if (name === "createAuthorization" && !caller.scopes.includes("val:read"))
    refusals.push("scope_escalation")
  return refusals.find((refusal) => refusal !== "allowed") ?? notConfigured[name] ?? "allowed"
}

/** What the server of the matrix has not been given, which it says only to those who may use it. */
const notConfigured: Readonly<Record<string, ErrorCode>> = {
  sendEmail: "mail_unavailable",
  resendEmail: "mail_unavailable",
  sendEmailCode: "mail_unavailable",
  // Without mail, no user has a code.
  confirmEmail: "invalid_email_code",
  createChatCompletion: "openai_unavailable",
  createSlackToken: "connection_not_found",
  createGoogleDocsToken: "connection_not_found",
  linkIdentity: "oidc_unavailable",
}

function namedBy(route: RouteDefinition): readonly string[] {
  return Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, param]) => param ?? "")
}

function ruleOf(name: string, param: string): Rule {
  const rule = rules[param]
  if (!rule)
    throw new Error(`Cannot say who may call route ${name}: no rule for {${param}} of its path`)
  return rule
}

/**
 * "Private vals exist only for their owner. Somebody else's val: write routes answer 403 when the
 * caller can see it, 404 when not."
 */
const valRule: Rule = (route, caller, privacy) => {
  if (caller.isOwner) return "allowed"
  if (privacy === "private") return "val_not_found"
  return route.valAccess === "own" ? "not_owner" : "allowed"
}

const sharedUser: Rule = () => "allowed"

/** By what a path parameter names. In the matrix everything that is named belongs to the owner. */
const rules: Readonly<Record<string, Rule>> = {
  val_id: valRule,
  val_name: valRule,
  // A file and a branch are visible exactly if their val is.
  branch_id: sharedUser,
  file_id: (_route, caller, privacy) =>
    caller.isOwner || privacy !== "private" ? "allowed" : "file_not_found",
  // A run has no part in the organisations of its user.
  org_id: (_route, caller) => (caller.isOwner && !caller.isOfRun ? "allowed" : "org_not_found"),
  // A caller that can see a val can see its versions.
  version: sharedUser,
  user_id: sharedUser,
  username: sharedUser,
  module: sharedUser,
  file_path: sharedUser,
  code: sharedUser,
  // "Its author or the val's owner", and none on a private val for anybody else.
  comment_id: (_route, caller, privacy) => {
    if (caller.isOwner) return "allowed"
    return privacy === "private" ? "comment_not_found" : "not_owner"
  },
  // "The owner sees every run of the val, anybody else only the runs they started themselves."
  run_id: (_route, caller) => (caller.isOwner ? "allowed" : "run_not_found"),
  token_id: (_route, caller) => (caller.isOwner ? "allowed" : "token_not_found"),
  invitation_id: sharedUser,
  email_id: (_route, caller) => (caller.isOwner ? "allowed" : "email_not_found"),
  identity_id: (_route, caller) => (caller.isOwner ? "allowed" : "identity_not_found"),
  session_id: (_route, caller) => (caller.isOwner ? "allowed" : "session_not_found"),
  authorization_id: (_route, caller) => (caller.isOwner ? "allowed" : "authorization_not_found"),
  webhook_id: (_route, caller) => (caller.isOwner ? "allowed" : "webhook_not_found"),
  delivery_id: (_route, caller) => (caller.isOwner ? "allowed" : "delivery_not_found"),
  // A secret is looked for among the caller's own; setting one makes it there.
  name: (route, caller) =>
    caller.isOwner || route.method === "put" ? "allowed" : "secret_not_found",
  variable: sharedUser,
  // A blob is looked for among the caller's own, too; setting one makes it there.
  key: (route, caller) =>
    caller.isOwner || route.method === "post" ? "allowed" : "blob_not_found",
}
