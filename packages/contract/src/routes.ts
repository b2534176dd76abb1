import { type ErrorCode, errorCodes } from "./errors.ts"
import { hasIdempotencyKey, type RouteDefinition } from "./route.ts"
import { accountRoutes } from "./routes/account.ts"
import { environmentVariableRoutes } from "./routes/accounts/environment-variables.ts"
import { identityRoutes } from "./routes/accounts/identities.ts"
import { notificationRoutes } from "./routes/accounts/notifications.ts"
import { organisationRoutes } from "./routes/accounts/organisations.ts"
import { administrationRoutes } from "./routes/administration.ts"
import { backupRoutes } from "./routes/backup.ts"
import { branchRoutes } from "./routes/files/branches.ts"
import { fileRoutes } from "./routes/files/files.ts"
import { folderRoutes } from "./routes/files/folders.ts"
import { meRoutes } from "./routes/me.ts"
import { requestRoutes } from "./routes/requests.ts"
import { telemetryRoutes } from "./routes/runs/telemetry.ts"
import { runRoutes } from "./routes/runs.ts"
import { scheduleRoutes } from "./routes/schedules.ts"
import { blobRoutes } from "./routes/services/blobs.ts"
import { connectionRoutes } from "./routes/services/connections.ts"
import { emailRoutes } from "./routes/services/email.ts"
import { openAiRoutes } from "./routes/services/openai.ts"
import { sqliteRoutes } from "./routes/services/sqlite.ts"
import { valStorageRoutes } from "./routes/services/val-storage.ts"
import { authorizationRoutes, sessionRoutes } from "./routes/sessions.ts"
import { socialRoutes } from "./routes/social.ts"
import { statRoutes } from "./routes/stats.ts"
import { systemRoutes } from "./routes/system.ts"
import { userRoutes } from "./routes/users.ts"
import { valRoutes } from "./routes/vals.ts"
import { versionRoutes } from "./routes/versions.ts"
import { webhookRoutes } from "./routes/webhooks.ts"

/** All routes. */
export const routes = {
  ...meRoutes,
  ...valRoutes,
  ...versionRoutes,
  ...folderRoutes,
  ...branchRoutes,
  ...fileRoutes,
  ...socialRoutes,
  ...runRoutes,
  ...statRoutes,
  ...telemetryRoutes,
  ...scheduleRoutes,
  ...requestRoutes,
  ...userRoutes,
  ...administrationRoutes,
  ...accountRoutes,
  ...organisationRoutes,
  ...environmentVariableRoutes,
  ...sessionRoutes,
  ...identityRoutes,
  ...notificationRoutes,
  ...authorizationRoutes,
  ...webhookRoutes,
  ...blobRoutes,
  ...sqliteRoutes,
  ...valStorageRoutes,
  ...emailRoutes,
  ...openAiRoutes,
  ...connectionRoutes,
  ...backupRoutes,
  ...systemRoutes,
} satisfies Record<string, RouteDefinition>

/** The route table. */
export type Routes = typeof routes

/** The name of a route, which is also the name of the client's method. */
export type RouteName = keyof Routes

/** The names of all routes, in the order of the table. */
export const routeNames = Object.keys(routes) as readonly RouteName[]

/** All error codes of a route: those that its fields imply, and those that it names itself. */
export function errorsOf(route: RouteDefinition): readonly ErrorCode[] {
  const codes: ErrorCode[] = ["rate_limited", "internal", "database_unavailable", "invalid_request"]
  // Large bodies and responses wait for their turn.
  codes.push("overloaded")
  if (route.auth === "required") codes.push("unauthenticated")
  if (route.auth !== "none")
    codes.push("invalid_token", "invalid_session", "user_suspended", "org_not_found")
  if (route.isSignIn) codes.push("cross_site_request")
  if (route.scope) codes.push("missing_scope", "role_too_low")
  if (route.method !== "get" && route.scope) codes.push("roles_changed")
  if (route.valAccess) codes.push("val_not_found")
  if (route.valAccess === "own") codes.push("not_owner")
  if (route.body) codes.push("invalid_json")
  if (route.body || route.isBytesBody) codes.push("body_too_large", "unsupported_encoding")
  if (route.hasRange) codes.push("range_not_satisfiable")
  if (route.hasIfMatch) codes.push("version_conflict")
  if (hasIdempotencyKey(route)) codes.push("idempotency_in_flight", "idempotency_mismatch")
  // What a parameter of the path names may not exist.
  for (const [, name] of route.path.matchAll(/\{(\w+?)(?:_id)?\}/g)) {
    const code = `${name}_not_found`
    if (code in errorCodes) codes.push(code as ErrorCode)
  }
  return [...new Set([...codes, ...(route.errors ?? [])])]
}
