import { describe, expect, test } from "bun:test"
import { appendLines, emptyLog, type LiveLine, type LiveLog, mergeLines } from "./live-log.ts"

const line = (message: string, second = 0, runId = "a"): LiveLine => ({
  at: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`,
  level: "log",
  message,
  runId,
  val: { username: "ada", name: "hello" },
})
const texts = ({ lines }: LiveLog) => lines.map(({ message }) => message)

describe("appendLines", () => {
  test("keeps equal lines, and sorts late ones in", () => {
    const log = appendLines(emptyLog, [line("a", 1), line("a", 1), line("c", 3)])
    expect(texts(appendLines(log, [line("b", 2)]))).toEqual(["a", "a", "b", "c"])
  })

  test("keeps the last lines, by their number and by their length", () => {
    const lines = ["a", "bb", "ccc"].map((text, index) => line(text, index))
    const few = appendLines(emptyLog, lines, { linesMax: 2, charsMax: 100 })
    expect([texts(few), few.total]).toEqual([["bb", "ccc"], 3])
    const short = appendLines(emptyLog, lines, { linesMax: 10, charsMax: 5 })
    expect(texts(short)).toEqual(["bb", "ccc"])
    const none = appendLines(emptyLog, [line("longer than that")], { linesMax: 10, charsMax: 5 })
    expect(texts(none)).toEqual([])
  })
})

describe("mergeLines", () => {
  test("adds what is missing, once, however often the same list arrives", () => {
    const list = [line("a", 1), line("a", 1), line("b", 2), line("b", 2, "other run")]
    const streamed = appendLines(emptyLog, [line("a", 1), line("c", 3)])
    const merged = mergeLines(streamed, list)
    expect(texts(merged)).toEqual(["a", "a", "b", "b", "c"])
    expect(texts(mergeLines(merged, list))).toEqual(["a", "a", "b", "b", "c"])
  })

  test("does not add lines again that are not kept any more", () => {
    const limits = { linesMax: 2, charsMax: 100 }
    const list = [line("a", 1), line("b", 2), line("c", 3)]
    const log = appendLines(emptyLog, list, limits)
    expect(mergeLines(log, list, limits)).toMatchObject({ lines: log.lines, total: 3 })
  })

  test("leaves out a line that arrives over the stream after it was listed", () => {
    const listed = mergeLines(emptyLog, [line("a", 1), line("b", 2)])
    const after = appendLines(listed, [line("b", 2), line("c", 3)])
    expect(texts(after)).toEqual(["a", "b", "c"])
    expect(texts(appendLines(after, [line("b", 2)]))).toEqual(["a", "b", "b", "c"])
  })
})
