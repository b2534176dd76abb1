import { toCurl } from "../../../ui/code/to-curl.ts"
import { hasBody } from "./methods.ts"
import type { TypedRequest } from "./request-history.ts"
import { toHeaders } from "./to-headers.ts"

/** The request as a curl command. The token of a private val is read from the environment. */
export function typedToCurl(
  { method, path, headers, body }: TypedRequest,
  { endpoint, isPrivate }: { readonly endpoint: string; readonly isPrivate: boolean },
): string {
  const text = hasBody({ method }) ? body : ""
  return toCurl({
    method,
    url: endpoint.replace(/\/$/, "") + path,
    hasToken: isPrivate,
    headers: toHeaders({ headers, body: text }),
    body: text === "" ? undefined : { text },
  })
}
