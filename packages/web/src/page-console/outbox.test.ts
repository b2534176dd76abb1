import { describe, expect, test } from "bun:test"
import { Outbox } from "./outbox.ts"
import { type PageEntry, pageLimits, parsePageMessage } from "./page-message.ts"

function open() {
  const sent: (readonly PageEntry[])[] = []
  const waiting: (() => void)[] = []
  const clock = { ms: 0 }
  const outbox = new Outbox(
    (message) => {
      expect(message.length).toBeLessThanOrEqual(pageLimits.messageCharsMax)
      sent.push(parsePageMessage(message) ?? [])
    },
    () => clock.ms,
    (callback) => waiting.push(callback),
  )
  const passMs = (ms: number) => {
    clock.ms += ms
    for (const callback of waiting.splice(0)) callback()
  }
  return { outbox, sent, passMs }
}

const line = (text: string): PageEntry => ({ kind: "line", level: "log", text, source: "" })

describe("Outbox", () => {
  test("sends the first entry at once, and the next ones together", () => {
    const { outbox, sent, passMs } = open()
    for (const text of ["a", "b", "c"]) outbox.add(false, () => line(text))
    expect(sent).toEqual([[line("a")]])
    passMs(100)
    expect(sent).toEqual([[line("a")], [line("b"), line("c")]])
    outbox.add(false, () => line("d"))
    outbox.flush()
    expect(sent.at(-1)).toEqual([line("d")])
  })

  test("makes and sends a limited number of entries per second, and counts the others", () => {
    const { outbox, sent, passMs } = open()
    let made = 0
    for (let count = 0; count < 100_000; count++)
      outbox.add(false, () => {
        made += 1
        return line("x")
      })
    outbox.add(true, () => line("an error"))
    passMs(100)
    expect(made).toBe(100)
    expect(sent.flat().slice(-2)).toEqual([line("an error"), { kind: "omitted", count: 99_900 }])
    passMs(1_000)
    outbox.add(false, () => line("later"))
    expect(sent.at(-1)).toEqual([line("later")])
  })

  test("keeps messages of the largest texts below the limit", () => {
    const { outbox, sent, passMs } = open()
    const text = "\u0000".repeat(pageLimits.textCharsMax)
    for (let count = 0; count < 100; count++) outbox.add(true, () => line(text))
    passMs(100)
    expect(sent.at(-1)?.at(-1)).toMatchObject({ kind: "omitted" })
  })
})
