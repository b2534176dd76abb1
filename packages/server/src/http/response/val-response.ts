import type { Val } from "../../domain/vals/vals.ts"
import { withEtag } from "../request/preconditions.ts"
import { toValView } from "../views/views.ts"
import { type ApiResponse, json } from "./api-response.ts"
import type { Links } from "./links.ts"

/**
 * The answer that is one val. A val that the store remembers is the same object again, and is
 * written out once.
 */
export function createValResponse(links: Links): (val: Val) => ApiResponse {
  const written = new WeakMap<Val, ApiResponse>()
  return (val) => {
    const known = written.get(val)
    if (known) return known
    const answer = withEtag(json(200, toValView(val, links)), val.version)
    written.set(val, answer)
    return answer
  }
}
