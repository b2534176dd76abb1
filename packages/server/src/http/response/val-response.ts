import type { Val } from "../../domain/vals/vals.ts"
import { withEtag } from "../request/preconditions.ts"
import { toValView } from "../views/views.ts"
import { type Answer, json } from "./api-response.ts"
import type { Links } from "./links.ts"

/** The answer that is one val. A val that the store remembers is the same object again, and is written out once. */
export function createValAnswer(links: Links): (val: Val) => Answer {
  const written = new WeakMap<Val, Answer>()
  return (val) => {
    const known = written.get(val)
    if (known) return known
    const answer = withEtag(json(200, toValView(val, links)), val.version)
    written.set(val, answer)
    return answer
  }
}
