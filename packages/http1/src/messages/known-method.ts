const knownMethods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
])

/** Clients may send any word as a method; each would add a time series, or a name of spans. */
export function toKnownMethod(method: string): string {
  return knownMethods.has(method) ? method : "other"
}
