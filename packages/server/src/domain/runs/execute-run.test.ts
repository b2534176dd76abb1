import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { noMask } from "@hamlet/kit"
import type { Program } from "@hamlet/sandbox"
import { FakeRunner } from "../../../test/support/fakes/fake-runner.ts"
import { codeOf, openRules, type TestRules } from "../../../test/support/rules.ts"
import type { Caller } from "../access/caller.ts"
import { asOwner } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import { createStartedFiles } from "../files/started-files.ts"
import { createAllowances } from "../limits/allowances.ts"
import type { Programs } from "../modules/programs.ts"
import type { Val } from "../vals/vals.ts"
import { type Calls, createCalls } from "./calls.ts"
import { createRunStarter } from "./execute-run.ts"
import { LiveRuns } from "./live-runs.ts"
import type { RunDetail } from "./runs.ts"

const noLimits = {
  runsPerMinute: undefined,
  egressBytesPerMinute: undefined,
  storageRequestsPerMinute: undefined,
}
const nothing = { args: [], version: undefined }

describe("createCalls", () => {
  let rules: TestRules
  let runner: FakeRunner
  let liveRuns: LiveRuns
  let calls: Calls
  let ada: Caller
  let bob: Caller

  beforeEach(async () => {
    rules = await openRules()
    runner = new FakeRunner()
    liveRuns = new LiveRuns(rules.stores.runs, rules.clock.newId(), { now: Date.now }, () => {})
    const programs: Programs = {
      of: async (val, accountId) => toProgram(val, accountId),
      ofUnsaved: async (val) => toProgram(val, val.ownerId),
    }
    const { vals, versions } = rules.nouns
    const allowances = createAllowances(noLimits, Date.now)
    const starter = createRunStarter(liveRuns, runner, programs, allowances, rules.clock)
    const mailInputs = { read: () => Promise.reject(new Error("no mail is stored")) }
    const startedFiles = createStartedFiles(rules.stores.versionFiles)
    calls = createCalls({
      starter,
      vals,
      versions,
      programs,
      startedFiles,
      mailInputs,
      runs: { findLastStart: async () => null },
      clock: rules.clock,
    })
    ada = await rules.addCaller("ada")
    bob = await rules.addCaller("bob")
  })

  afterEach(async () => {
    await liveRuns.stop()
    await rules[Symbol.asyncDispose]()
  })

  const addVal = (code: string) => rules.nouns.vals.create(ada, { code, privacy: "public" })
  const find = async (id: string, as = ada) =>
    (await rules.stores.runs.find(asOwner(as.ownerId), id)) as RunDetail
  const latest = async (val: Val) => {
    const filter = { error: undefined, sources: undefined, since: undefined, until: undefined }
    const [run] = (
      await rules.stores.runs.listOfVal(val.id, undefined, filter, { limit: 1, offset: 0 })
    ).items
    return find(run?.id ?? "")
  }

  test("write the run to disk before its code starts", async () => {
    const val = await addVal("export default () => 1")
    let before: RunDetail | undefined
    runner.onEnter = async (run) => {
      before = await find(run.id)
    }
    const { id, ended } = await calls.start(ada, val.id, nothing)
    await ended
    expect(before).toMatchObject({ id, status: "queued", endedAt: null })
    expect(await find(id)).toMatchObject({ status: "succeeded", returnValue: 1 })
  })

  test("run on the account of the caller, and pass nothing else to the program", async () => {
    const val = await addVal("export default () => 1")
    await calls.call(bob, "ada", val.name, [])
    await calls.call(ada, "ada", val.name, [])
    expect(runner.slots.map(({ program }) => [program.accountId, program.label])).toEqual([
      [bob.ownerId, val.name],
      [ada.ownerId, val.name],
    ])
  })

  test("release the run slot however the val ends", async () => {
    for (const code of ["export default () => 1", "export default () => { throw new Error() }"]) {
      await (await calls.start(ada, (await addVal(code)).id, nothing)).ended
    }
    expect(runner.slots.map(({ hasLeft }) => hasLeft)).toEqual([true, true])
  })

  test.each(["too_many_runs", "overloaded", "sandbox_unavailable"] as const)(
    "reports %s to the caller, and in the run",
    async (code) => {
      const val = await addVal("export default () => 1")
      runner.refusal = new AppError(code, "Cannot run the val: no room")
      expect(await codeOf(calls.call(ada, "ada", val.name, []))).toBe(code)
      expect(await latest(val)).toMatchObject({
        status: "failed",
        error: { name: code, message: "Cannot run the val: no room" },
      })
    },
  )

  test("record an unexpected error as a crash, without its message", async () => {
    const val = await addVal("export default () => 1")
    runner.onEnter = () => Promise.reject(new Error("a path on the host"))
    const { ended } = await calls.start(ada, val.id, nothing)
    expect(await ended.catch(String)).toBe("Error: a path on the host")
    const run = await latest(val)
    expect(run).toMatchObject({ status: "crashed", error: { name: "internal" } })
    expect(JSON.stringify(run)).not.toContain("host")
  })

  test("end as cancelled when the run is cancelled with or without a slot", async () => {
    const val = await addVal("export default () => new Promise(() => {})")
    runner.gate = new Promise(() => {})
    const waiting = await calls.start(ada, val.id, nothing)
    liveRuns.find(waiting.id)?.cancel()
    expect(await waiting.ended).toMatchObject({ kind: "stopped", status: "cancelled" })
    runner.gate = undefined
    const seated = await calls.start(ada, val.id, nothing)
    liveRuns.find(seated.id)?.cancel()
    expect(await seated.ended).toMatchObject({ kind: "stopped", status: "cancelled" })
    for (const { id } of [waiting, seated])
      expect(await find(id)).toMatchObject({ status: "cancelled", endedAt: expect.any(Number) })
  })

  test("callVal throws run_timed_out when the val takes too long, and run_failed when it returns too much", async () => {
    const slow = await addVal("export default () => new Promise(() => {})")
    runner.onEnter = async () => void setImmediate(() => runner.slots[0]?.stop("timed_out"))
    expect(await codeOf(calls.call(ada, "ada", slow.name, []))).toBe("run_timed_out")
    runner.onEnter = undefined
    runner.isTruncated = true
    const large = await addVal("export default () => 'x'")
    expect(await codeOf(calls.call(ada, "ada", large.name, []))).toBe("run_failed")
    expect(await latest(large)).toMatchObject({ status: "succeeded" })
  })
})

function toProgram(val: Val, accountId: string): Program {
  const content = {
    modules: [{ url: "entry", code: val.code }],
    bundles: [],
    env: {},
    substitutions: [],
    mask: noMask,
    end: () => {},
  }
  const about = {
    key: val.id,
    group: val.id,
    line: val.file.id,
    version: val.version,
    isHttp: val.type === "http",
    accountId,
  }
  return {
    ...about,
    label: val.name,
    entryUrl: "entry",
    endpoint: "http://val.test",
    readFile: async () => null,
    isMeant: () => true,
    load: async () => content,
  }
}
