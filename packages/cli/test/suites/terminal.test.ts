import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { useStage } from "../support/shared-stage.ts"
import type { Person } from "../support/stage.ts"

/** What a person sees, line by line. */
async function see(
  person: Person,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  await using started = person.atTerminal(args, { env })
  const { exit, stdout } = await started.ended()
  return {
    exit,
    raw: stdout,
    lines: Bun.stripANSI(stdout).replaceAll("\r", "").trimEnd().split("\n"),
  }
}

describe("at a terminal", () => {
  const stage = useStage()

  test("lists are aligned tables with headings, within the width of the terminal", async () => {
    const ada = await stage().person("table1")
    const long = "a".repeat(48)
    for (const name of ["one", long])
      await ada.client.createVal({ name, code: "1", privacy: "public" })
    const { exit, lines, raw } = await see(ada, ["val", "list"])
    expect(exit).toBe(0)
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ["VAL", "VERSION", "TYPE", "PRIVACY", "LIKES", "UPDATED"],
      [
        `table1/${long}`.slice(0, 51) +
          (lines[1]?.includes("…") ? "…" : `table1/${long}`.slice(51)),
        "1",
        "script",
        "public",
        "0",
        "just now",
      ],
      ["table1/one", "1", "script", "public", "0", "just now"],
    ])
    expect(new Set(lines.map((line) => line.search(/VERSION|\b1\b/))).size).toBe(1)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(raw).toContain("\x1b[1m")
    expect((await see(await stage().person("table2"), ["val", "list"])).lines).toEqual([
      'No vals; create one with "hamlet val new"',
    ])
  })

  test("NO_COLOR, --no-color and TERM=dumb turn colours off, also in help", async () => {
    const ada = await stage().person("colour1")
    await ada.client.createVal({ name: "hello", code: "1" })
    const plain = [
      see(ada, ["val", "list"], { NO_COLOR: "1" }),
      see(ada, ["val", "list", "--no-color"]),
      see(ada, ["val", "list"], { TERM: "dumb" }),
    ]
    for (const { raw } of await Promise.all(plain)) expect(raw).not.toContain("\x1b")
    expect((await see(ada, ["val", "--help"])).raw).toContain("\x1b[1mUsage:")
    expect((await see(ada, ["val", "--help"], { NO_COLOR: "1" })).raw).not.toContain("\x1b")
    expect((await see(ada, ["val", "list"], { NO_COLOR: "" })).raw).toContain("\x1b[")
  })

  test("foreign text cannot control the terminal", async () => {
    const ada = await stage().person("escape1")
    const bell = "\x1b]0;owned\x07"
    await ada.client.createVal({
      name: "evil",
      code: `export default () => { console.log(${JSON.stringify(bell)}); throw new Error(${JSON.stringify(bell)}) }\n//${bell}`,
      readme: bell,
    })
    for (const args of [
      ["run", "evil"],
      ["val", "show", "evil"],
      ["val", "show", "evil", "--code"],
      ["val", "show", "evil", "--readme"],
      ["run", "list"],
      ["logs"],
      ["version", "show", "evil"],
    ]) {
      const { raw } = await see(ada, args)
      expect([args, raw.includes("\x1b]0;"), raw.includes("\x07")]).toEqual([args, false, false])
    }
  })

  test("records, runs and diffs are formatted for reading", async () => {
    const ada = await stage().person("human1")
    await ada.client.createVal({
      name: "hello",
      code: "export default () => { console.log('hi'); return { a: 1 } }\n",
    })
    expect((await see(ada, ["whoami"])).lines).toEqual([
      "username  human1",
      "server    test",
      `url       ${stage().url}`,
    ])
    expect((await see(ada, ["val", "show", "hello"])).lines.slice(0, 3)).toEqual([
      "val         human1/hello",
      "version     1",
      "type        script",
    ])
    expect((await see(ada, ["run", "hello"])).lines).toEqual(["hi", "{", '  "a": 1', "}"])
    await ada.client.saveVal({ name: "hello", code: "export default 2\n" })
    const { raw, lines } = await see(ada, ["version", "diff", "hello"])
    expect(lines.slice(-1)).toEqual(["+export default 2"])
    expect(raw).toContain("\x1b[32m+export default 2\x1b[39m")
    expect((await see(ada, ["run", "list"])).lines[1]).toMatch(
      /^[\w-]{36} {2}human1\/hello@1 +succeeded +api +[\d.]+ m?s +just now$/,
    )
    expect((await see(ada, ["logs"])).lines[0]).toMatch(/^\d\d:\d\d:\d\d {2}human1\/hello@1 {2}hi$/)
    expect((await see(ada, ["val", "show", "nothing"])).lines[0]).toStartWith("Cannot find val")
    expect(readdirSync(ada.folder)).toEqual([])
  })
})
