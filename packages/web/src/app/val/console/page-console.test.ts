import { describe, expect, test } from "bun:test"
import { type PageEntry, toPageMessage } from "../../../page-console/page-message.ts"
import { PageConsole } from "./page-console.ts"

const line = (text: string, level: "log" | "error" = "log"): PageEntry => ({
  kind: "line",
  level,
  text,
  source: "",
})
const message = (...entries: readonly PageEntry[]) => ({ data: toPageMessage(entries) })

/** Waits until the console shows what it has received. */
async function show(console: PageConsole): Promise<readonly string[]> {
  const before = console.lines.peek()
  while (console.lines.peek() === before) await Bun.sleep(5)
  return console.lines.peek().map((it) => it.message)
}

describe("PageConsole", () => {
  test("keeps the last lines over pages, and counts the errors of the last page", async () => {
    const console = new PageConsole()
    console.receive(message(line("a", "error"), line("b")))
    expect(await show(console)).toEqual(["a", "b"])
    expect(console.errorCount.peek()).toBe(1)
    console.receive(
      message({ kind: "page", path: "/x\ny" }, line("c", "error"), line("d", "error")),
    )
    expect(await show(console)).toEqual(["a", "b", "── Page loaded: /x y ──", "c", "d"])
    expect(console.errorCount.peek()).toBe(2)
    for (let count = 0; count < 10; count++)
      console.receive(message(...Array.from({ length: 150 }, (_, at) => line(`${count} ${at}`))))
    const shown = await show(console)
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([500, "6 100", "9 149"])
    console.clear()
    expect([console.lines.peek(), console.errorCount.peek()]).toEqual([[], 0])
  })

  test("reads no content beyond its share of the time, and says so once", async () => {
    let nowMs = 0
    let reads = 0
    const console = new PageConsole(() => nowMs)
    /** A message that takes so long to unpack. */
    const slow = (ms: number) => ({
      get data() {
        reads += 1
        nowMs += ms
        return toPageMessage([line("slow")])
      },
    })
    // However large the first one is, the next ones wait for it.
    console.receive(slow(2_000))
    for (let count = 0; count < 100; count++) console.receive(slow(2_000))
    expect(reads).toBe(1)
    const flooded = "… more lines left out: the page sends too many messages"
    expect(await show(console)).toEqual(["slow", flooded])
    nowMs += 20_000
    console.receive(slow(1))
    expect(await show(console)).toEqual(["slow", flooded, "slow"])
    // Small messages, of which each takes less than a clock can tell.
    reads = 0
    for (let count = 0; count < 100_000; count++) console.receive(slow(0))
    expect(reads).toBeLessThan(20_000)
    console.stop()
  })

  test("is silent if a page was loaded without the script", async () => {
    const console = new PageConsole()
    const wait = async (isSilent: boolean) => {
      while (console.isSilent.peek() !== isSilent) await Bun.sleep(5)
    }
    console.pageLoaded()
    await wait(true)
    console.receive(message({ kind: "page", path: "/" }))
    expect(console.isSilent.peek()).toBe(false)
    console.pageLoaded()
    expect(console.isSilent.peek()).toBe(false)
    console.pageLoaded()
    await wait(true)
    console.stop()
  })
})
