import { type RouteDefinition, type RouteName, routeNames, routes } from "@hamlet/contract"
import { type Context, Hono } from "hono"
import { AppError } from "../domain/app-error.ts"
import { type Answer, toErrorAnswer } from "./answer.ts"
import { createAuthenticator } from "./authenticate.ts"
import type { Handler } from "./call.ts"
import type { HttpDeps } from "./deps.ts"
import { createHandlers } from "./handlers.ts"
import { createMetrics, type Metrics } from "./metrics.ts"
import { answerRoute } from "./pipeline.ts"
import { findMethods } from "./route-methods.ts"
import { preflight, toResponse } from "./response.ts"
import { docsAsset } from "./routes/system.ts"

/** What the server knows of a connection. */
export interface Bindings {
  address?(): string
}

/** The API as a function from request to response; nothing in it knows of ports. */
export function createApp(deps: HttpDeps): Hono<{ Bindings: Bindings }> {
  const app = new Hono<{ Bindings: Bindings }>({ strict: false })
  const metrics = createMetrics(deps.databaseStats)
  const handlers = createHandlers(deps, metrics)
  const authenticate = createAuthenticator(deps)
  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    // The table's types tie each handler to its row; a loop over both has to forget which is which.
    const handler = handlers[name] as unknown as Handler<RouteDefinition>
    app.on(route.method, toHonoPath(route.path), (context) =>
      respond(deps, metrics, context, name, async (requestId) => {
        const request = context.req.raw
        const caller = route.auth === "none" ? undefined : await authenticate(request, () => context.env?.address?.() ?? "")
        return answerRoute(deps, route, handler, { request, requestId, params: context.req.param(), caller })
      }),
    )
  }
  app.get("/", (context) => context.redirect("/docs", 302))
  app.get("/docs/assets/:name", (context) => respond(deps, metrics, context, "docsAsset", () => docsAsset(deps, context.req.path)))
  app.notFound((context) => (context.req.method === "OPTIONS" ? preflight(findMethods(context.req.path)) : respond(deps, metrics, context, "none", (requestId) => refuse(context, requestId))))
  return app
}

function toHonoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1")
}

/** Whatever happens, the client gets an answer with a request id, and the log and the counters hear of it. */
async function respond(
  deps: HttpDeps,
  metrics: Metrics,
  context: Context,
  route: RouteName | "docsAsset" | "none",
  answer: (requestId: string) => Promise<Answer>,
): Promise<Response> {
  const started = performance.now()
  const requestId = Bun.randomUUIDv7()
  const result = await answer(requestId).catch((error: unknown) => explain(deps, error, requestId))
  const ms = performance.now() - started
  const { method, path } = context.req
  metrics.observe(route, method, result.status, ms / 1000)
  deps.log.info("request", { requestId, method, path, route, status: result.status, ms: Math.round(ms * 100) / 100 })
  return toResponse(result, requestId)
}

/** An error we expect is told; anything else is a bug: the caller sees the request id, the log sees the rest. */
function explain(deps: HttpDeps, error: unknown, requestId: string): Answer {
  if (error instanceof AppError) {
    if (error.code === "database_unavailable") deps.log.warn("database_unavailable", { requestId, message: error.message, cause: String(error.cause ?? "") })
    return toErrorAnswer(error, requestId)
  }
  deps.log.error("internal", { requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return toErrorAnswer(new AppError("internal", "Cannot answer: the server made a mistake, which was logged under this request id"), requestId)
}

async function refuse(context: Context, requestId: string): Promise<Answer> {
  const methods = findMethods(context.req.path)
  if (methods.length === 0) throw new AppError("route_not_found", `Cannot find ${context.req.path}: no route has this path`)
  const error = new AppError("method_not_allowed", `Cannot ${context.req.method} ${context.req.path}: it takes ${methods.join(", ")}`)
  const answer = toErrorAnswer(error, requestId)
  return { ...answer, headers: { ...answer.headers, allow: methods.join(", ") } }
}
