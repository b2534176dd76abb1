import { describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import type { Finding } from "../../src/doctor/finding.ts"
import { doctorLimits } from "../../src/doctor/limits.ts"
import { describeEachDatabase, describeSqlite } from "../support/databases.ts"
import {
  chosenToken,
  openEmpty,
  openServerFixture,
  type ServerFixture,
} from "../support/server-fixture.ts"

// A test starts the program up to four times, and a busy machine is slow with each.
setDefaultTimeout(240_000)

const otherKey = Buffer.alloc(32, 9).toString("base64")
const isRoot = process.getuid?.() === 0
const exits = { ok: 0, warning: 10, failure: 1 }
const nobody = 65_534

type Findings = Readonly<Record<string, Pick<Finding, "status" | "found" | "mend">>>

/** What the doctor finds, by the name of the check. Its exit code is always that of the worst. */
async function examine(
  fixture: ServerFixture,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Findings> {
  const { exitCode, stdout, stderr } = await fixture.run(["doctor", "--json", ...args], env)
  expect(stderr).toBe("")
  const lines = stdout.trimEnd().split("\n")
  const findings: Finding[] = lines.map((line) => JSON.parse(line))
  for (const { status, mend } of findings) expect(mend === null).toBe(status === "ok")
  const worst =
    (["failure", "warning", "ok"] as const).find((status) =>
      findings.some((finding) => finding.status === status),
    ) ?? "ok"
  expect(exitCode).toBe(exits[worst])
  return Object.fromEntries(findings.map(({ check, ...rest }) => [check, rest]))
}

/** Everything in a folder, with its content. */
function listFiles(folder: string): readonly string[] {
  const names = existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
    : []
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map(
      (path) =>
        `${path} ${new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")}`,
    )
    .sort()
}

async function serveAndStop(fixture: ServerFixture): Promise<void> {
  const { hamlet } = await fixture.serve()
  hamlet.signal("SIGTERM")
  await hamlet.ended()
}

describeEachDatabase("hamlet doctor", (open) => {
  test("reports no problem before the first start, while the server runs and after it, and changes nothing", async () => {
    await using fixture = await openServerFixture(openEmpty(open))
    const before = await examine(fixture)
    expect(existsSync(fixture.dataDir)).toBe(false)
    expect(before["data folder"]?.found).toContain("does not exist yet")

    const { hamlet, baseUrl } = await fixture.serve()
    const running = await examine(fixture, ["--port", new URL(baseUrl).port])
    expect(running.port?.found).toMatch(/^Hamlet \S+ runs at \d+ on 127\.0\.0\.1$/)
    hamlet.signal("SIGTERM")
    expect((await hamlet.ended()).exitCode).toBe(0)

    const files = listFiles(fixture.dataDir)
    const after = await examine(fixture)
    expect(listFiles(fixture.dataDir)).toEqual(files)

    for (const findings of [before, running, after]) {
      const {
        isolation,
        cgroups,
        "open files": _files,
        memory: _memory,
        disk: _disk,
        "temporary folder": _temporary,
        ...others
      } = findings
      // What this machine has is not for a test to say, but that it was looked at is.
      expect(isolation?.found).toMatch(/^(bubblewrap|WEAK, deno): /)
      expect(cgroups?.found).toMatch(/version [12]|no group/)
      // Nor is how fast PostgreSQL answers while others use it.
      const latencyMs = Number(
        / answers in ([\d.]+) ms/.exec(others.database?.found ?? "")?.[1] ?? 0,
      )
      const slow = latencyMs > doctorLimits.latencyMsMax ? "database" : undefined
      expect(Object.entries(others).map(([check, { status }]) => [check, status])).toEqual(
        Object.keys(others).map((check) => [check, check === slow ? "warning" : "ok"]),
      )
    }
    expect(running.schema?.found).toMatch(/^\d+, the newest that this version knows$/)
    expect(after["secret key"]?.found).toMatch(
      /^[0-9a-f]{16}, in .+, opens what is in the database$/,
    )
    expect(after.database?.found).toMatch(
      fixture.url
        ? /^PostgreSQL \d+.+ answers in /
        : /^SQLite in .+ read through, nothing damaged$/,
    )
  })
})

describeSqlite("hamlet doctor", (open) => {
  test("reports a key that was removed too early, a wrong key, and a schema of a newer version", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet, baseUrl } = await fixture.serve()
    await createClient({ baseUrl, token: chosenToken }).putSecret({ name: "NAME", value: "value" })
    hamlet.signal("SIGTERM")
    await hamlet.ended()
    const db = await fixture.connect()
    await db.write(function* () {
      yield sql`update secrets set key_id = ${"0123456789abcdef"}`
      yield sql`insert into schema_migrations (version, name, applied_at) values (${999}, ${"from the future"}, ${0})`
    })
    await db.stop()

    const deno = ["--isolation", "deno"]
    expect((await examine(fixture, deno))["secret key"]).toMatchObject({
      status: "failure",
      found: expect.stringMatching(
        /^1 of the secrets are encrypted with key 0123456789abcdef, which is not in /,
      ),
    })
    const findings = await examine(fixture, deno, { HAMLET_SECRET_KEY: otherKey })

    expect(findings["secret key"]).toMatchObject({
      status: "failure",
      found: expect.stringMatching(/key [0-9a-f]{16}, which is not in HAMLET_SECRET_KEY$/),
    })
    expect(findings.schema).toMatchObject({
      status: "failure",
      found: expect.stringMatching(/^999, written by a newer version/),
    })
    expect(JSON.stringify(findings)).not.toContain(otherKey)

    const again = await fixture.connect()
    await again.write(function* () {
      yield sql`insert into schema_compatibility (version, works_with) values (${999}, ${1})`
    })
    await again.stop()
    expect((await examine(fixture, deno)).schema).toMatchObject({
      status: "ok",
      found: expect.stringMatching(/^999, .+ and works with it$/),
    })
  })
})

