import { describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { type BackupHistory, type BackupSource, Backups } from "./backups.ts"

/** Pieces without end; says how many were made, and whether it was let go. */
function endless() {
  const seen = { made: 0, isLetGo: false }
  const source: BackupSource = {
    async *read() {
      try {
        for (;;) {
          seen.made += 1
          yield new Uint8Array([seen.made])
        }
      } finally {
        seen.isLetGo = true
      }
    },
  }
  return { source, seen }
}

const clock = { now: () => 5_000 }
const history: BackupHistory = { note: async () => {}, readLast: async () => undefined }

describe("Backups", () => {
  test("notes when the last byte of a backup was read, and not before", async () => {
    const noted: number[] = []
    const source: BackupSource = {
      async *read() {
        yield new Uint8Array([1])
      },
    }
    const note = async (at: number) => void noted.push(at)
    const readLast = async () => noted.at(-1)
    const backups = new Backups(source, { note, readLast }, clock)
    const left = await backups.open()
    await left.read()
    await left.stop()
    expect([noted, await backups.readAgeMs()]).toEqual([[], undefined])
    const backup = await backups.open()
    while (await backup.read());
    expect([noted, await backups.readAgeMs()]).toEqual([[5_000], 0])
  })

  test("open refuses a second backup until the first has ended", async () => {
    const { source } = endless()
    const backups = new Backups(source, history, clock)
    const first = await backups.open()
    const refusal = await backups.open().catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: "backup_running" })
    await first.stop()
    await (await backups.open()).stop()
  })

  test("open produces the first piece, then only as many as are read", async () => {
    const { source, seen } = endless()
    const backup = await new Backups(source, history, clock).open()
    expect(seen.made).toBe(1)
    expect([await backup.read(), await backup.read()]).toEqual([
      new Uint8Array([1]),
      new Uint8Array([2]),
    ])
    expect(seen.made).toBe(2)
    await backup.stop()
    expect(seen.isLetGo).toBe(true)
  })

  test("open reports why a backup is impossible, and allows the next one", async () => {
    let isBroken = true
    const source: BackupSource = {
      // biome-ignore lint/correctness/useYield: it fails before it has anything
      async *read() {
        if (isBroken) throw new Error("no")
      },
    }
    const backups = new Backups(source, history, clock)
    expect(await backups.open().catch((error: Error) => error.message)).toBe("no")
    isBroken = false
    expect(await (await backups.open()).read()).toBeUndefined()
  })

  for (const limit of ["idleMsMax", "wholeMsMax"] as const) {
    test(`disconnects a client that exceeds ${limit}`, async () => {
      const { source, seen } = endless()
      const backups = new Backups(source, history, clock, { [limit]: 5 })
      const backup = await backups.open()
      await waitUntil(() => seen.isLetGo)
      expect(await backup.read().catch((error: Error) => error.message)).toStartWith(
        "Cannot go on with the backup: ",
      )
      await (await backups.open()).stop()
    })
  }

  test("stop aborts the running backup, and refuses others", async () => {
    const { source, seen } = endless()
    const backups = new Backups(source, history, clock)
    const backup = await backups.open()
    await backups.stop()
    expect(seen.isLetGo).toBe(true)
    expect(await backup.read().catch((error: Error) => error.message)).toBe(
      "Cannot go on with the backup: the server is about to end",
    )
    expect(await backups.open().catch((error: unknown) => error)).toMatchObject({
      code: "database_unavailable",
    })
  })
})
