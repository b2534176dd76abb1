/**
 * Whether it says that there was too much to do, which no machine is safe from. That the operation
 * may say so, the document is asked.
 */
export function isOverload({
  json,
}: {
  readonly json: { readonly code?: unknown } | undefined
}): boolean {
  return json?.code === "search_timed_out" || json?.code === "overloaded"
}
