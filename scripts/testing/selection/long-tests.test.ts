import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "../../list-files.ts"
import { root } from "../../setup/root.mjs"
import { chooseLongTests, longTests } from "./long-tests.mjs"

const choose = (...args: string[]) => chooseLongTests(args, () => 0.5)

describe("long tests", () => {
  test("have all files that are called so", () => {
    const named = Object.values(longTests).flatMap((it) => [...it.files, ...(it.briefFiles ?? [])])
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const found = listFiles(root).filter((path) => path.endsWith(".long.ts"))
    expect([...new Set(named)].toSorted()).toEqual(found.map((path) => `./${path}`).toSorted())
  })
})

describe("chooseLongTests", () => {
  test("chooses all tests, whole, with one seed", () => {
    const { tests, isBrief, seed } = choose()
    expect(tests).toHaveLength(Object.keys(longTests).length)
    expect(isBrief).toBe(false)
    expect(new Set(tests.map(({ env }) => env.HAMLET_TEST_SEED))).toEqual(new Set([seed]))
    expect(tests[0]?.env).toEqual({ HAMLET_TEST_SEED: seed, HAMLET_FUZZ_REQUESTS: "100000" })
  })

  test("leaves how much a brief run does to the tests, and what measures out", () => {
    const { tests } = choose("--brief", "--seed", "7")
    expect(tests.map(({ env }) => env)).toEqual(tests.map(() => ({ HAMLET_TEST_SEED: "7" })))
    expect(tests.flatMap(({ files }) => files).join()).not.toContain("cluster")
  })

  test("takes names, and the options of the named tests", () => {
    const { tests } = choose("cluster", "mail", "--kills", "3", "--seed", "1")
    expect(tests.map(({ env }) => env)).toEqual([
      { HAMLET_TEST_SEED: "1", HAMLET_CHAOS_KILLS: "3", HAMLET_CHAOS_MINUTES: "10" },
      { HAMLET_TEST_SEED: "1", HAMLET_TEST_MAILS: "300", HAMLET_TEST_MAIL_KILLS: "3" },
    ])
    expect(choose("worst", "--doors", "mail,smtp").tests[0]?.env.HAMLET_WORST_DOORS).toBe(
      "mail,smtp",
    )
  })

  test.each([
    [["chaos"], 'Cannot run "chaos": the tests are fuzz, '],
    [["constructor"], 'Cannot run "constructor": the tests are fuzz, '],
    [["fuzz", "--kills", "1"], 'Cannot use "--kills": the options are --brief, --seed, --requests'],
    [["fuzz", "--requests"], 'Cannot use "--requests": it has no value'],
    [["fuzz", "--requests", "0"], 'Cannot use "--requests 0": give a whole number from 1 on'],
    [["fuzz", "--seed", "x"], 'Cannot use "--seed x": give a whole number from 1 on'],
  ])("refuses %p", (args, message) => {
    expect(() => choose(...args)).toThrow(message)
  })
})
