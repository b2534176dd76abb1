import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import {
  BackupDamaged,
  type BackupHeader,
  backupMark,
  createBackupChecker,
  frameKinds,
  parseHead,
  toHeadBytes,
} from "./backup.ts"

const sections = [
  { name: "users", items: 3 },
  { name: "vals", items: 0 },
]
const header: BackupHeader = {
  format: 1,
  schemaVersion: 3,
  serverVersion: "1.2.3",
  createdAt: "2026-01-01T00:00:00.000Z",
  items: 3,
  sections,
  migrations: [{ version: 1, appliedAt: 5 }],
}

describe("createBackupChecker", () => {
  test("accepts a valid file in chunks of any length, and reports progress", () => {
    const bytes = make()
    for (const length of [1, 7, 16, bytes.length]) {
      const checker = createBackupChecker()
      // One buffer for all reads, as a reader of a file may use.
      const piece = Buffer.alloc(length)
      for (let at = 0; at < bytes.length; at += length) {
        const read = piece.subarray(0, bytes.copy(piece, 0, at))
        checker.add(read)
        read.fill(0)
      }
      expect(checker.end()).toMatchObject({
        header,
        trailer: { items: 3, missing: [] },
        bytes: bytes.length,
      })
      expect([checker.items, checker.bytes]).toEqual([3, bytes.length])
    }
  })

  test("throws when any byte is changed, missing or added", () => {
    const bytes = make()
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      expect([at, check(damaged)]).toEqual([at, expect.stringMatching(/./)])
      expect([at, check(bytes.subarray(0, at))]).toEqual([at, expect.stringMatching(/./)])
    }
    expect(check(Buffer.concat([bytes, Buffer.alloc(1)]))).toBe("it continues after its end")
  })

  test("throws when the hashes are right but the content is invalid", () => {
    expect(check(make({ header: { ...header, format: 2 } }))).toBe(
      "it has format 2, and this version of Hamlet supports format 1",
    )
    expect(check(make({ header: { ...header, sections: "all" } }))).toBe("its header is not valid")
    expect(check(make({ header: { ...header, migrations: [{}] } }))).toBe("its header is not valid")
    expect(check(make({ header: null }))).toBe("it contains invalid JSON")
    expect(check(make({ section: 2 }))).toBe("it contains an invalid frame")
    expect(check(make({ items: 4 }))).toBe("its content does not match its trailer")
    expect(check(make({ missing: 7 }))).toBe("its trailer is not valid")
  })
})

describe("parseHead", () => {
  test("decodes what toHeadBytes encodes, and refuses values beyond the limits", () => {
    const head = {
      kind: frameKinds.data,
      section: 9,
      items: 4_000_000_000,
      storedBytes: 5,
      rawBytes: 67_108_864,
    }
    expect(parseHead(toHeadBytes(head))).toEqual(head)
    for (const wrong of [
      { kind: 0 },
      { kind: 4 },
      { rawBytes: 67_108_865 },
      { storedBytes: 67_108_865 },
      { kind: 1 },
    ])
      expect(() => parseHead(toHeadBytes({ ...head, ...wrong }))).toThrow(BackupDamaged)
  })
})

function check(bytes: Uint8Array): string {
  const checker = createBackupChecker()
  try {
    checker.add(bytes)
    checker.end()
    return ""
  } catch (error) {
    if (error instanceof BackupDamaged) return error.message
    throw error
  }
}

interface Wrong {
  readonly header?: unknown
  readonly section?: number
  readonly items?: number
  readonly missing?: unknown
}

/** A file with one data frame and correct hashes, even if the rest is wrong. */
function make({ header: said = header, section = 0, items = 3, missing = [] }: Wrong = {}): Buffer {
  const data = Buffer.concat([
    toHeadBytes({ kind: frameKinds.data, section, items: 3, storedBytes: 5, rawBytes: 9 }),
    Buffer.from("bytes"),
  ])
  const none = { items: 0, frames: 0, bytes: 0, sha256: sha256(Buffer.alloc(0)).toString("hex") }
  const one = { items, frames: 1, bytes: data.length, sha256: sha256(data).toString("hex") }
  const trailer = {
    items,
    sections: [
      { name: "users", ...one },
      { name: "vals", ...none },
    ],
    missing,
  }
  const all = Buffer.concat([
    Buffer.from(backupMark),
    toJsonFrame(frameKinds.header, said),
    data,
    toJsonFrame(frameKinds.trailer, trailer),
  ])
  return Buffer.concat([all, sha256(all)])
}

function toJsonFrame(kind: number, value: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(value))
  return Buffer.concat([
    toHeadBytes({ kind, section: 0, items: 0, storedBytes: json.length, rawBytes: json.length }),
    json,
  ])
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest()
}
