import { afterAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sandboxLimits } from "../sandbox-limits.ts"
import { ControlChannel, type ControlListener, readUnsent } from "./control-channel.ts"
import { ControlScheduler } from "./control-scheduler.ts"

const folder = mkdtempSync(join(tmpdir(), "unsent-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const toLine = (message: string) =>
  `{"kind":"log","run":"one","at":1,"level":"log","message":${JSON.stringify(message)}}\n`

/** The messages of a channel that has read a file, or several. */
async function receive(...files: readonly string[]): Promise<readonly string[]> {
  const received: string[] = []
  const scheduler = new ControlScheduler()
  const listener: ControlListener = {
    onMessage: (message) =>
      void received.push(message.kind === "log" ? message.message : message.kind),
    onViolation: (message) => void received.push(`violation: ${message}`),
  }
  const path = join(folder, `${crypto.randomUUID().slice(0, 8)}.sock`)
  const channel = new ControlChannel(path, sandboxLimits, listener, scheduler)
  for (const file of files) {
    writeFileSync(`${path}-unsent`, file)
    await channel.receiveUnsent(`${path}-unsent`)
  }
  channel.stop()
  scheduler.stop()
  return received
}

describe("receiveUnsent", () => {
  const [a, b, c] = [toLine("a"), toLine("b"), toLine("c")]
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["processes the messages in their order", [`1\n${a}${b}${c}`], ["a", "b", "c"]],
    ["skips those that have arrived", [`1\n${a}${b}`, `2\n${b}${c}`], ["a", "b", "c"]],
    ["ignores a line without an end", [`1\n${a}{"kind":"log"`], ["a"]],
    ["stops at a line that is no message", [`1\n${a}nonsense\n${b}`], ["a"]],
    ["stops at an empty line", [`1\n${a}${"\n".repeat(1_000)}${b}`], ["a"]],
    ["ignores an empty file", [""], []],
    ...["zero", "0", "-1", "1.5", "1e99", ""].map(
      (number) => [`ignores a file that begins with "${number}"`, [`${number}\n${a}`], []] as const,
    ),
  ]
  for (const [title, files, expected] of cases)
    test(title, async () => expect(await receive(...files)).toEqual([...expected]))
})

describe("readUnsent", () => {
  test("reads no more than the limit", async () => {
    const path = join(folder, "long")
    writeFileSync(path, "0123456789")
    expect((await readUnsent(path, 4)).toString()).toBe("0123")
    expect((await readUnsent(path, 40)).toString()).toBe("0123456789")
  })

  test("reads nothing else in place of the file", async () => {
    writeFileSync(join(folder, "secret"), "secret")
    symlinkSync(join(folder, "secret"), join(folder, "link"))
    mkdirSync(join(folder, "folder"))
    for (const name of ["link", "folder", "missing"])
      expect((await readUnsent(join(folder, name), 100)).toString()).toBe("")
  })
})
