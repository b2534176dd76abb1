import { describe, expect, test } from "bun:test"
import type { RunSample } from "../stats/stats.ts"
import { findTimePage, type TimePageRequest, type TimePageRules, toNanos } from "./time-pages.ts"

const rules: TimePageRules = { spanMs: 50, unit: 1_000_000n, runsMax: 10_000, itemsMax: 1_000 }

interface Scene {
  readonly runs: readonly RunSample[]
  /** Runs of a batch. */
  readonly batch: number
  readonly rules?: Partial<TimePageRules>
}

function toRun(index: number, startedAt: number, endedAt: number | null): RunSample {
  const id = String(index).padStart(4, "0")
  const place = { valId: "v", fileId: "v", branchId: "v", ownerId: "o" }
  return { id, ...place, status: "succeeded", startedAt, endedAt }
}

/** Runs that start within 200 ms and take up to 50, without chance. */
const runs = Array.from({ length: 120 }, (_, index) => {
  const startedAt = (index * 37) % 200
  return toRun(index, startedAt, index % 9 === 0 ? null : startedAt + ((index * 29) % 51))
})

async function find(scene: Scene, request: TimePageRequest) {
  const { items, next } = await findTimePage(
    request,
    { ...rules, ...scene.rules },
    async function* (since, until, direction) {
      const sign = direction === "asc" ? 1 : -1
      const found = scene.runs
        .filter(({ startedAt }) => startedAt > since && startedAt <= until)
        .toSorted((a, b) => sign * (a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1)))
      for (let from = 0; from <= found.length; from += scene.batch)
        yield found.slice(from, from + scene.batch)
    },
    async (batch) =>
      batch.flatMap(({ id, endedAt }) =>
        endedAt === null ? [] : [{ at: toNanos(endedAt), key: id }],
      ),
  )
  return { ids: items.map(({ key }) => key), times: items.map(({ at }) => at), next }
}

/** All items, page by page. */
async function findAll(scene: Scene, request: TimePageRequest) {
  const ids: string[] = []
  const sizes: number[] = []
  for (let page = request; ; ) {
    const found = await find(scene, page)
    ids.push(...found.ids)
    sizes.push(found.ids.length)
    if (found.next === undefined) return { ids, sizes }
    page = { ...page, [request.direction === "asc" ? "start" : "end"]: found.next }
  }
}

function inOrder(direction: "asc" | "desc", keep: (endedAt: number) => boolean = () => true) {
  const sign = direction === "asc" ? 1 : -1
  return runs
    .filter(({ endedAt }) => endedAt !== null && keep(endedAt))
    .toSorted((a, b) => sign * ((a.endedAt ?? 0) - (b.endedAt ?? 0) || (a.id < b.id ? -1 : 1)))
    .map(({ id }) => id)
}

describe("findTimePage", () => {
  for (const direction of ["asc", "desc"] as const)
    for (const batch of [1, 7, 1_000])
      for (const limit of [1, 5, 100])
        test(`shows each item once, ${direction} in pages of ${limit}, read by ${batch}`, async () => {
          const { ids } = await findAll({ runs, batch }, { direction, limit })
          expect(ids).toEqual(inOrder(direction))
        })

  test("excludes both ends of the window", async () => {
    for (const direction of ["asc", "desc"] as const) {
      const window = { direction, limit: 100, start: toNanos(60), end: toNanos(90) }
      const { ids } = await find({ runs, batch: 10 }, window)
      expect(ids).toEqual(inOrder(direction, (at) => at > 60 && at < 90))
    }
  })

  test("does not end a page within a millisecond, up to the maximum of items", async () => {
    const same = Array.from({ length: 8 }, (_, index) => toRun(index, index, 20))
    const scene = { runs: [...same, toRun(8, 9, 21)], batch: 3 }
    expect(await find(scene, { direction: "asc", limit: 2 })).toMatchObject({
      ids: same.map(({ id }) => id),
      next: toNanos(20),
    })
    const { ids } = await find({ ...scene, rules: { itemsMax: 3 } }, { direction: "asc", limit: 2 })
    expect(ids).toHaveLength(3)
  })

  test("has a next page in ascending order unless the page is empty", async () => {
    const scene = { runs: [toRun(0, 1, 2)], batch: 10 }
    expect(await find(scene, { direction: "asc", limit: 5 })).toMatchObject({ next: toNanos(2) })
    const behind = { direction: "asc", limit: 5, start: toNanos(2) } as const
    expect(await find(scene, behind)).toEqual({ ids: [], times: [], next: undefined })
    expect(await find(scene, { direction: "desc", limit: 5 })).toMatchObject({ next: undefined })
  })

  test("reads on behind many runs that are not shown", async () => {
    const open = Array.from({ length: 50 }, (_, index) => toRun(index, 100 + index, null))
    const scene = {
      runs: [toRun(90, 1, 2), ...open, toRun(91, 300, 301)],
      batch: 4,
      rules: { runsMax: 8 },
    }
    for (const direction of ["asc", "desc"] as const) {
      const { ids, sizes } = await findAll(scene, { direction, limit: 1 })
      expect(ids.toSorted()).toEqual(["0090", "0091"])
      expect(sizes).toContain(0)
    }
  })
})
