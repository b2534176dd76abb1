import { isSameSecret } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import { parseAuthorization } from "../../shared/headers/authorization-header.ts"
import type { ApiConnection } from "../call.ts"

/** How the operator protects `/metrics`. */
export interface MetricsAccess {
  /** Whether the metrics have a port of their own, and are missing on the server's. */
  readonly hasOwnPort: boolean
  /** The token that they require; undefined for none. */
  readonly token: string | undefined
}

/** Whether the metrics can be read where a request arrived. Vals do not pass a proxy that hides them. */
export function hasMetrics(
  { hasOwnPort }: MetricsAccess,
  { isVal = false, isMetricsPort = false }: ApiConnection,
): boolean {
  return !isVal && isMetricsPort === hasOwnPort
}

/** Throws unless the request has the token of the metrics. */
export function assertMetricsToken({ token }: MetricsAccess, request: Request): void {
  if (token === undefined) return
  const header = request.headers.get("authorization")
  if (header === null)
    throw new AppError(
      "unauthenticated",
      "Cannot show the metrics: they require the token of HAMLET_METRICS_TOKEN",
    )
  const sent = parseAuthorization(header)
  if (sent?.scheme !== "bearer" || !isSameSecret(sent.credentials, token))
    throw new AppError(
      "invalid_token",
      "Cannot show the metrics: the token is not that of HAMLET_METRICS_TOKEN",
    )
}
