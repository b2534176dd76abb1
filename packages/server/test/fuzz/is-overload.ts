/**
 * Whether it says that there was too much to do, which no machine is safe from, or that the
 * operator has not configured it. That the operation may say so, the document is asked.
 */
export function isOverload({
  json,
}: {
  readonly json: { readonly code?: unknown; readonly message?: unknown } | undefined
}): boolean {
  return expected.has(json?.code) || json?.message === noConnection
}

const noConnection = "Cannot use the database: all connections are in use"

const expected: ReadonlySet<unknown> = new Set([
  "search_timed_out",
  "overloaded",
  "mail_unavailable",
  "openai_unavailable",
  "oidc_unavailable",
])
