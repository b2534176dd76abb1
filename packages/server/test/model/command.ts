import type fc from "fast-check"
import type { TestAnswer, TestApi } from "../support/api.ts"
import { relink, type World } from "./world.ts"

/** One thing that somebody does. */
export type Command = fc.AsyncCommand<World, TestApi>

/**
 * A command that is always possible: what there may be nothing of is picked from lists that are
 * never empty.
 */
export function command(
  title: string,
  run: (world: World, api: TestApi) => Promise<void>,
): Command {
  return { check: () => true, run, toString: () => title }
}

/**
 * Sends what changes something, and brings the links of the world, which the model has changed
 * before, up to date with its time.
 */
export async function change(world: World, send: () => Promise<TestAnswer>): Promise<TestAnswer> {
  const earliest = Date.now()
  const answer = await send()
  relink(world, earliest, Date.now())
  return answer
}
