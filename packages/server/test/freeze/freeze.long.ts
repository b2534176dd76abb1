import { afterAll, beforeAll, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase } from "../support/databases.ts"
import { openServerFixture, type ServerFixture } from "../support/server-fixture.ts"
import type { Door } from "./door.ts"
import { guestWork } from "./doors/guest.ts"
import { databaseDoors, doorGroups } from "./doors.ts"
import {
  countDescriptors,
  forgetPeak,
  longPause,
  measureSlowness,
  measureWork,
  pauseMsMax,
  readMemory,
  readPauses,
  tolerance,
} from "./loop-meter.ts"
import { egressFilesMax, type OpenStage, openStage } from "./stage.ts"

/** By how much the server may grow while it handles an input. */
const growthMbMax = 300
const attempts = 3
const testMsMax = 290_000
/**
 * How many descriptors runs may keep that leave a complete response unread, how many other
 * connections may come and go meanwhile, and how many more runs there are than may keep one.
 */
const unread = { keptMax: 40, toleranceMax: 20, moreRuns: 30 }
/** `npm run long-test -- freeze --doors smtp` tries some of them. */
const chosen = new RegExp(process.env.HAMLET_FREEZE_DOORS ?? "", "i")

describeEachDatabase("freeze", (open) => {
  let fixture: ServerFixture | undefined
  let opened: OpenStage | undefined
  beforeAll(async () => {
    fixture = await openServerFixture(open)
    opened = await openStage(fixture)
  }, testMsMax)
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]()
    await fixture?.[Symbol.asyncDispose]()
  }, testMsMax)
  const getStage = () => {
    if (!opened) throw new Error("Cannot use the server: it has not been started")
    return opened
  }
  /** Most input is read before the database is used, so one database is enough for it. */
  const isDriven = (door: Door) =>
    chosen.test(door.name) && (fixture?.url === undefined || databaseDoors.includes(door))

  test("a pause that is a bit too long is a problem, whenever it begins", async () => {
    // Pauses of the process cannot differ between the databases.
    if (fixture?.url !== undefined) return
    const stage = getStage()
    const countPauses = async () =>
      (await readPauses(stage.metricsPort)).get(pauseMsMax / 1_000) ?? 0
    const drive = async () => {
      const before = await countPauses()
      process.kill(stage.pid, longPause.signal)
      await waitUntil(async () => (await countPauses()) > before)
    }
    expect(await findProblems(stage, { name: "signal", drive }, () => 1)).toEqual([
      expect.stringMatching(/^signal: blocks for more than 0\.\d+ s$/),
    ])
  })

  for (const [group, doors] of Object.entries(doorGroups))
    test(
      `${group}: no input blocks the event loop or makes the server grow`,
      async () => {
        const problems: string[] = []
        for (const door of doors.filter(isDriven))
          problems.push(...(await findProblems(getStage(), door)))
        expect(problems).toEqual([])
      },
      testMsMax,
    )

  test.each([
    ["unread", unread.keptMax],
    // A val may read these later, so the limit for all vals applies.
    ["endless", egressFilesMax],
  ])(
    "responses that vals leave %s keep few descriptors",
    async (path, descriptorsMax) => {
      // The number of descriptors cannot differ between the databases.
      if (fixture?.url !== undefined) return
      const stage = getStage()
      const leave = () =>
        stage.send({
          method: "POST",
          path: "/v1/run/ada.leavesUnread",
          body: JSON.stringify({ args: [`${stage.outside.url}/${path}`] }),
        })
      // A busy machine may not start the process in time at first.
      await waitUntil(async () => (await leave()) === "200")
      const before = countDescriptors(stage.pid)
      let most = before
      for (let count = 0; count < descriptorsMax + unread.moreRuns; count++) {
        expect(await leave()).toBe("200")
        most = Math.max(most, countDescriptors(stage.pid))
      }
      expect(most - before).toBeLessThanOrEqual(descriptorsMax + unread.toleranceMax)
    },
    testMsMax,
  )
})

test("no message of a guest takes long to read", () => {
  const msMax = pauseMsMax * tolerance * measureSlowness()
  const slow = guestWork.flatMap(({ name, work }) => {
    const ms = measureWork(work, attempts)
    return ms > msMax ? [`${name}: ${ms.toFixed()} ms`] : []
  })
  expect(slow).toEqual([])
})

/** The problems of a door: that it grows, and that it blocks each time. */
async function findProblems(
  stage: OpenStage,
  door: Door,
  readSlowness = measureSlowness,
): Promise<string[]> {
  try {
    const { pauseSeconds, growthMb } = await measure(stage, door, readSlowness)
    // Memory that was taken once stays, so only the first attempt shows how much it is. Garbage of
    // earlier doors is collected once.
    let seconds = pauseSeconds
    for (let again = 1; again < attempts && seconds > 0; again++)
      seconds = Math.min(seconds, (await measure(stage, door, readSlowness)).pauseSeconds)
    return [
      ...(seconds > 0 ? [`${door.name}: blocks for more than ${seconds} s`] : []),
      ...(growthMb > growthMbMax ? [`${door.name}: grows by ${growthMb.toFixed()} MB`] : []),
    ]
  } catch (error) {
    return [`${door.name}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** What was read last of a server: nothing happens between two doors, and reading it takes long. */
const pausesBefore = new WeakMap<OpenStage, ReadonlyMap<number, number>>()

/** The longest pause beyond the bound, 0 if there is none, and the growth, while it is driven. */
async function measure(
  stage: OpenStage,
  door: Door,
  readSlowness: () => number,
): Promise<{ readonly pauseSeconds: number; readonly growthMb: number }> {
  const { metricsPort, pid } = stage
  const before = pausesBefore.get(stage) ?? (await readPauses(metricsPort))
  forgetPeak(pid)
  const { now } = readMemory(pid)
  await door.drive(stage)
  const growthMb = readMemory(pid).peak - now
  const after = await readPauses(metricsPort)
  pausesBefore.set(stage, after)
  const longer = [...after].flatMap(([seconds, count]) =>
    seconds * 1_000 >= pauseMsMax * tolerance && count > (before.get(seconds) ?? 0)
      ? [seconds]
      : [],
  )
  // The machine may be slower now than when the tests began. Measuring that takes longer than most
  // doors, so it waits for a pause.
  const isTooLong = (seconds: number) => seconds * 1_000 >= pauseMsMax * tolerance * readSlowness()
  const longest = Math.max(0, ...longer)
  return { pauseSeconds: longest > 0 && isTooLong(longest) ? longest : 0, growthMb }
}
