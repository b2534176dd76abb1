import { expect, test } from "bun:test"
import type { ProgramContent } from "../program/runner.ts"
import type { Sandbox } from "../sandboxes/sandbox.ts"
import type { ActiveRun } from "./active-runs.ts"
import { ProgramProcess } from "./program-process.ts"
import type { RunnerLimits } from "./runner-limits.ts"

type Refused = Parameters<ActiveRun["noteRefusal"]>[0]

test("ProgramProcess keeps the refusal of a WebSocket for a run that goes on, and for no other", () => {
  const sandbox = { socketPath: "", exited: new Promise(() => {}) } as Sandbox
  const process = new ProgramProcess(
    { accountId: "ada" } as never,
    {} as ProgramContent,
    sandbox,
    { lateRunsMax: 10, runMsMax: 60_000 } as RunnerLimits,
    "first",
  )
  const kept: Refused[] = []
  const activeRun = {
    run: { id: "first" },
    startedMs: performance.now(),
    noteRefusal: (refusal: Refused) => void kept.push(refusal),
  } as unknown as ActiveRun
  const refused: Refused = {
    kind: "refused",
    run: "first",
    status: 403,
    headers: [],
    body: "",
  }
  process.addRun(activeRun)
  sandbox.onMessage?.(refused, 0)
  expect(kept).toEqual([refused])
  process.removeRun(activeRun)
  sandbox.onMessage?.(refused, 0)
  expect(kept).toHaveLength(1)
})
