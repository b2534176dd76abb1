import { describe, expect, test } from "bun:test"
import { ApiError, ConnectionError } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { performSteps, type RoundStep, startRound } from "./perform-steps.ts"
import type { SyncEvent } from "./sync-event.ts"

/** Performs steps, and returns what they said and did, with the result. */
async function perform(
  steps: (report: (event: SyncEvent) => void) => readonly RoundStep[],
  more: { readonly isDry?: boolean; readonly isStopping?: () => boolean } = {},
) {
  const said: string[] = []
  const report = ({ action, file, isPlanned, text = "" }: SyncEvent) =>
    said.push(`${isPlanned ? "would be " : ""}${action} ${file} ${text}`.trim())
  const { deps, tally } = startRound({ report, isStopping: () => false, ...more })
  const performed = steps(deps.report)
  await performSteps(deps, tally, performed)
  return { said, tally }
}

const fail = (error: Error) => () => Promise.reject(error)
const nameTaken = new ApiError("Cannot create it: taken", { status: 409, code: "name_taken" })

describe("performSteps", () => {
  test("goes on after a step that fails, and tells races from problems", async () => {
    const { said, tally } = await perform(() => [
      { file: "a", perform: fail(new CliError("usage", "Cannot do a")) },
      { file: "b", perform: fail(new ApiError("gone", { status: 404, code: "val_not_found" })) },
      { file: "c", perform: () => "noted" },
    ])
    expect(said).toEqual(["problem a Cannot do a"])
    expect(tally).toEqual({
      hasActed: false,
      isRaced: true,
      hasConflict: false,
      hasMerged: false,
      exit: "usage",
    })
  })

  test("takes a name that is taken for a race, unless a val is renamed", async () => {
    const create = await perform(() => [{ file: "a", perform: fail(nameTaken) }])
    expect([create.said, create.tally.isRaced]).toEqual([[], true])
    const rename = await perform(() => [{ file: "a", isRename: true, perform: fail(nameTaken) }])
    expect([rename.said.length, rename.tally.isRaced, rename.tally.exit]).toEqual([
      1,
      false,
      "conflict",
    ])
  })

  test("fails as a whole if the server does not respond", async () => {
    const steps = () => [{ file: "a", perform: fail(new ConnectionError("Cannot reach it")) }]
    await expect(perform(steps)).rejects.toThrow("Cannot reach it")
  })

  test("counts what is done, and each conflict that is reported", async () => {
    const { tally } = await perform((report) => [
      {
        file: "a",
        perform() {
          report({ action: "conflict", file: "a" })
          return "done"
        },
      },
      { file: "b", perform: () => "raced" },
    ])
    expect(tally).toEqual({
      hasActed: true,
      isRaced: true,
      hasConflict: true,
      hasMerged: false,
      exit: undefined,
    })
  })

  test("reports what a dry run would do, and does nothing", async () => {
    const never = fail(new Error("performed"))
    const steps: readonly RoundStep[] = [
      { file: "a", planned: { action: "conflict", file: "a" }, perform: never },
      { file: "b", perform: never },
    ]
    const { said, tally } = await perform(() => steps, { isDry: true })
    expect(said).toEqual(["would be conflict a"])
    expect([tally.hasActed, tally.hasConflict]).toEqual([false, true])
  })

  test("stops before the next step", async () => {
    const done: string[] = []
    const step = (file: string): RoundStep => ({
      file,
      perform() {
        done.push(file)
        return "done"
      },
    })
    await perform(() => [step("a"), step("b")], { isStopping: () => done.length > 0 })
    expect(done).toEqual(["a"])
  })
})
