import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { notRun } from "../../support/databases.ts"
import { toModule, type ValProbe } from "../probes/val-probe.ts"
import { Village } from "./village.ts"

/** A probe may have to wait for its turn. */
export const probeMsMax = 60_000

/**
 * Defines a suite on a village of its own. At its end the server stops as told, and nothing of it
 * is left.
 */
export function describeVillage(
  title: string,
  env: Readonly<Record<string, string>>,
  define: (village: () => Village) => void,
  prefix: readonly string[] = [],
): void {
  if (!Bun.which("bwrap")) {
    notRun(title, "bubblewrap is not installed")
    return
  }
  describe(title, () => {
    let village: Village | undefined
    const get = () => {
      if (!village) throw new Error("there is no village")
      return village
    }
    beforeAll(async () => {
      village = await Village.open(env, prefix)
    }, probeMsMax)
    afterAll(() => village?.stop())

    define(get)

    test(
      "at the end the server has logged no fault of its own, stops as told and leaves nothing behind",
      async () => {
        await get().expectUnharmed()
        const { left, exitCode, stderr } = await get().leave()
        expect(left).toEqual([])
        expect(stderr).toBe("")
        expect(get().hamlet.stdout).not.toContain("FORGED")
        expect(exitCode).toBe(0)
      },
      probeMsMax,
    )
  })
}

/** A test of one probe, run next to others. */
export function probe(
  village: () => Village,
  title: string,
  work: (village: Village) => Promise<void>,
  msMax = probeMsMax,
): void {
  test.concurrent(
    title,
    () =>
      village().turn(async () => {
        await work(village())
        village().traces.glance(village().hamlet.pid)
        await village().expectUnharmed()
      }),
    msMax,
  )
}

/** A test for each val that tries something. */
export function probeVals(village: () => Village, probes: readonly ValProbe[]): void {
  for (const attempt of probes)
    probe(village, `a val tries ${attempt.tries}`, (place) => tryVal(place, attempt))
}

async function tryVal(village: Village, attempt: ValProbe): Promise<void> {
  const { mallory, place, treasures } = village
  const val = await village.save(mallory, { code: toModule(attempt, place) })
  const answer = await village.visit(val)
  for (const treasure of treasures) expect(answer.text).not.toContain(treasure)
  // Where both are allowed, chance decides which comes first.
  if (attempt.ends && (answer.status === 502 || attempt.gets === undefined)) {
    expect(`${answer.status} ${answer.text}`).toStartWith("502 ")
    const { status, error } = await village.runOf(answer, mallory)
    expect(`${status} ${error?.name}: ${error?.message}`).toMatch(attempt.ends)
    return
  }
  expect(`${answer.status} ${answer.text}`).toStartWith("200 ")
  const { denied, got } = answer.json
  if (attempt.denied) expect(denied ?? `it got ${JSON.stringify(got)}`).toMatch(attempt.denied)
  else expect(answer.json).toEqual({ got: attempt.gets })
}
