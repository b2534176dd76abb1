import { isJsonText, noMask } from "@hamlet/kit"
import type {
  CallArgs,
  CallOutcome,
  HttpOutcome,
  Program,
  RunListener,
  Runner,
  RunSlot,
  SocketOutcome,
  Stopped,
} from "@hamlet/sandbox"
import { toProgramResponse } from "@hamlet/sandbox/testing"
import { idleStatus } from "../support/fakes/idle-status.ts"

const error = {
  name: "Error",
  message: "no such luck",
  stack: "Error: no such luck\n    at ada/hello.tsx:1:1",
}

/**
 * Runs nothing: what there is to find is in the way to a val and back. Half of the calls fail, in
 * one way or another.
 */
export const echoRunner: Runner = {
  acquire: async (_program: Program, run: RunListener) => new EchoSeat(run),
  retire() {},
  endAll() {},
  runsOf: () => 0,
  status: () => idleStatus,
}

const outcomes: readonly Stopped["status"][] = ["failed", "timed_out", "crashed"]

class EchoSeat implements RunSlot {
  readonly mask = noMask
  readonly #run: RunListener

  constructor(run: RunListener) {
    this.#run = run
  }

  async call(given: CallArgs): Promise<CallOutcome> {
    const args = toArgs(given)
    this.#run.log({
      at: new Date().toISOString(),
      level: "log",
      message: JSON.stringify(args[0]) ?? "",
    })
    const status = outcomes[args.length - 1]
    return status === undefined
      ? { kind: "returned", json: JSON.stringify(args), kept: args, isTruncated: false }
      : { kind: "stopped", status, error }
  }

  fetch = (): Promise<HttpOutcome> =>
    Promise.resolve({ kind: "responded", response: toProgramResponse(new Response("hello")) })
  connect = (): Promise<SocketOutcome> =>
    Promise.resolve({ kind: "stopped", status: "failed", error })
  stop(): void {}
  release(): void {}
}

function toArgs(given: CallArgs): readonly unknown[] {
  if (isJsonText(given)) return JSON.parse(given.json) as unknown[]
  return "typed" in given ? given.typed : given
}
