import { describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { type ControlReader, ControlScheduler } from "./control-scheduler.ts"

/** A channel with that many messages. */
class Talker implements ControlReader {
  left: number
  readonly heard: string[]
  readonly name: string
  isLimited = false
  asked = 0

  constructor(name: string, left: number, heard: string[]) {
    this.name = name
    this.left = left
    this.heard = heard
  }

  readMore(messagesMax: number): "done" | "more" | "limited" {
    this.asked++
    if (this.isLimited) return "limited"
    this.heard.push(this.name)
    this.left -= Math.min(this.left, messagesMax)
    return this.left === 0 ? "done" : "more"
  }
}

describe("ControlScheduler", () => {
  test("reads all channels in turns", async () => {
    const turns = new ControlScheduler()
    const heard: string[] = []
    const [loud, quiet] = [new Talker("loud", 1_000, heard), new Talker("quiet", 10, heard)]
    turns.add(loud)
    turns.add(quiet)
    await waitUntil(() => loud.left === 0)
    expect(heard.slice(0, 3)).toEqual(["loud", "quiet", "loud"])
    expect(quiet.left).toBe(0)
    turns.stop()
  })

  test("retries later where a limit is reached", async () => {
    const turns = new ControlScheduler()
    const heard: string[] = []
    const limited = new Talker("limited", 10, heard)
    limited.isLimited = true
    turns.add(limited)
    await waitUntil(() => limited.asked > 1)
    limited.isLimited = false
    await waitUntil(() => limited.left === 0)
    turns.stop()
  })

  test("does not read a deleted channel", async () => {
    const turns = new ControlScheduler()
    const heard: string[] = []
    const [gone, here] = [new Talker("gone", 10, heard), new Talker("here", 10, heard)]
    turns.add(gone)
    turns.add(here)
    turns.delete(gone)
    await waitUntil(() => here.left === 0)
    expect(heard).toEqual(["here"])
    turns.stop()
  })

  test("defers what exceeds the window", () => {
    let nowMs = 0
    const turns = new ControlScheduler(() => nowMs)
    const allowed: number[] = []
    const hear = (workMs: number) =>
      turns.read((messagesMax) => {
        allowed.push(messagesMax)
        nowMs += workMs
      })
    hear(0.9)
    hear(0.2)
    hear(0)
    expect(allowed.map((messages) => messages > 0)).toEqual([true, true, false])
    nowMs += 5
    hear(0)
    expect(allowed.at(-1)).toBeGreaterThan(0)
  })
})
