import { unauthenticated } from "../access.ts"
import {
  assertRunnable,
  callWith,
  type ExecuteDeps,
  getReturned,
  startProgram,
  toRecordedArgs,
} from "./execute-run.ts"
import type { CallArgs, Returned } from "./runner.ts"

/** A call by a client without a token. */
export interface AnonymousCall {
  readonly username: string
  readonly name: string
  readonly args: CallArgs
  /** The number of vals that called each other before this call. */
  readonly depth: number
}

/**
 * Calls a public val for a client without a token. It runs on its owner's account, like a request
 * to the val's endpoint, but without secrets and without a token.
 */
export async function callAnonymously(
  deps: ExecuteDeps,
  { username, name, args, depth }: AnonymousCall,
): Promise<Returned["json"]> {
  const val = await deps.vals.findByName(username.replace(/^@/, ""), name, undefined)
  // The response must not reveal which other vals exist.
  if (val?.privacy !== "public") throw unauthenticated()
  assertRunnable(val)
  const about = { args: toRecordedArgs(args), parentId: null, request: null, input: null }
  const makeProgram = () => deps.programs.of(val, val.ownerId, { isAnonymous: true })
  const started = await startProgram(
    deps,
    { userId: val.ownerId, depth },
    val,
    makeProgram,
    about,
    callWith(args),
  )
  return getReturned(started, val, undefined)
}
