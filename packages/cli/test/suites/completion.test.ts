import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { cleanEnv, hamletPath } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person, Stage } from "../support/stage.ts"
import { until } from "../support/until.ts"

describe("completion", () => {
  const stage = useStage()

  test("__complete lists vals, secrets, servers and the user, and prints nothing otherwise", async () => {
    const [ada, bob] = [await stage().person("complete1"), await stage().person("complete2")]
    for (const name of ["hello", "help_me", "other"])
      await ada.client.createVal({
        name,
        code: "1",
        privacy: name === "other" ? "private" : "public",
      })
    await ada.client.putSecret({ name: "KEY", value: "x" })
    const complete = (person: Person, ...args: readonly string[]) =>
      offerSomething(async () =>
        (await person.print(["__complete", ...args])).split("\n").filter(Boolean).sort(),
      )
    expect(await complete(ada, "val")).toEqual(["hello", "help_me", "other"])
    expect(await complete(ada, "val", "hel")).toEqual(["hello", "help_me"])
    expect(await complete(bob, "val", "complete1/")).toEqual([
      "complete1/hello",
      "complete1/help_me",
    ])
    expect(await complete(ada, "secret", "K")).toEqual(["KEY"])
    expect(await complete(ada, "server")).toEqual(["test"])
    expect(await complete(ada, "user")).toEqual(["complete1"])
    for (const args of [["nonsense"], ["val", "nobody_at_all/"], ["val", "a/b/c"]])
      expect(await ada.print(["__complete", ...args])).toBe("")
    expect(
      await ada.hamlet(["__complete", "val"], {
        env: { HAMLET_URL: "http://localhost:1", HAMLET_TOKEN: "x" },
      }),
    ).toEqual({
      exit: 0,
      stdout: "",
      stderr: "",
    })
    expect(await (await stage().holder("x", false)).hamlet(["__complete", "val"])).toEqual({
      exit: 0,
      stdout: "",
      stderr: "",
    })
  })

  describe("completion bash", () => defineBash(stage))

  for (const [shell, check] of [
    ["zsh", ["zsh", "-n"]],
    ["fish", ["fish", "--no-execute"]],
  ] as const) {
    test(`completion ${shell} prints a script with every verb that ${shell} can parse`, async () => {
      const script = await stage().admin.print(["completion", shell])
      for (const text of ["__complete", "restore", "privacy", "replay", "revoke"])
        expect(script).toContain(text)
      // Few machines have all three shells; what the script says was looked at above.
      if (Bun.which(shell) === null) return
      const path = join(stage().admin.folder, `completion.${shell}`)
      await Bun.write(path, script)
      const { exitCode, stderr } = Bun.spawnSync([...check, path])
      expect([exitCode, stderr.toString()]).toEqual([0, ""])
    })
  }
})

/** What is offered. It is nothing where the server takes longer than a second: one asks again. */
async function offerSomething(
  complete: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  let offered: readonly string[] = []
  await until(async () => {
    offered = await complete()
    return offered.length > 0
  }, "something that is offered")
  return offered
}

function defineBash(stage: () => Stage): void {
  test("completes nouns, verbs, options, their values, and names of vals", async () => {
    const ada = await stage().person("complete3")
    for (const name of ["alpha", "beta"]) await ada.client.createVal({ name, code: "1" })
    const script = await ada.print(["completion", "bash"])
    const table: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
      [["se"], ["secret", "serve", "server", "session"]],
      [["val", "re"], ["rename"]],
      [["val", "list", "--priv"], ["--privacy"]],
      [
        ["val", "list", "--privacy", ""],
        ["private", "public", "unlisted"],
      ],
      [
        ["val", "show", ""],
        ["alpha", "beta"],
      ],
      [["val", "show", "--code", "al"], ["alpha"]],
      [["val", "rm", "alpha", "b"], ["beta"]],
      [["val", "rename", "alpha", ""], []],
      [
        ["run", "l"],
        ["list", "logs"],
      ],
      [["run", "be"], ["beta"]],
      [["--server", ""], ["test"]],
      [["whoami", "--server", "te"], ["test"]],
      [
        ["token", "new", "x", "--scope", "val"],
        ["val:read", "val:write"],
      ],
      [
        ["completion", ""],
        ["bash", "fish", "zsh"],
      ],
    ]
    // One bash for all of them; each case is asked for as bash does, again while the server takes
    // longer than a second.
    const cases = table.map(([words, expected]) => {
      const all = ["hamlet", ...words]
      const line = `COMP_WORDS=(${all.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${all.length - 1}; _hamlet`
      const again =
        expected.length === 0
          ? ""
          : `SECONDS=0; until ((\${#COMPREPLY[@]} || SECONDS > 60)); do _hamlet; done; `
      return `${line}; ${again}printf '%s ' "\${COMPREPLY[@]}"; echo`
    })
    const env = {
      ...cleanEnv(),
      HAMLET_CONFIG_DIR: ada.configDir,
      PATH: `${join(hamletPath, "..")}:${process.env.PATH}`,
    }
    const { stdout, stderr } = Bun.spawnSync(
      ["bash", "--norc", "-c", [script, ...cases].join("\n")],
      { env },
    )
    const offered = stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => line.trim().split(" ").filter(Boolean).sort())
    expect(stderr.toString()).toBe("")
    expect(offered.map((words, index) => [table[index]?.[0], words])).toEqual(
      table.map(([words, expected]) => [words, [...expected]]),
    )
  })
}
