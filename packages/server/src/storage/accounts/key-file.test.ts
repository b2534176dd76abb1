import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { keyBytes } from "../../domain/secrets/cipher.ts"
import { loadKeyFile, readKeyFile, writeKeyFile } from "./key-file.ts"

const [one, two] = [1, 2].map((byte) => Buffer.alloc(keyBytes, byte)) as [Buffer, Buffer]

describe("key file", () => {
  let folder: string
  let path: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
    path = join(folder, "secret.key")
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  const modeOf = () => statSync(path).mode & 0o777

  test("loadKeyFile creates a random key at the first start, readable by the owner only, and reads it later", () => {
    const first = loadKeyFile(folder)

    expect(first.map((key) => key.length)).toEqual([keyBytes])
    expect(modeOf()).toBe(0o600)
    expect(readdirSync(folder)).toEqual(["secret.key"])
    expect(loadKeyFile(folder)).toEqual(first)
    expect(readKeyFile(folder)).toEqual(first)
    rmSync(path)
    expect(loadKeyFile(folder)).not.toEqual(first)
  })

  test.each([0, 0o077, 0o777])(
    "loadKeyFile makes the file readable by its owner only under umask %d",
    (umask) => {
      const before = process.umask(umask)
      try {
        loadKeyFile(folder)
      } finally {
        process.umask(before)
      }
      expect(modeOf()).toBe(0o600)
    },
  )

  test("writeKeyFile replaces the keys, in their order, and leaves nothing else behind", () => {
    writeKeyFile(folder, [one])
    chmodSync(path, 0o644)
    writeKeyFile(folder, [two, one])

    expect(readKeyFile(folder)).toEqual([two, one])
    expect(modeOf()).toBe(0o600)
    expect(readdirSync(folder)).toEqual(["secret.key"])
    expect(readFileSync(path, "utf8")).toBe(
      `${two.toString("base64")}\n${one.toString("base64")}\n`,
    )
  })

  test("writeKeyFile replaces the file, and a reader that has the old one open still reads it completely", () => {
    writeKeyFile(folder, [one])
    const before = statSync(path).ino
    writeKeyFile(folder, [two])
    expect(statSync(path).ino).not.toBe(before)
  })

  test("readKeyFile never creates a key, which would make every secret unreadable", () => {
    expect(() => readKeyFile(folder)).toThrow("ENOENT")
    expect(existsSync(path)).toBe(false)
  })

  test("loadKeyFile reads a file that was written by hand", () => {
    writeFileSync(path, `${one.toString("base64")}\r\n\n${two.toString("base64url")}`)
    expect(loadKeyFile(folder)).toEqual([one, two])
  })

  const damaged = [
    "",
    "\n",
    "short",
    `${one.toString("base64")}\nshort\n`,
    one.toString("hex"),
    Buffer.alloc(64).toString("base64"),
    "\0".repeat(44),
  ]
  test.each(damaged)(
    "loadKeyFile refuses a file with %j in one sentence, and leaves it unchanged",
    (content) => {
      writeFileSync(path, content)

      expect(() => loadKeyFile(folder)).toThrow(
        `Cannot read the key file "${path}": each line must be 32 bytes in base64`,
      )
      expect(() => readKeyFile(folder)).toThrow("each line must be 32 bytes in base64")
      expect(readFileSync(path, "utf8")).toBe(content)
    },
  )

  test("loadKeyFile fails for a missing folder", () => {
    expect(() => loadKeyFile(join(folder, "missing"))).toThrow(
      /^Cannot read the key file ".*": ENOENT/,
    )
  })
})
