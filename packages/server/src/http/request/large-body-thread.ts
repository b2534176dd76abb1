import { type RouteDefinition, routes } from "@hamlet/contract"
import { serveJobs } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import { parseBody } from "./body.ts"
import { type BodyJob, type BodyResult, forwardedFields } from "./large-bodies.ts"
import { validate } from "./validate.ts"

// The worker thread of `LargeBodies`.
serveJobs<BodyJob, BodyResult>((job) => ({ result: parse(job) }))

function parse({ route: name, bytes, contentType }: BodyJob): BodyResult {
  const route: RouteDefinition = routes[name]
  try {
    const value = parseBody(bytes, contentType, route.isCodeBody ?? false)
    const body = (route.body ? validate(route.body, value) : value) as Record<string, unknown>
    const forwardedJson: Record<string, string> = {}
    for (const field of forwardedFields[name] ?? []) {
      if (body[field] === undefined) continue
      forwardedJson[field] = JSON.stringify(body[field])
      delete body[field]
    }
    return { body, forwardedJson }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, issues } = error
    return { refusal: { code, message, issues } }
  }
}
