import type fc from "fast-check"
import type { TestApi, TestResponse } from "../support/api.ts"
import { type Model, relink } from "./model.ts"

/** One action of a user. */
export type Command = fc.AsyncCommand<Model, TestApi>

/**
 * A command that is always possible: what there may be nothing of is picked from lists that are
 * never empty.
 */
export function command(
  title: string,
  run: (model: Model, api: TestApi) => Promise<void>,
): Command {
  return { check: () => true, run, toString: () => title }
}

/**
 * Sends what changes something, and brings the links of the model, which the model has changed
 * before, up to date with its time.
 */
export async function change(
  model: Model,
  send: () => Promise<TestResponse>,
): Promise<TestResponse> {
  const earliest = Date.now()
  const response = await send()
  relink(model, earliest, Date.now())
  return response
}
