import { Database as Connection } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { takeBackup } from "../backup/restore-target.ts"
import { openApi, type TestApi } from "../support/api.ts"
import { openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

/** So many runs that a restore can be killed in the middle. */
const runsCount = 10_000

/** The key that the server of these tests has. */
const key = { HAMLET_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }

describe("hamlet restore", () => {
  let folder: string
  let file: string
  let api: TestApi

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "hamlet-backup-"))
    file = join(folder, "hamlet.backup")
    api = await openApi()
    const ada = await api.addUser("ada")
    await api.call("POST", "/v1/vals", {
      as: ada,
      body: { name: "hello", code: "1", privacy: "public" },
    })
    await api.call("POST", "/v1/sqlite/execute", {
      as: ada,
      body: { statement: "create table t (a)" },
    })
    const runs = Array.from({ length: runsCount }, () => Bun.randomUUIDv7())
    await api.hamlet.settings.getOrSet("secret_key_check", sealedCheck(api))
    const db = new Connection(join(dataDirOf(api), "hamlet.db"))
    const insert =
      db.query(`insert into runs (id, val_id, version, account_id, owner_id, source, status, started_at, logs)
      select ?, id, 1, owner_id, owner_id, 'http', 'succeeded', 1, ? from vals limit 1`)
    db.transaction(() => {
      for (const id of runs) insert.run(id, JSON.stringify([id]))
    })()
    db.close()
    writeFileSync(file, (await takeBackup(api)).bytes)
  })
  afterAll(async () => {
    await api.close()
    await rm(folder, { recursive: true })
  })

  test("recreates the server, and prints progress as lines of JSON", async () => {
    await using fixture = await openServerFixture()
    const { exitCode, stdout, stderr } = await run(fixture, "--json")
    expect([exitCode, stderr]).toEqual([0, ""])
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    for (const step of ["check", "load", "index", "verify"]) {
      const last = lines.findLast((line) => line.step === step)
      expect(last.done).toBe(last.total)
    }
    expect(lines.at(-1)).toMatchObject({
      step: "done",
      sections: { users: 2, vals: 1, runs: runsCount },
      notes: [expect.stringContaining("HAMLET_SECRET_KEY")],
    })
    expect(readdirSync(fixture.dataDir).sort()).toEqual(["hamlet.db", "sqlite"])
    const hamlet = fixture.start(["serve"], key)
    const response = await fetch(`${await hamlet.listening()}/v1/alias/ada/hello`)
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      200,
      "1",
    ])
    await hamlet.stop()
    expect(await run(fixture)).toMatchObject({
      exitCode: 1,
      stderr: `Cannot restore "${file}": ${join(fixture.dataDir, "hamlet.db")} already contains users, and a restore needs an empty server\n`,
    })
  }, 180_000)

  test("asks for the key of the secrets only if it is not set", async () => {
    const other = { HAMLET_SECRET_KEY: Buffer.alloc(32, 8).toString("base64") }
    for (const [env, isAsked] of [
      [key, false],
      [other, true],
    ] as const) {
      await using fixture = await openServerFixture()
      const { exitCode, stdout } = await fixture.run(["restore", file], env)
      expect(exitCode).toBe(0)
      const asked = /^Secrets are still encrypted: the server needs key [0-9a-f]{16}, /m
      expect(asked.test(stdout)).toBe(isAsked)
    }
  }, 180_000)

  test("creates a server that starts only with the original key", async () => {
    await using fixture = await openServerFixture()
    expect((await run(fixture)).stdout).toContain("Restored 2 users and 1 vals as they were at ")
    const { exitCode, stderr } = await fixture.run(["serve"], {
      HAMLET_SECRET_KEY: Buffer.alloc(32, 8).toString("base64"),
    })
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("Cannot start: the secrets in this database are encrypted with key "),
    ])
  }, 180_000)

  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    test(`leaves nothing when ${signal} ends it, or cleans up the next time`, async () => {
      await using fixture = await openServerFixture()
      const { exitCode, stderr } = await interrupt(fixture, signal)
      expect(existsSync(join(fixture.dataDir, "hamlet.db"))).toBe(false)
      if (signal === "SIGTERM") {
        expect([exitCode, stderr]).toEqual([1, `Cannot restore "${file}": it was interrupted\n`])
        expect(readdirSync(fixture.dataDir)).toEqual([])
      } else expect(readdirSync(fixture.dataDir)).toContain("restore.unfinished")
      expect(await run(fixture)).toMatchObject({ exitCode: 0 })
      expect(readdirSync(fixture.dataDir).sort()).toEqual(["hamlet.db", "sqlite"])
    }, 180_000)
  }

  test("refuses a missing file, an invalid backup and a target that is not empty, with one sentence", async () => {
    await using fixture = await openServerFixture()
    const tell = async (args: readonly string[]) => {
      const { exitCode, stderr } = await fixture.run(["restore", ...args])
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^Cannot [^\n]+[^\n.]\n$/)])
      return stderr
    }
    expect(await tell([])).toBe("Cannot restore: name the file first, as in restore FILE\n")
    expect(await tell([join(folder, "none")])).toContain("no such file or directory")
    expect(await tell([folder])).toContain(`Cannot restore "${folder}": `)
    const half = join(folder, "half.backup")
    writeFileSync(half, readFileSync(file).subarray(0, 1_000))
    expect(await tell([half])).toBe(`Cannot restore "${half}": it is incomplete\n`)
    expect(existsSync(fixture.dataDir)).toBe(false)
    await mkdir(join(fixture.dataDir, "sqlite"), { recursive: true })
    writeFileSync(join(fixture.dataDir, "sqlite", `${Bun.randomUUIDv7()}.db`), "somebody's")
    expect(await tell([file])).toContain(
      `${join(fixture.dataDir, "sqlite")} already contains databases of users`,
    )
  }, 180_000)

  const run = (fixture: ServerFixture, ...args: readonly string[]) =>
    fixture.run(["restore", file, ...args])

  /** Ends a restore while it loads. Begins again if it was further before the signal came. */
  const interrupt = async (fixture: ServerFixture, signal: "SIGKILL" | "SIGTERM") => {
    for (;;) {
      const restoring = fixture.start(["restore", file, "--json"])
      await restoring.waitFor("stdout", /"step":"load"/)
      restoring.signal(signal)
      const ended = await restoring.ended()
      // What comes after the load begins with the index, and ends with a server that is restored.
      if (ended.exitCode !== 0 && !ended.stdout.includes('"step":"index"')) return ended
      await rm(fixture.dataDir, { recursive: true })
    }
  }
})

function dataDirOf(api: TestApi): string {
  return api.hamlet.database.replace(/^.* in (.*)\/hamlet\.db$/, "$1")
}

/** The key check as a server stores it when it first starts. */
function sealedCheck({ hamlet }: TestApi): string {
  const sealed = hamlet.parts.cipher.seal("hamlet", "key check")
  return `${sealed.keyId} ${Buffer.from(sealed.bytes).toString("base64")}`
}
