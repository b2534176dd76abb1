import type { TypedRequest } from "./request-history.ts"
import { toHeaders } from "./to-headers.ts"

/** The request as a curl command. The token of a private val is read from the environment. */
export function toCurl(
  { method, path, headers, body }: TypedRequest,
  { endpoint, isPrivate }: { readonly endpoint: string; readonly isPrivate: boolean },
): string {
  const hasBody = method !== "GET" && method !== "HEAD" && body !== ""
  const url = quote(endpoint.replace(/\/$/, "") + path)
  const parts = [
    `curl ${toMethod(method)}${url}`,
    ...(isPrivate ? ['-H "Authorization: Bearer $HAMLET_TOKEN"'] : []),
    ...toHeaders({ headers, body: hasBody ? body : "" }).map(
      ([name, value]) => `-H ${quote(`${name}: ${value}`)}`,
    ),
    // Not --data: it reads a file when the text begins with @.
    ...(hasBody ? [`--data-raw ${quote(body)}`] : []),
  ]
  return parts.join(" \\\n  ")
}

function toMethod(method: string): string {
  if (method === "GET") return ""
  return method === "HEAD" ? "-I " : `-X ${method} `
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
