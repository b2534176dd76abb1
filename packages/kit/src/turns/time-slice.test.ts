import { expect, test } from "bun:test"
import { createTimeSlice, mapInSlices } from "./time-slice.ts"

/** Blocks the thread for that long. */
function work(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

const sliceMsMax = 2

/** Works in `count` parts of a whole slice each, and notes its name before each. */
async function workInSlices(name: string, notes: string[], count = 3): Promise<void> {
  const pace = createTimeSlice({ sliceMsMax })
  for (let part = 0; part < count; part++) {
    notes.push(name)
    work(sliceMsMax)
    await pace()
  }
}

/** Notes each turn of the event loop until it is told to stop. */
function noteTurns(notes: string[]): () => void {
  let isOn = true
  const note = () => {
    if (!isOn) return
    notes.push("|")
    setImmediate(note)
  }
  setImmediate(note)
  return () => {
    isOn = false
  }
}

test("createTimeSlice lets the event loop turn after each slice of all work together", async () => {
  const notes: string[] = []
  const stop = noteTurns(notes)
  const all = ["a", "b", "c"].map((name) => workInSlices(name, notes))
  await Promise.all(all)
  stop()
  const turns = notes.join("").split("|")
  // All three begin at once, and their first checks find the slice used up.
  expect(turns.slice(1).filter((turn) => turn.length > 1)).toEqual([])
  expect(notes.filter((note) => note !== "|")).toEqual([..."abcabcabc"])
})

test("createTimeSlice does not wait before the slice is used up", async () => {
  const pace = createTimeSlice({ sliceMsMax: 60_000 })
  expect(pace()).toBeUndefined()
  work(1)
  expect(pace()).toBeUndefined()
})

test("createTimeSlice rejects with the reason of a signal that has aborted", async () => {
  // The slice is that of all work in this turn.
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  const abort = new AbortController()
  // The turn of the test before this one has ended.
  await new Promise((resolve) => setImmediate(resolve))
  const pace = createTimeSlice({ sliceMsMax, signal: abort.signal })
  expect(pace()).toBeUndefined()
  work(sliceMsMax)
  const waiting = pace()?.catch(String)
  abort.abort(new Error("gone"))
  expect(await waiting).toBe("Error: gone")
})

test("mapInSlices maps all items in order, over several turns", async () => {
  const notes: string[] = []
  const stop = noteTurns(notes)
  const items = Array.from({ length: 20 }, (_, index) => index)
  const mapped = await mapInSlices(items, (item, index) => {
    work(sliceMsMax)
    return item * 100 + index
  })
  stop()
  expect(mapped).toEqual(items.map((item) => item * 101))
  expect(notes.length).toBeGreaterThan(2)
})

test("mapInSlices rejects with what the function throws", async () => {
  const failed = await mapInSlices([1], () => {
    throw new Error("wrong")
  }).catch(String)
  expect(failed).toBe("Error: wrong")
})

test("createTimeSlice gives owners turns, and every second turn to work that is first", async () => {
  const notes: string[] = []
  const workFor = async (name: string, options: { owner?: string; isFirst?: boolean }) => {
    const pace = createTimeSlice({ sliceMsMax, ...options })
    for (let part = 0; part < 3; part++) {
      work(sliceMsMax)
      await pace()
      notes.push(name)
    }
  }
  await Promise.all([
    ...["a", "a", "a"].map((name) => workFor(name, { owner: "ada" })),
    workFor("b", { owner: "bob" }),
    workFor("w", { isFirst: true }),
  ])
  const text = notes.join("")
  // Bob waits for one part of Ada's, not for three, and the writer for one of either.
  expect(text.slice(0, 9).replaceAll("w", "")).toBe("ababab")
  expect(text).toMatch(/^(?:w[ab]|[ab]w){3}/)
})
