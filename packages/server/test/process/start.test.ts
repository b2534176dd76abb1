import { expect, test } from "bun:test"
import { mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@hamlet/contract/client"
import { raw, sql } from "@hamlet/database"
import { describeEachDatabase } from "../support/databases.ts"
import {
  chosenToken,
  openEmpty,
  openServerFixture,
  type ServerFixture,
} from "../support/server-fixture.ts"

describeEachDatabase("hamlet serve", (open) => {
  test("prints its address, the first user, the docs, and at its first start only the token and a first val", async () => {
    await using fixture = await openServerFixture(openEmpty(open))
    const hamlet = fixture.start()
    const baseUrl = await hamlet.listening()

    expect(baseUrl).toMatch(/^http:\/\/localhost:[1-9]\d+$/)
    const [, token = ""] = await hamlet.waitFor("stdout", /\n {2}token {2,}(\S+)\n/)
    const { pathname, hostname, port } = new URL(fixture.url ?? "none:")
    const database =
      fixture.url === undefined
        ? `SQLite in ${join(fixture.dataDir, "hamlet.db")}`
        : `PostgreSQL, database "${pathname.slice(1)}" on ${hostname} port ${port}`
    const [, link = ""] = await hamlet.waitFor("stdout", /\n {2}sign in {2,}(\S+)\n/)
    const [isolation = "", ...rest] =
      hamlet.stdout.match(/^ {2}isolation {3}.+\n(?: {14}\w.+\n)*/m) ?? []
    expect(isolation).toMatch(/bubblewrap|deno/)
    expect(rest).toEqual([])
    const commands = hamlet.stdout.match(/^curl .+$/gm) ?? []
    expect(commands.join("\n").split(`${baseUrl.replace("http://", "")}/`).length).toBe(3)
    expect(hamlet.stdout.replace(isolation, "")).toBe(
      [
        `Hamlet 0.3.0 listens at ${baseUrl}`,
        `  database    ${database}`,
        "  first user  ada",
        `  token       ${token}`,
        "              (shown only once: save it)",
        `  sign in     ${link}`,
        "              (works once, within an hour)",
        `  docs        ${baseUrl}/docs`,
        "  first val   made by these two commands",
        ...commands,
        "",
      ].join("\n"),
    )
    if (fixture.url === undefined)
      expect(Bun.spawnSync(["sh", "-c", commands.join(" && ")]).stdout.toString()).toEndWith(
        "Hello there",
      )
    const client = createClient({ baseUrl, token })
    expect(await client.getMe()).toMatchObject({
      username: "ada",
      links: { self: expect.stringContaining(`${baseUrl}/v1/users/`) },
    })
    expect((await client.createToken({ name: "everything", scopes: ["admin"] })).scopes).toEqual([
      "admin",
    ])
    expect(await client.getDocs()).toStartWith("<!doctype html>")
    expect(await signInBy(baseUrl, link)).toEqual([200, "ada"])
    expect(await signInBy(baseUrl, link)).toEqual([401, undefined])
    hamlet.signal("SIGTERM")
    await hamlet.ended()

    // At its second start, here without arguments, it prints no token, and keeps the first user and
    // token.
    const second = fixture.start([], { HAMLET_USER: "somebody_else" })
    const again = createClient({ baseUrl: await second.listening(), token })
    expect(second.stdout).not.toContain("token")
    expect(second.stdout).toContain("first user  ada")
    expect((await again.getMe()).username).toBe("ada")
    expect(await usernames(fixture)).toEqual(["ada"])
  })
})

test("hamlet serve prints a sign-in link at each start when it serves this machine only, and otherwise at the first; the token of HAMLET_TOKEN never", async () => {
  await using fixture = await openServerFixture()
  const linkAt = async (env: Record<string, string>) => {
    const { hamlet, baseUrl } = await fixture.serve(env)
    if (baseUrl.startsWith("http://localhost:"))
      expect((await createClient({ baseUrl, token: chosenToken }).getMe()).username).toBe("ada")
    hamlet.signal("SIGTERM")
    const { stdout, stderr } = await hamlet.ended()
    expect(stdout + stderr).not.toContain(chosenToken)
    expect(stdout).not.toContain("token")
    return /sign in {2,}(\S+)#code=hamlet_link_\w+\n/.exec(stdout)?.[1]
  }
  const behindProxy = { HAMLET_BASE_URL: "https://hamlet.example" }
  expect(await linkAt(behindProxy)).toBe("https://hamlet.example/sign-in")
  expect(await linkAt(behindProxy)).toBeUndefined()
  expect(await linkAt({ HAMLET_HOST: "0.0.0.0", HAMLET_ISOLATION: "deno" })).toBeUndefined()
  expect(await linkAt({})).toMatch(/^http:\/\/localhost:\d+\/sign-in$/)
  // A token that is there already is not added again.
  expect(await countTokens(fixture)).toBe(1)
})

test("hamlet serve reads flags, which override the environment", async () => {
  await using fixture = await openServerFixture()
  const elsewhere = await mkdtemp(join(tmpdir(), "hamlet-flags-"))
  try {
    const flags = {
      "--data-dir": elsewhere,
      "--user": "grace",
      "--token": chosenToken,
      "--base-url": "https://hamlet.example/",
      "--vals-domain": "vals.example:8443",
      "--log-level": "none",
      "--body-bytes-max": "1024",
      "--rate-per-token": "1",
    }
    const wrong = {
      HAMLET_USER: "not_me",
      HAMLET_BASE_URL: "http://wrong.example",
      HAMLET_BODY_BYTES_MAX: "4096",
      HAMLET_RATE_PER_TOKEN: "none",
    }
    const hamlet = fixture.start(
      // Without a command it serves.
      [...Object.entries(flags).flat(), "--port=0", "--host", "127.0.0.1"],
      wrong,
    )

    expect(await hamlet.listening()).toBe("https://hamlet.example")
    expect(hamlet.stdout).toContain("first user  grace")
    expect(hamlet.stdout).toContain(join(elsewhere, "hamlet.db"))
    expect(hamlet.stderr).toBe("")
    await hamlet.stop()
  } finally {
    await rm(elsewhere, { recursive: true })
  }
})

async function usernames(fixture: ServerFixture): Promise<readonly string[]> {
  const db = await fixture.connect()
  const rows = await db.read<{ username: string }>(sql`select username from users order by id`)
  await db.stop()
  return rows.map((row) => row.username)
}

test("hamlet serve runs vals under a strict umask, and hides the database from others", async () => {
  const strict = ["sh", "-c", 'umask 077; exec "$@"', "sh"]
  await using fixture = await openServerFixture(undefined, strict)
  const hamlet = fixture.start(["serve"], { HAMLET_TOKEN: chosenToken })
  const client = createClient({ baseUrl: await hamlet.listening(), token: chosenToken })
  expect(await client.evalCode({ code: "6 * 7", args: [] })).toBe(42)
  expect((await stat(join(fixture.dataDir, "hamlet.db"))).mode & 0o777).toBe(0o600)
})

/**
 * Signs in by a printed link, as a page of the server does, and gives the status and who it is
 * then.
 */
async function signInBy(
  baseUrl: string,
  link: string,
): Promise<readonly [number, string | undefined]> {
  const headers = { "x-hamlet-session": "1" }
  const [address, code] = link.split("#code=")
  expect(address).toBe(`${baseUrl}/sign-in`)
  const response = await fetch(`${baseUrl}/v1/sessions`, {
    method: "POST",
    headers,
    body: JSON.stringify({ code }),
  })
  const cookie = response.headers.get("set-cookie")?.split(";")[0]
  if (cookie === undefined) return [response.status, undefined]
  const { pageKey } = (await response.json()) as { pageKey: string }
  const me = (await (
    await fetch(`${baseUrl}/v1/me`, { headers: { "x-hamlet-session": pageKey, cookie } })
  ).json()) as { username: string }
  return [response.status, me.username]
}

async function countTokens(fixture: ServerFixture): Promise<number> {
  const db = await fixture.connect()
  const [row] = await db.read<{ count: number | string }>(
    sql`select count(*) as count from tokens where kind = 'token'`,
  )
  await db.stop()
  return Number(row?.count)
}

test("hamlet serve goes on when the database fails while the sign-in link is written", async () => {
  await using fixture = await openServerFixture()
  const first = await fixture.serve()
  first.hamlet.signal("SIGTERM")
  await first.hamlet.ended()
  const db = await fixture.connect()
  await db.write(function* () {
    yield raw(
      "create trigger no_links before insert on tokens when new.kind = 'link' begin select raise(abort, 'away'); end",
    )
  })
  await db.stop()

  const { hamlet, baseUrl } = await fixture.serve()

  expect(hamlet.stdout).not.toContain("sign in")
  await hamlet.waitFor("stderr", /"event":"sign_in_link_not_made"/)
  expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200)
})
