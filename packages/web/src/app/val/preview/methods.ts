/** The methods that a request is usually sent with. */
export const methods: readonly string[] = [
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
]

/** Whether requests with that method have a body. */
export function hasBody({ method }: { readonly method: string }): boolean {
  return method !== "GET" && method !== "HEAD"
}