describe("hamlet doctor explains how to repair", () => {
  test("a damaged database file, a key file that is empty or readable by others, and a folder open to others", async () => {
    await using fixture = await openServerFixture()
    await serveAndStop(fixture)
    const [key, file] = [join(fixture.dataDir, "secret.key"), join(fixture.dataDir, "hamlet.db")]
    chmodSync(key, 0o644)
    chmodSync(fixture.dataDir, 0o755)
    const deno = ["--isolation", "deno"]
    const lax = await examine(fixture, deno)
    expect([lax["secret key"], lax["data folder"]]).toMatchObject([
      { status: "warning", mend: `"chmod 600 ${key}"` },
      { status: "warning", mend: expect.stringContaining(`"chmod 700 ${fixture.dataDir}"`) },
    ])

    writeFileSync(key, "")
    // Into the pages of tables, not into the header.
    writeSync(openSync(file, "r+"), Buffer.alloc(20_000, 0xa5), 0, 20_000, 8_192)
    const damaged = await examine(fixture, deno)
    expect(damaged.database).toMatchObject({
      status: "failure",
      mend: expect.stringContaining('"hamlet restore"'),
    })
    expect(damaged["secret key"]?.status ?? "failure").toBe("failure")

    writeFileSync(file, "not a database ".repeat(1000))
    expect((await examine(fixture, deno)).database).toMatchObject({
      status: "failure",
      found: expect.stringContaining("not a database"),
    })
  })

  test("an unreachable database, without its password, and a port in use", async () => {
    await using fixture = await openServerFixture()
    using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") })
    const args = [
      "--database-url",
      "postgres://ada:hush@127.0.0.1:1/hamlet",
      "--port",
      String(other.port),
      "--vals-domain",
      "vals.invalid",
      "--isolation",
      "deno",
    ]
    const findings = await examine(fixture, args)
    expect(findings.database).toMatchObject({
      status: "failure",
      mend: expect.stringContaining("HAMLET_DATABASE_URL"),
    })
    expect(findings.port).toMatchObject({
      status: "failure",
      found: expect.stringContaining("taken by another program"),
    })
    expect(findings["names of vals"]).toMatchObject({
      status: "warning",
      mend: expect.stringContaining("*.vals.invalid"),
    })
    expect(JSON.stringify(findings)).not.toContain("hush")
  })

  test("an address that the machine does not have, a data folder of another user, and invalid settings", async () => {
    await using fixture = await openServerFixture()
    mkdirSync(fixture.dataDir, { mode: 0o700 })
    if (isRoot) chownSync(fixture.dataDir, nobody, nobody)
    const { port, "data folder": folder } = await examine(fixture, [
      "--host",
      "192.0.2.1",
      "--port",
      "8123",
      "--isolation",
      "deno",
    ])
    expect(port).toMatchObject({
      status: "failure",
      found: "Cannot listen on 192.0.2.1 port 8123: this machine does not have that address",
    })
    if (isRoot)
      expect(folder).toMatchObject({
        status: "warning",
        found: expect.stringContaining(`owner ${nobody}, you are 0`),
      })
    expect(await examine(fixture, ["--port", "http"])).toEqual({
      settings: {
        status: "failure",
        found: 'Cannot use HAMLET_PORT "http": it must be a whole number from 0 to 65535',
        mend: "docs/configuration.md says what each setting may be",
      },
    })
  })

  test("a machine without bubblewrap, a low limit of open files, and an unknown setting", async () => {
    // Everything else that a sandbox needs is there, so that only bubblewrap is missed.
    await using fixture = await openServerFixture(undefined, [
      "sh",
      "-c",
      'ulimit -n 200; exec "$@"',
      "sh",
    ])
    const programs = join(dirname(fixture.dataDir), "bin")
    mkdirSync(programs)
    for (const name of ["sh", "setpriv", "ldd"]) {
      const path = Bun.which(name)
      if (path) symlinkSync(path, join(programs, name))
    }
    const loopback = await examine(fixture, [], { PATH: programs, HAMLET_DATADIR: "typo" })
    expect(loopback.isolation).toMatchObject({
      status: "warning",
      found: expect.stringMatching(/^WEAK, .+bwrap/),
      mend: expect.stringContaining("install"),
    })
    expect(loopback["open files"]).toMatchObject({
      status: "failure",
      found: "200 at once",
      mend: expect.stringContaining("ulimit -n"),
    })
    expect(loopback.settings).toMatchObject({
      status: "warning",
      found: expect.stringContaining("HAMLET_DATADIR"),
    })
    const open = await examine(fixture, ["--host", "0.0.0.0"], { PATH: programs })
    expect(open.isolation).toMatchObject({
      status: "failure",
      found: expect.stringContaining("refuses to serve other machines"),
    })
    const wanted = await examine(fixture, ["--isolation", "bubblewrap"], { PATH: programs })
    expect(wanted.isolation).toMatchObject({
      status: "failure",
      found: expect.stringContaining("is not installed"),
    })
  })

  test("a data folder that cannot be written to", async () => {
    const prefix = isRoot
      ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"]
      : []
    await using fixture = await openServerFixture(undefined, prefix)
    chmodSync(dirname(fixture.dataDir), 0o755)
    mkdirSync(fixture.dataDir, { mode: 0o500 })
    const findings = await examine(fixture, ["--isolation", "deno"], { HOME: "/", TMPDIR: "/tmp" })
    expect(findings["data folder"]).toMatchObject({
      status: "failure",
      found: expect.stringContaining("cannot be written to"),
    })
    expect(
      (
        await examine(
          fixture,
          ["--isolation", "deno", "--data-dir", join(fixture.dataDir, "below")],
          {
            HOME: "/",
          },
        )
      )["data folder"],
    ).toMatchObject({
      status: "failure",
      found: expect.stringContaining("cannot be made"),
    })
  })
})

