import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { ApiError, createClient } from "@hamlet/contract/client"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

const unpacked = fileURLToPath(new URL("../../../../.tools/bubblewrap", import.meta.url))
/** Everything else that a sandbox needs is there, so that only bubblewrap is missed. */
const otherPrograms = ["sh", "setpriv", "ldd"]

/** A fixture on a machine without bubblewrap. */
async function openWeakFixture(): Promise<{
  readonly fixture: ServerFixture
  readonly env: Readonly<Record<string, string>>
}> {
  const fixture = await openServerFixture()
  const programs = join(dirname(fixture.dataDir), "bin")
  mkdirSync(programs)
  for (const name of otherPrograms) {
    const path = Bun.which(name)
    if (path) symlinkSync(path, join(programs, name))
  }
  return {
    fixture,
    env: { PATH: programs, HAMLET_PROCESSES_READY: "0", HAMLET_LOG_LEVEL: "none" },
  }
}

const fetching = `export default async () => {
  const said = []
  for (const reach of [() => fetch("http://example.com/"), () => new WebSocket("ws://example.com/")])
    try { await reach() } catch (error) { said.push(error.message) }
  return [...said, await (await fetch("data:,here")).text()]
}`

describe.skipIf(existsSync(unpacked))("hamlet serve without bubblewrap", () => {
  test("warns everywhere that it is for trusted code only, until the operator chooses it", async () => {
    const { fixture, env } = await openWeakFixture()
    await using _stage = fixture
    const { hamlet, baseUrl } = await fixture.serve(env)
    const client = createClient({ baseUrl, token: chosenToken })
    const sentences = [
      "Deno's permissions alone",
      "no network",
      "for one user on this machine only; install bubblewrap",
    ]

    const { isolation, warnings } = await client.getReadiness()
    expect(isolation).toBe("deno")
    for (const sentence of sentences) {
      expect(hamlet.stdout).toContain(sentence)
      expect(warnings.join("\n")).toContain(sentence)
      expect(
        (await (await fetch(baseUrl)).text()).replaceAll("&#39;", "'").replaceAll("&apos;", "'"),
      ).toContain(sentence)
    }
    const refused = await client.createUser({ username: "bob" }).catch((error: unknown) => error)
    expect(refused instanceof ApiError && [refused.status, refused.code]).toEqual([
      403,
      "one_user_only",
    ])
    const { id } = await client.createVal({ code: fetching })
    const noNetwork = expect.stringMatching(/^Cannot reach the network: .+ install bubblewrap$/)
    expect((await client.createRun({ val_id: id })).returnValue).toEqual([
      noNetwork,
      noNetwork,
      "here",
    ])
    hamlet.signal("SIGTERM")
    await hamlet.ended()

    const chosen = await fixture.serve({ ...env, HAMLET_ISOLATION: "deno", HAMLET_HOST: "0.0.0.0" })
    const again = createClient({ baseUrl: chosen.baseUrl, token: chosenToken })
    expect((await again.createUser({ username: "bob" })).username).toBe("bob")
    expect((await again.getReadiness()).warnings).toHaveLength(2)
    expect(await (await fetch(chosen.baseUrl)).text()).not.toContain("Deno's permissions")
    chosen.hamlet.signal("SIGTERM")
    await chosen.hamlet.ended()

    const several = await fixture.start(["serve"], env).ended()
    expect(several).toMatchObject({ exitCode: 1, stdout: "" })
    expect(several.stderr).toMatch(
      /^Cannot start a server with several users: .+ install bubblewrap .+\n$/,
    )
  })

  test.each([
    ["a network", { HAMLET_HOST: "0.0.0.0" }],
    ["a proxy on this machine", { HAMLET_BASE_URL: "https://hamlet.example" }],
    [
      "a network, although it is said to be private",
      { HAMLET_HOST: "0.0.0.0", HAMLET_PUBLIC: "no" },
    ],
  ])("refuses to serve %s", async (_name, more) => {
    const { fixture, env } = await openWeakFixture()
    await using _stage = fixture
    const { exitCode, stdout, stderr } = await fixture.start(["serve"], { ...env, ...more }).ended()
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
    expect(stderr).toMatch(
      /^Cannot serve other machines, at .+ install bubblewrap .+HAMLET_ISOLATION=deno.+\n$/,
    )
  })
})
