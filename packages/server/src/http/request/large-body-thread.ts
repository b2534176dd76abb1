import { type RouteDefinition, routes } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import { serveJobs } from "../../shared/serve-jobs.ts"
import { parseBody } from "./body.ts"
import { type BodyJob, type BodyResult, forwardedFields } from "./large-bodies.ts"
import { validate } from "./validate.ts"

// A thread that reads large bodies.
serveJobs<BodyJob, BodyResult>((job) => ({ result: read(job) }))

function read({ route: name, bytes, contentType }: BodyJob): BodyResult {
  const route: RouteDefinition = routes[name]
  try {
    const parsed = parseBody(bytes, contentType, route.isCodeBody ?? false)
    const body = (route.body ? validate(route.body, parsed) : parsed) as Record<string, unknown>
    const texts: Record<string, string> = {}
    for (const field of forwardedFields[name] ?? []) {
      if (body[field] === undefined) continue
      texts[field] = JSON.stringify(body[field])
      delete body[field]
    }
    return { body, forwardedJson: texts }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, issues } = error
    return { refusal: { code, message, issues } }
  }
}
