import { toIssueText } from "@hamlet/contract"
import type { z } from "zod"
import { AppError } from "../../domain/app-error.ts"

/**
 * The value as the schema reads it, or an error that says what is wrong and where. Keys that the
 * schema does not know are dropped.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, { error: toIssueText })
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => ({
    path: issue.path.join("."),
    message: issue.message,
  }))
  const [first] = issues
  const what = first?.path ? ` "${first.path}"` : ""
  throw new AppError(
    "invalid_request",
    `Cannot accept the request${what}: ${first?.message ?? "it is not valid"}`,
    { issues },
  )
}

/** A query string as an object; a parameter that is repeated becomes an array. */
export function toQuery(url: string): Record<string, string | string[]> {
  const start = url.indexOf("?")
  const query: Record<string, string | string[]> = Object.create(null)
  if (start < 0) return query
  for (const [key, value] of new URLSearchParams(url.slice(start))) {
    const known = query[key]
    if (known === undefined) query[key] = value
    else if (typeof known === "string") query[key] = [known, value]
    else known.push(value)
  }
  return query
}
