import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import manifest from "../../package.json" with { type: "json" }
import { useStage } from "../support/shared-stage.ts"

/** The name, the status and the advice of each check. */
function summarise(findings: readonly { check: string; status: string; mend: string | null }[]) {
  return Object.fromEntries(
    findings.map(({ check, status, mend }) => [
      check,
      mend === null ? status : `${status}: ${mend}`,
    ]),
  )
}

const toObjects = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("doctor", () => {
  const stage = useStage()

  test("checks the machine with the server's flags, then the server, and changes nothing", async () => {
    const { admin } = stage()
    const before = readdirSync(admin.folder)
    const { exit, stdout, stderr } = await admin.hamlet([
      "doctor",
      "--data-dir",
      "nothing-here",
      "--json",
      "--port",
      "0",
    ])
    const findings = toObjects(stdout)
    expect([stderr, readdirSync(admin.folder)]).toEqual(["", before])
    expect(findings.map(({ check }) => check)).toEqual([
      "settings",
      "bun",
      "deno",
      "isolation",
      "cgroups",
      "data folder",
      "disk",
      "temporary folder",
      "database",
      "databases of users",
      "bucket",
      "clock",
      "port",
      "exposure",
      "names of vals",
      "outgoing mail",
      "incoming mail",
      "sign-in",
      "traces",
      "open files",
      "memory",
      "server",
      "server version",
      "server clock",
      "server's database",
      "token",
    ])
    expect(findings.find(({ check }) => check === "data folder").found).toContain("nothing-here")
    // Whether there is something to warn of depends on the machine; nothing on it is broken.
    expect(exit).toBe(findings.some(({ status }) => status === "warning") ? 10 : 0)
    expect(findings.filter(({ status }) => status === "failure")).toEqual([])
  })

  test("ends with 1 when the machine or the server has a problem", async () => {
    const { admin } = stage()
    expect(await admin.hamlet(["doctor", "--only", "machine", "--port", "http"])).toEqual({
      exit: 1,
      stdout:
        'failure\tsettings\tCannot use HAMLET_PORT "http": it must be a whole number from 0 to 65535\tdocs/configuration.md says what each setting may be\n',
      stderr: "",
    })
    const nobody = await stage().holder("not-a-token-of-anybody-0123456789")
    const refused = await nobody.hamlet(["doctor", "--only", "server", "--json"])
    expect([refused.exit, summarise(toObjects(refused.stdout)).token]).toEqual([
      1,
      'failure: sign in again with "hamlet login"',
    ])
    const gone = await admin.hamlet(["doctor", "--only", "server", "--json"], {
      env: { HAMLET_URL: "http://localhost:1", HAMLET_TOKEN: "x" },
    })
    expect([gone.exit, Object.keys(summarise(toObjects(gone.stdout)))]).toEqual([1, ["server"]])
  })

  test("reports another version, another time, an unavailable database, and a program that is not a server", async () => {
    const { admin } = stage()
    const answers: Record<string, () => Response> = {
      "/healthz": () =>
        Response.json(
          { status: "ok", version: "9.9.9" },
          { headers: { date: new Date(Date.now() - 60_000).toUTCString() } },
        ),
      "/readyz": () =>
        Response.json(
          { code: "database_unavailable", message: "Cannot use the database: it is gone" },
          { status: 503 },
        ),
    }
    using other = Bun.serve({
      port: 0,
      fetch: (request) =>
        answers[new URL(request.url).pathname]?.() ??
        new Response("<h1>hello</h1>", { status: 404 }),
    })
    const env = { HAMLET_URL: `http://localhost:${other.port}`, HAMLET_TOKEN: "x" }
    const found = await admin.hamlet(["doctor", "--only", "server", "--json"], { env })
    expect([found.exit, toObjects(found.stdout)]).toMatchObject([
      1,
      [
        { check: "server", status: "ok" },
        {
          check: "server version",
          status: "warning",
          found: `9.9.9; this program is ${manifest.version}`,
        },
        {
          check: "server clock",
          status: "warning",
          found: expect.stringMatching(/^(59|6\d) s behind this machine's$/),
        },
        {
          check: "server's database",
          status: "failure",
          found: "Cannot use the database: it is gone",
        },
        { check: "token", status: "failure" },
      ],
    ])
    const elsewhere = await admin.hamlet(["doctor", "--only", "server", "--json"], {
      env: { ...env, HAMLET_URL: `${env.HAMLET_URL}/else` },
    })
    expect(toObjects(elsewhere.stdout)).toMatchObject([
      { check: "server", status: "failure", found: expect.stringContaining("not a Hamlet server") },
    ])
  })

  test("works without signing in, and uses HAMLET_TOKEN as the token of the command line", async () => {
    const stranger = await stage().holder("x", false)
    expect(await stranger.hamlet(["doctor", "--only", "server"])).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('sign in with "hamlet login"'),
    })
    // As a setting of a server it would be too short.
    const env = { HAMLET_URL: stage().url, HAMLET_TOKEN: "short" }
    const { stdout } = await stranger.hamlet(
      ["doctor", "--only", "machine", "--port", "0", "--json"],
      { env },
    )
    expect(toObjects(stdout)[0]).toMatchObject({ check: "settings", status: "ok" })
  })

  test("prints marks and colour at a terminal, and Ctrl-C ends it", async () => {
    const { admin } = stage()
    await using seen = admin.atTerminal(["doctor", "--only", "machine", "--port", "http"])
    const { exit, stdout } = await seen.ended()
    expect([exit, Bun.stripANSI(stdout).replaceAll("\r", "")]).toEqual([
      1,
      '✗ settings  Cannot use HAMLET_PORT "http": it must be a whole number from 0 to 65535\n  → docs/configuration.md says what each setting may be\n',
    ])
    expect(stdout).toContain("\x1b[31m✗\x1b[39m")
    // A database that never responds: the program is still at work when the key is pressed.
    const { promise: isAsked, resolve } = Promise.withResolvers<void>()
    using silent = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: () => resolve(), data() {} },
    })
    const url = `postgres://x:x@127.0.0.1:${silent.port}/x`
    const flags = ["--port", "0", "--database-url", url]
    await using interrupted = admin.atTerminal(["doctor", "--only", "machine", ...flags], {
      env: { NO_COLOR: "1" },
    })
    await Promise.all([isAsked, interrupted.waitFor(/✓ deno/)])
    interrupted.type("\x03")
    const ended = await interrupted.ended()
    expect([ended.exit, ended.stdout.includes("\x1b[")]).toEqual([130, false])
  })
})
