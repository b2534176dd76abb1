import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createResolveRecords, joinTexts, readPrivateDomains } from "./resolve-records.ts"

describe("createResolveRecords", () => {
  test("asks once for concurrent callers, and for each type", async () => {
    const asked: string[] = []
    const resolve = createResolveRecords(async (type, name) => {
      asked.push(`${type} ${name}`)
      return [name]
    })
    const found = await Promise.all([
      resolve("NS", "a.example", "ada"),
      resolve("NS", "a.example", "bob"),
      resolve("PTR", "a.example", "ada"),
    ])
    expect(found).toEqual([["a.example"], ["a.example"], ["a.example"]])
    expect(asked).toEqual(["NS a.example", "PTR a.example"])
  })

  test("limits the lookups of one owner", async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>()
    const resolve = createResolveRecords(async (_, name) => {
      await promise
      return [name]
    })
    const ask = (owner: string) => (_: unknown, index: number) =>
      resolve("NS", `${owner}${index}.example`, owner)
    const pending = Array.from({ length: 32 }, ask("ada"))
    const refusal = await resolve("NS", "one.more.example", "ada").catch(String)
    expect(refusal).toContain("too many other names are being looked up")
    pending.push(resolve("NS", "b.example", "bob"))
    end()
    expect(await Promise.all(pending)).toHaveLength(33)
  })

  test("refuses names with very many records, and those with none", async () => {
    const resolve = createResolveRecords(async (type) =>
      type === "NS" ? [] : Array.from({ length: 101 }, () => ["x"]),
    )
    expect(resolve("NS", "a.example", "ada")).rejects.toThrow("has no such records")
    expect(resolve("TXT", "a.example", "ada")).rejects.toThrow("has too many records")
  })
})

describe("joinTexts", () => {
  test("joins the strings of a long text", () => {
    const full = "x".repeat(255)
    expect(joinTexts([["a"], [full], [full], ["rest"], ["b"]])).toEqual([
      ["a"],
      [full, full, "rest"],
      ["b"],
    ])
    expect(joinTexts([["a", "b"], ["c"]])).toEqual([["a", "b"], ["c"]])
  })

  test("counts bytes", () => {
    const full = `${"ä".repeat(127)}x`
    expect(joinTexts([[full], ["rest"]])).toEqual([[full, "rest"]])
  })
})

describe("readPrivateDomains", () => {
  test("reads the domains in which a machine searches", () => {
    const folder = mkdtempSync(join(tmpdir(), "hamlet-resolv-"))
    try {
      const path = join(folder, "resolv.conf")
      writeFileSync(
        path,
        "# search no.example\nnameserver 1.1.1.1\nsearch Corp.example. svc.cluster.local .\n domain\tlan.example\n",
      )
      expect(readPrivateDomains(path)).toEqual(["corp.example", "svc.cluster.local", "lan.example"])
      expect(readPrivateDomains(join(folder, "missing"))).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
