import { inBatches } from "../database/batch-sizes.ts"
import type { SqlValue, Statement, Statements } from "../database/sql.ts"

/** The response that a run keeps, as JSON. */
export interface KeptResponse {
  readonly id: string
  readonly response: string
}

/** Writes the responses of runs that end, in the transaction that records their end. */
export function* recordResponses(responses: readonly KeptResponse[]): Statements<void> {
  for (const chunk of inBatches(responses)) yield insertResponses(chunk)
}

const texts = new Map<number, string>()

// Not built with the `sql` tag, as with the runs themselves: there are thousands per second.
function insertResponses(responses: readonly KeptResponse[]): Statement {
  const values: SqlValue[] = []
  for (const { id, response } of responses) values.push(id, response)
  let text = texts.get(responses.length)
  if (text === undefined) {
    const groups = responses.map((_, row) => `($${2 * row + 1}, $${2 * row + 2})`)
    text = `insert into run_responses (run_id, response) values ${groups.join(", ")}
      on conflict (run_id) do update set response = excluded.response`
    texts.set(responses.length, text)
  }
  return { text, values }
}
