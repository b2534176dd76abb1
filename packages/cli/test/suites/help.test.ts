import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { exitCodes } from "../../src/exit-codes.ts"
import { createProgram } from "../../src/program.ts"
import { isGroup, tree } from "../../src/tree.ts"
import { useStage } from "../support/shared-stage.ts"

const commands: (readonly string[])[] = []
for (const [noun, node] of Object.entries(tree)) {
  if (!isGroup(node) || node.defaultVerb) commands.push([noun])
  if (isGroup(node))
    commands.push(...Object.keys((await node.loadVerbs()).verbs).map((verb) => [noun, verb]))
}
const document = readFileSync(new URL("../../../../docs/cli.md", import.meta.url), "utf8")

/** Commands without the common options. */
const withoutJson: Readonly<Record<string, string>> = {
  serve: "all options are those of the server",
}

describe("help", () => {
  const stage = useStage()

  test("hamlet without arguments and with --help lists every noun", async () => {
    const nouns = Object.entries(tree).filter(([, node]) => isGroup(node) || !node.isHidden)
    for (const args of [[], ["--help"], ["help"]]) {
      const text = await stage().admin.print(args)
      for (const [noun, { summary }] of nouns)
        expect(text).toMatch(new RegExp(`^ {2}${noun} +${summary.slice(0, 20)}`, "m"))
      expect(text).not.toContain("__complete")
    }
    expect(await stage().admin.print(["--version"])).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test("every command has a help with examples that call it", async () => {
    for (const path of commands) {
      const text = await readHelp(path)
      expect(text).toStartWith(`Usage: hamlet ${path.join(" ")} [options]`)
      // The summary.
      expect(text).toMatch(/^Usage: .*\n\n[A-Z]\w+ /)
      expect(text).toMatch(new RegExp(`Examples:\\n(.*\\n)*.*hamlet ${path.join(" ")}\\b`))
    }
    const text = await readHelp(["version", "diff"])
    for (const args of [
      ["version", "diff", "--help"],
      ["version", "help", "diff"],
    ])
      expect(await stage().admin.print(args)).toBe(text)
  })

  test("every command has --json, or a reason why not", async () => {
    for (const path of commands) {
      const reason = withoutJson[path.join(" ")]
      expect([path, (await readHelp(path)).includes("--json ")]).toEqual([path, !reason])
    }
  })

  describe("docs/cli.md", () => {
    for (const path of commands.filter(([noun]) => noun !== "__complete"))
      test(`names hamlet ${path.join(" ")}`, () =>
        expect(document).toMatch(new RegExp(`\`(hamlet )?${path.join(" ")}[ \`]`)))
    test("has every exit code", () => {
      for (const { exit } of Object.values(exitCodes)) expect(document).toContain(`| ${exit} |`)
    })
  })
})

/** What a command would print, without starting a process for each. */
async function readHelp(path: readonly string[]): Promise<string> {
  let text = ""
  const add = (more: string) => {
    text += more
  }
  const program = await createProgram({
    wanted: path,
    runCommand: async () => {},
    streams: { writeOut: add, writeError: add },
    hasColour: false,
  })
  await program.parseAsync([...path, "--help"], { from: "user" }).catch(() => {})
  return text
}
