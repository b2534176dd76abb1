import { beforeEach, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { codeOf } from "../../../test/support/rules.ts"
import type { AppError } from "../app-error.ts"
import type { Lockfile, Resolution } from "./lockfiles.ts"
import { createPendingLockfiles } from "./pending-lockfiles.ts"

const pending: Lockfile = {
  state: "pending",
  bundle: null,
  updatedAt: 1,
  resolution: null,
  retryAt: null,
}
const ready: Lockfile = { ...pending, state: "ready" }
const failing = {
  specifier: "npm:x",
  resolved: null,
  error: "the registry is away",
  places: [],
  entry: 0,
  exports: [],
}
const dayMs = 86_400_000

describe("createPendingLockfiles", () => {
  let lock: Lockfile | null
  let looks: number
  let clock: { at: number }
  const find = async () => {
    looks += 1
    return lock
  }

  beforeEach(() => {
    lock = pending
    looks = 0
    clock = { at: 1_000 }
  })

  const create = (pollMs: number) =>
    createPendingLockfiles({ find }, () => clock.at, { waitMsMax: 100, pollMs })
  const untilLooked = async (times: number) => {
    await waitUntil(() => looks >= times)
  }

  test.each([
    ["ready", ready],
    ["failed", { ...pending, state: "failed" }],
    ["gone", null],
  ] as const)("wait is over at once for a lock that is %s", async (_, settled) => {
    lock = settled
    await create(dayMs).wait("val", 1)
    expect(looks).toBe(1)
  })

  test("wait ends when this node settles the version, for all waiters of that version and no others", async () => {
    const lockfiles = create(dayMs)
    const over: string[] = []
    const waits = ["first", "second"].map((name) =>
      lockfiles.wait("val", 1).then(() => over.push(name)),
    )
    await untilLooked(2)
    lockfiles.note("val", 2)
    lockfiles.note("other", 1)
    await Bun.sleep(0)
    expect(over).toEqual([])
    // Still pending: it was only said too early.
    lockfiles.note("val", 1)
    await untilLooked(4)
    lock = ready
    lockfiles.note("val", 1)
    await Promise.all(waits)
    expect(over.sort()).toEqual(["first", "second"])
  })

  test("wait notices a change during its query", async () => {
    const lockfiles = createPendingLockfiles(
      {
        async find() {
          const before = lock
          lock = ready
          lockfiles.note("val", 1)
          return before
        },
      },
      () => clock.at,
      { waitMsMax: 100, pollMs: dayMs },
    )
    await lockfiles.wait("val", 1)
  })

  test("wait polls for the result of another node", async () => {
    const waiting = create(1).wait("val", 1)
    await untilLooked(3)
    lock = ready
    await waiting
  })

  test("wait gives up after its time limit", async () => {
    const waiting = create(1).wait("val", 1)
    await untilLooked(2)
    clock.at += 100
    expect(await codeOf(waiting)).toBe("packages_pending")
  })

  test("wait fails at once when nothing can happen in time", async () => {
    lock = { ...pending, retryAt: 1_101 }
    expect(await codeOf(create(dayMs).wait("val", 1))).toBe("packages_pending")
    expect(looks).toBe(1)
    lock = { ...lock, retryAt: 1_100 }
    const other = create(1).wait("val", 1)
    await untilLooked(3)
    lock = ready
    await other
  })

  test.each([
    ["before the next attempt", 1_050, "tries again in 1 s"],
    ["when the next attempt is late", 900, "is trying again"],
    ["during an attempt", null, "is trying again"],
  ])("wait fails at once with a known error %s", async (_, retryAt, next) => {
    lock = { ...pending, resolution: { imports: [failing], bundle: null }, retryAt }
    await expect(create(dayMs).wait("val", 1)).rejects.toThrow(
      `Cannot run the val: "npm:x" could not be fetched: the registry is away; the server ${next}`,
    )
    expect(looks).toBe(1)
  })

  describe("wait for the packages of some files", () => {
    const [own, other] = ["own text", "other text"]
    const placed = (text: string) => ({ ...failing, places: [{ text, start: 0, end: 1 }] })
    const resolution: Resolution = {
      imports: [placed(other)],
      bundle: "hash",
      files: [
        ["main.ts", own],
        ["page.ts", other],
      ],
    }
    const paths = new Set(["main.ts"])

    test("is over when these are there, and others have failed", async () => {
      lock = { ...pending, bundle: "hash", resolution, retryAt: 1_000_000 }
      await create(dayMs).wait("val", 1, { paths })
      expect(looks).toBe(1)
      lock = { ...lock, resolution: { imports: [], bundle: "hash", files: [], isPartial: true } }
      expect(await codeOf(create(dayMs).wait("val", 1, { paths }))).toBe("packages_pending")
    })

    test("fails with the file and the time of the next attempt when one of these has failed", async () => {
      for (const files of [resolution.files ?? [], [["main.ts", other] as const]]) {
        lock = { ...pending, bundle: "hash", resolution: { ...resolution, files }, retryAt: 8_000 }
        const error = await create(dayMs)
          .wait("val", 1, { paths: new Set(["main.ts", "page.ts"]) })
          .catch((thrown: AppError) => thrown)
        expect(error?.message).toStartWith(
          `Cannot run the val: "npm:x" in "${files.at(-1)?.[0]}" could not be fetched: `,
        )
        expect(error?.retryAfterSeconds).toBe(7)
      }
    })

    test("asks for an attempt when a release before has not stored them", async () => {
      lock = { ...pending, resolution, retryAt: 1_000_000 }
      const retried: string[] = []
      const lockfiles = createPendingLockfiles({ find }, () => clock.at, {
        waitMsMax: 100,
        pollMs: dayMs,
        async retry(...version) {
          retried.push(version.join("@"))
          lock = { ...pending, bundle: "hash", resolution }
          lockfiles.note(...version)
        },
      })
      await lockfiles.wait("val", 1, { paths })
      expect(retried).toEqual(["val@1"])
    })
  })

  test("wait rejects when the database fails", async () => {
    const lockfiles = createPendingLockfiles(
      { find: () => Promise.reject(new Error("away")) },
      () => clock.at,
      { waitMsMax: 100 },
    )
    await expect(lockfiles.wait("val", 1)).rejects.toThrow("away")
  })
})