describe("hamlet doctor", () => {
  test("does not clean up after a dead server, and leaves no files of its own, also when interrupted", async () => {
    await using fixture = await openServerFixture()
    const temporary = join(dirname(fixture.dataDir), "tmp")
    const left = join(temporary, `hamlet-${process.getuid?.()}-0123abcd`, "999999-x-1-x.0")
    mkdirSync(left, { recursive: true })
    const env = { TMPDIR: temporary }
    await examine(fixture, [], env)
    // Again if it was done before the signal came.
    for (let exitCode: number | null = 0; exitCode !== 143; ) {
      const interrupted = fixture.start(["doctor", "--json"], env)
      await interrupted.waitFor("stdout", /"check":"deno"/)
      interrupted.signal("SIGTERM")
      exitCode = (await interrupted.ended()).exitCode
      expect([143, exits.ok, exits.warning, exits.failure]).toContain(exitCode as number)
    }
    expect(readdirSync(temporary)).toEqual([`hamlet-${process.getuid?.()}-0123abcd`])
    expect(existsSync(left)).toBe(true)
  })

  test("prints text without --json", async () => {
    await using fixture = await openServerFixture()
    const { stdout } = await fixture.run(["doctor", "--port", "http"])
    expect(stdout).toBe(
      'failure  settings: Cannot use HAMLET_PORT "http": it must be a whole number from 0 to 65535\n         docs/configuration.md says what each setting may be\n',
    )
  })
})
