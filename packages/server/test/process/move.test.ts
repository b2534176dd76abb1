import { expect, test } from "bun:test"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createClient } from "@hamlet/contract/client"
import { databases } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const root = fileURLToPath(new URL("../../../../", import.meta.url))
const postgres = databases.find(({ name }) => name === "PostgreSQL")

test.skipIf(!postgres)(
  "docs/backup.md moves a server from SQLite to PostgreSQL by the commands that it names, to another address too",
  async () => {
    const target = await postgres?.open({ isEmpty: true })
    if (!target) throw new Error("Cannot move: there is no PostgreSQL")
    await using fixture = await openServerFixture()
    const folder = dirname(fixture.dataDir)
    const path = preparePath(folder)
    const [before = "", after = ""] = readRecipe(target.url ?? "").split("# stop the server\n")

    const { hamlet, baseUrl } = await fixture.serve()
    const old = createClient({ baseUrl, token: chosenToken })
    await old.createVal({
      name: "library",
      code: "export const word: string = 'moved'",
      privacy: "public",
    })
    const code = `import { word } from "${baseUrl}/v/ada/library"; export default () => word + Deno.env.get("WORD").length`
    const main = await old.createVal({ name: "main", code, privacy: "private" })
    await old.putSecret({ name: "WORD", value: "-secret" })
    await old.executeSql({ statement: "create table notes (text)" })
    await old.executeSql({ statement: "insert into notes values ('kept')" })
    const backup = Bun.spawnSync(["bash", "-ec", before], {
      cwd: folder,
      env: { ...path, HAMLET_URL: baseUrl, HAMLET_TOKEN: chosenToken },
    })
    expect([backup.exitCode, backup.stderr.toString()]).toEqual([0, ""])
    hamlet.signal("SIGTERM")
    await hamlet.ended()

    const env = {
      ...path,
      HAMLET_PORT: "0",
      HAMLET_FORMER_BASE_URLS: baseUrl,
      HAMLET_DATABASE_CONNECTIONS_MAX: "4",
      HAMLET_PROCESSES_READY: "0",
    }
    const child = Bun.spawn(["bash", "-ec", after], {
      cwd: folder,
      env,
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    })
    const output = child.stdout.getReader()
    try {
      const moved = await readAddress(output, () => new Response(child.stderr).text())
      expect(moved).not.toBe(baseUrl)
      const client = createClient({ baseUrl: moved, token: chosenToken })
      expect((await client.executeSql({ statement: "select text from notes" })).rows).toEqual([
        ["kept"],
      ])
      expect(await client.callValByQuery({ username: "ada", val_name: "main" })).toBe("moved7")
      // At save too: the import is a reference, and nothing is fetched from the old address, which
      // nobody answers at.
      const { id } = await client.createVal({ name: "later", code, privacy: "private" })
      expect(await client.callValByQuery({ username: "ada", val_name: "later" })).toBe("moved7")
      const { data } = await client.listValReferences({
        val_id: (await client.getValByName({ username: "ada", val_name: "library" })).id,
      })
      expect(data.map(({ reference }) => reference.id).sort()).toEqual([main.id, id].sort())
    } finally {
      process.kill(-child.pid, "SIGTERM")
      // Its end comes when the last of the processes has ended that bash and npm started.
      while (!(await output.read()).done);
      await child.exited
      await target.close()
    }
  },
  240_000,
)

/** The commands of the recipe, for a database that is there. */
function readRecipe(url: string): string {
  const [, text = ""] = readFileSync(join(root, "docs/backup.md"), "utf8").split(
    "## From SQLite to PostgreSQL\n",
  )
  const commands = /```sh\n([\s\S]*?)```/.exec(text)?.[1] ?? ""
  expect(commands).toContain("postgres://hamlet:password@db.example.org/hamlet")
  return commands.replace("postgres://hamlet:password@db.example.org/hamlet", url)
}

/** A folder in which `hamlet` and `npm start` are those of this checkout. */
function preparePath(folder: string): Record<string, string> {
  const start = `${process.execPath} ${join(root, "packages/server/src/main.ts")} serve`
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, scripts: { start } }))
  const bin = join(folder, "bin")
  mkdirSync(bin)
  writeFileSync(
    join(bin, "hamlet"),
    `#!/bin/sh\nexec ${join(root, "packages/cli/bin/hamlet")} "$@"\n`,
  )
  chmodSync(join(bin, "hamlet"), 0o755)
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("HAMLET_") || name === "HAMLET_TEST_RUN",
  )
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    PATH: `${bin}:${process.env.PATH}`,
    HAMLET_CONFIG_DIR: join(folder, "config"),
  }
}

async function readAddress(
  output: ReadableStreamDefaultReader<Uint8Array>,
  readErrors: () => Promise<string>,
): Promise<string> {
  let text = ""
  const decoder = new TextDecoder()
  for (let next = await output.read(); !next.done; next = await output.read()) {
    text += decoder.decode(next.value, { stream: true })
    const [, address] = /listens at (\S+)[\s\S]*docs {2,}\S+\n/.exec(text) ?? []
    if (address !== undefined) return address
  }
  throw new Error(`the server did not start: ${text}${await readErrors()}`)
}
