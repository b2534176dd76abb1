import { afterAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { zipSync } from "fflate"
import { CliError } from "../cli-error.ts"
import { archiveLimits } from "./archive-limits.ts"
import { openZip } from "./zip-reader.ts"
import { createZipWriter } from "./zip-writer.ts"

const folder = mkdtempSync(join(tmpdir(), "hamlet-zip-"))
const path = join(folder, "x.zip")
afterAll(() => rmSync(folder, { recursive: true }))

/** The content of an archive, or the message with which it is refused. Other errors are bugs. */
async function readAll(bytes: Uint8Array): Promise<Record<string, string> | string> {
  writeFileSync(path, bytes)
  try {
    const zip = await openZip(path)
    try {
      const contents: [string, string][] = []
      for (const name of zip.paths)
        contents.push([name, Buffer.from(await zip.read(name)).toString("hex")])
      return Object.fromEntries(contents)
    } finally {
      await zip.close()
    }
  } catch (error) {
    if (error instanceof CliError) return error.message
    throw error
  }
}

async function writeAll(
  entries: readonly (readonly [path: string, content: Uint8Array])[],
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  const zip = createZipWriter({ write: async (bytes) => void chunks.push(bytes) })
  for (const [path, content] of entries) await zip.add(path, content)
  await zip.end()
  expect(zip.bytes).toBe(Buffer.concat(chunks).length)
  return Buffer.concat(chunks)
}

const sample = zipSync({
  "vals/a.json": Buffer.from('{"name":"a"}'.repeat(20)),
  "b.txt": [Buffer.from("stored"), { level: 0 }],
})
const pathOf = fc.stringMatching(/^[a-zé中]{1,10}(\/[a-z]{1,5})?\.json$/u)

describe("openZip", () => {
  test("reads what createZipWriter writes, byte for byte", async () => {
    const entries = fc.uniqueArray(fc.tuple(pathOf, fc.uint8Array({ maxLength: 5000 })), {
      selector: ([path]) => path,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(entries, async (entries) => {
        const expected = Object.fromEntries(
          entries.map(([path, content]) => [path, Buffer.from(content).toString("hex")]),
        )
        expect(await readAll(await writeAll(entries))).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  test("reads stored and deflated entries, and an archive with a comment", async () => {
    const expected = {
      "vals/a.json": Buffer.from('{"name":"a"}'.repeat(20)).toString("hex"),
      "b.txt": Buffer.from("stored").toString("hex"),
    }
    expect(await readAll(sample)).toEqual(expected)
    const commented = Buffer.concat([sample, Buffer.from("PK\x05\x06")])
    commented.writeUInt16LE(4, sample.length - 2)
    expect(await readAll(commented)).toEqual(expected)
  })

  test("gives the original content of a damaged archive, or refuses it", async () => {
    const good = (await readAll(sample)) as Record<string, string>
    const damage = fc.array(fc.tuple(fc.nat(sample.length - 1), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(damage, fc.option(fc.nat(sample.length)), async (changes, end) => {
        const bytes = Buffer.from(sample)
        for (const [at, value] of changes) bytes[at] = value
        const read = await readAll(end === null ? bytes : bytes.subarray(0, end))
        if (typeof read === "string") expect(read).toStartWith("Cannot read ")
        // The checksum covers the content, not the name.
        else
          for (const content of Object.values(read))
            expect([...Object.values(good), ""]).toContain(content)
      }),
      { numRuns: 2000 },
    )
  })

  test("refuses bytes that are not an archive", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect(await readAll(bytes)).toMatch(/^Cannot read ".+": it is not a zip file/)
      }),
      { numRuns: 200 },
    )
  })

  test("refuses and names entries that point outside the archive, or occur twice", async () => {
    for (const name of [
      "../x.json",
      "a/../../x",
      "/etc/passwd",
      "C:\\x",
      "a\\..\\b",
      "\\\\host\\x",
      "a\0b",
    ])
      expect(await readAll(zipSync({ [name]: new Uint8Array(1) }))).toBe(
        `Cannot read "${path}": its entry "${name}" points outside the archive`,
      )
    const twice = Buffer.from(zipSync({ "a.json": new Uint8Array(1), "b.json": new Uint8Array(2) }))
    twice.write("a.json", twice.lastIndexOf("b.json"))
    expect(await readAll(twice)).toContain('it contains "a.json" twice')
  })

  test("refuses entries that unpack to more than they declare, or than the limit", async () => {
    const bomb = Buffer.from(zipSync({ "bomb.json": new Uint8Array(5_000_000) }))
    const entry = bomb.indexOf("PK\x01\x02")
    const bombOf = async (bytes: number) => {
      const changed = Buffer.from(bomb)
      changed.writeUInt32LE(bytes, entry + 24)
      return await readAll(changed)
    }
    for (const bytes of [0, 1, 1000, 4_999_999, 5_000_001])
      expect(await bombOf(bytes)).toBe(`Cannot read "bomb.json" in "${path}": it is damaged`)
    expect(await bombOf(archiveLimits.entryBytesMax + 1)).toContain(
      `larger than ${archiveLimits.entryBytesMax} bytes`,
    )
    const many = zipSync(
      Object.fromEntries(
        Array.from({ length: 5 }, (_, index) => [`${index}.json`, new Uint8Array(1)]),
      ),
    )
    const huge = Buffer.from(many)
    for (let at = huge.indexOf("PK\x01\x02"); at !== -1; at = huge.indexOf("PK\x01\x02", at + 1))
      huge.writeUInt32LE(0xfffffffe, at + 24)
    expect(await readAll(huge)).toContain(
      `larger than ${archiveLimits.unpackedBytesMax} bytes unpacked`,
    )
  })

  test("refuses encrypted entries, other compression methods, parts and too many entries", async () => {
    const change = async (signature: string, offset: number, value: number) => {
      const bytes = Buffer.from(sample)
      bytes.writeUInt16LE(value, bytes.indexOf(signature) + offset)
      return await readAll(bytes)
    }
    expect(await change("PK\x01\x02", 8, 1)).toBe(
      `Cannot read "vals/a.json" in "${path}": it is encrypted`,
    )
    expect(await change("PK\x01\x02", 10, 14)).toBe(
      `Cannot read "vals/a.json" in "${path}": it is compressed in another way than deflate`,
    )
    expect(await change("PK\x05\x06", 4, 1)).toContain("it is one part of several")
    expect(await change("PK\x05\x06", 10, 0xffff)).toContain("zip64")
    const names = Array.from({ length: archiveLimits.entriesMax + 1 }, (_, index) => String(index))
    const many = zipSync(Object.fromEntries(names.map((name) => [name, new Uint8Array(0)])))
    expect(await readAll(many)).toContain(`more than ${archiveLimits.entriesMax} entries`)
  })
})
