import { toIssueText } from "@hamlet/contract"
import type { z } from "zod"
import { AppError } from "../../domain/app-error.ts"

/** Parses a value by a schema; throws `invalid_request` with all issues. Drops unknown keys. */
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
  const field = first?.path ? `"${first.path}" ` : ""
  throw new AppError(
    "invalid_request",
    `Cannot accept the request: ${field}${first?.message ?? "it is not valid"}`,
    { issues },
  )
}

/** A query string as an object; repeated parameters become an array. */
export function toQuery(url: string): Record<string, string | string[]> {
  const start = url.indexOf("?")
  const query: Record<string, string | string[]> = Object.create(null)
  if (start < 0) return query
  for (const [name, value] of new URLSearchParams(url.slice(start))) {
    // Some clients mark lists.
    const key = name.endsWith("_ids[]") ? name.slice(0, -2) : name
    const previous = query[key]
    if (previous === undefined) query[key] = value
    else if (typeof previous === "string") query[key] = [previous, value]
    else previous.push(value)
  }
  return query
}
