import { describe, expect, test } from "bun:test"
import { openRules } from "../../../test/support/rules.ts"
import { createVal } from "../vals/vals.ts"
import { LiveRuns, type NewRun } from "./live-runs.ts"
import type { RunStore } from "./runs.ts"

const valueChars = 20_000
const batchBytesMax = 100_000
const large = "x".repeat(valueChars)
const succeed = { status: "succeeded", error: null } as const

describe("RunRecorder", () => {
  const kinds: readonly [string, Partial<NewRun>, (run: ReturnType<LiveRuns["open"]>) => void][] = [
    [
      "logs",
      {},
      (run) => run.log({ at: "2026-01-01T00:00:00.000Z", level: "log", message: large }),
    ],
    ["arguments", { args: [large] }, () => {}],
    ["return values", {}, (run) => run.finish({ ...succeed, returnValue: { large } })],
    [
      "errors",
      {},
      (run) => run.finish({ status: "failed", error: { name: "Error", message: large } }),
    ],
    ["requests that were kept", { input: { headers: [], body: large } }, () => {}],
  ]
  for (const [title, more, act] of kinds) {
    test(`writes all runs with large ${title}, in batches of limited size`, async () => {
      await using rules = await openRules()
      const ada = await rules.addCaller("ada")
      const val = await createVal(rules.deps, ada, { name: "hello", code: "1" })
      const batches: number[] = []
      const record: RunStore["record"] = async (runs) => {
        batches.push(runs.length)
        return rules.deps.runs.record(runs)
      }
      const live = new LiveRuns({
        runs: { ...rules.deps.runs, record },
        nodeId: Bun.randomUUIDv7(),
        limits: { batchBytesMax, logBytesMax: 2 * valueChars, valueBytesMax: 5 * valueChars },
        now: () => rules.clock.at,
        onError: (error) => expect(error).toBeUndefined(),
      })
      const about = {
        valId: val.id,
        version: 1,
        accountId: ada.userId,
        ownerId: ada.userId,
        parentId: null,
      }
      const runs = Array.from({ length: 10 }, () =>
        live.open({
          ...{
            ...about,
            args: null,
            request: null,
            input: null,
            depth: 0,
            source: "http",
            startedAt: rules.clock.at,
          },
          id: rules.deps.newId(),
          ...more,
        }),
      )
      for (const run of runs) {
        act(run)
        run.finish(succeed)
      }
      await live.stop()
      expect(batches).toEqual([4, 4, 2])
      const found = await Promise.all(runs.map(({ id }) => rules.deps.runs.find(ada.userId, id)))
      expect(found.every((run) => run !== undefined)).toBe(true)
    })
  }
})
