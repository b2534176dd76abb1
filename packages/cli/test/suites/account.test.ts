import { describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Started } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"
import { until } from "../support/until.ts"

describe("login, whoami, server", () => {
  const stage = useStage()

  test("login checks the token from standard input with the server, and stores it with mode 0600", async () => {
    const ada = await stage().holder((await stage().person("login1")).token, false)

    expect(await ada.hamlet(["whoami"])).toMatchObject({
      exit: 3,
      stdout: "",
      stderr: expect.stringMatching(/^Cannot .+"hamlet login URL"\n$/),
    })
    expect(
      await ada.print(["login", stage().url, "--name", "here"], { input: `${ada.token}\n` }),
    ).toBe("login1\n")

    const path = join(ada.configDir, "servers.json")
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      current: "here",
      servers: { here: { url: stage().url, token: ada.token } },
    })
    expect([statSync(path).mode & 0o777, statSync(ada.configDir).mode & 0o777]).toEqual([
      0o600, 0o700,
    ])
    expect(await ada.print(["whoami"])).toBe(
      `username\tlogin1\nemail\t\nserver\there\nurl\t${stage().url}\n`,
    )
    expect(await ada.json(["whoami"])).toMatchObject([
      { username: "login1", server: { name: "here", url: stage().url } },
    ])
  })

  test("login stores no invalid token, and names the server that refused it", async () => {
    const nobody = await stage().holder("not-a-token-of-anybody-0123456789", false)
    const ended = await nobody.hamlet(["login", stage().url], { input: nobody.token })
    expect(ended).toMatchObject({
      exit: 3,
      stdout: "",
      stderr: expect.stringMatching(/^Cannot .+; sign in again with "hamlet login"\n$/),
    })
    expect(existsSync(nobody.configDir)).toBe(false)
    expect(JSON.stringify(ended)).not.toContain(nobody.token)
    expect((await nobody.hamlet(["login", stage().url], { input: "\n" })).exit).toBe(2)
    expect((await nobody.hamlet(["login", stage().url], { input: "ä token" })).exit).toBe(2)
    for (const url of ["localhost:8080", "ftp://x", "http://a:b@localhost"])
      expect((await nobody.hamlet(["login", url], { input: "x" })).exit).toBe(2)
  })

  test("open signs a browser in once: it prints the link in a pipe, and calls the browser at a terminal", async () => {
    const ada = await stage().person("opener")
    const signIn = async (link: string) => {
      const [address, code] = link.split("#code=")
      expect(address).toBe(`${stage().url}/sign-in`)
      const init = {
        method: "POST",
        headers: { "x-hamlet-session": "1" },
        body: JSON.stringify({ code }),
      }
      return (await fetch(`${stage().url}/v1/sessions`, init)).status
    }
    const printed = (await ada.print(["open"])).trim()
    expect([await signIn(printed), await signIn(printed)]).toEqual([200, 401])
    const [link] = (await ada.json(["open", "--print"])) as [{ url: string; expiresAt: string }]
    expect([Object.keys(link), await signIn(link.url)]).toEqual([["url", "expiresAt"], 200])

    const browser = join(ada.folder, "browser")
    writeFileSync(
      browser,
      `#!/bin/sh\nprintf %s "$1" > ${ada.folder}/opened.tmp && mv ${ada.folder}/opened.tmp ${ada.folder}/opened\n`,
    )
    chmodSync(browser, 0o755)
    await using opened = ada.atTerminal(["open"], { env: { BROWSER: browser } })
    const { exit, stdout } = await opened.ended()
    expect([exit, stdout.includes("code=")]).toEqual([0, false])
    await until(() => existsSync(join(ada.folder, "opened")), "the browser to be opened")
    expect(await signIn(readFileSync(join(ada.folder, "opened"), "utf8"))).toBe(200)

    await using alone = ada.atTerminal(["open"], { env: { BROWSER: "no-such-browser" } })
    const shown = await alone.ended()
    expect(shown.exit).toBe(0)
    expect(await signIn(/http\S+#code=\w+/.exec(shown.stdout)?.[0] ?? "")).toBe(200)
  })

  test("login makes a folder and a file that were open to others private", async () => {
    const ada = await stage().holder((await stage().person("login2")).token, false)
    mkdirSync(ada.configDir, { mode: 0o755 })
    const path = join(ada.configDir, "servers.json")
    writeFileSync(path, "{}", { mode: 0o644 })
    chmodSync(path, 0o644)
    await ada.print(["login", stage().url], { input: ada.token })
    expect([statSync(path).mode & 0o777, statSync(ada.configDir).mode & 0o777]).toEqual([
      0o600, 0o700,
    ])
  })

  test("login prompts on a terminal without echo, and Ctrl-C there changes nothing", async () => {
    const ada = await stage().holder((await stage().person("login3")).token, false)
    await using asked = ada.atTerminal(["login", stage().url])
    await asked.waitFor(/Token for \S+: $/)
    asked.type(`wrong\x15${ada.token}x\x7f\r`)
    const { exit, stdout } = await asked.ended()
    expect([exit, stdout.includes("Signed in")]).toEqual([0, true])
    expect(stdout).not.toContain(ada.token.slice(0, 12))

    const bob = await stage().holder(ada.token, false)
    await using interrupted = bob.atTerminal(["login", stage().url])
    await interrupted.waitFor(/Token for/)
    interrupted.type("half\x03")
    expect((await interrupted.ended()).exit).toBe(130)
    expect(existsSync(bob.configDir)).toBe(false)
  })

  test("login on a terminal waits for the browser, in which the code was entered", async () => {
    const { token } = await stage().person("login4")
    const ada = await stage().holder(token, false)
    const decide = async (code: string, scopes: readonly string[]) => {
      const response = await fetch(`${stage().url}/v1/me/authorizations`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ query: `user_code=${code}`, scopes }),
      })
      expect(response.status).toBe(200)
    }
    const readCode = async (asked: Started) => {
      const [, code = ""] = await asked.waitFor(/([B-Z]{4}-[B-Z]{4})[\s\S]*Token for \S+: $/)
      return code
    }
    await using waiting = ada.atTerminal(["login", stage().url])
    await using refused = ada.atTerminal(["login", stage().url])
    const shown = await readCode(waiting)
    await decide(await readCode(refused), [])
    // Enter alone waits for the browser.
    waiting.type("\r")
    await decide(shown, ["user:read", "val:read"])
    expect(await waiting.ended()).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/Signed in to \S+ as .*login4/),
    })
    const ended = await refused.ended()
    expect([ended.exit, ended.stdout]).toEqual([3, expect.stringContaining("it was refused")])
    // The token is the one that was allowed, and no other.
    expect(await ada.json(["whoami"])).toMatchObject([{ username: "login4" }])
    expect(await ada.json(["val", "list"])).toEqual([])
    expect((await ada.hamlet(["blob", "list"])).exit).toBe(3)
    const saved = readFileSync(join(ada.configDir, "servers.json"), "utf8")
    expect(saved).not.toContain(token)
  })

  test("login on a terminal ends with Ctrl-C while it waits for the browser", async () => {
    const nobody = await stage().holder("none", false)
    await using waiting = nobody.atTerminal(["login", stage().url])
    await waiting.waitFor(/Token for \S+: $/)
    waiting.type("\r")
    await waiting.waitFor(/Token for \S+: \r?\n/)
    waiting.type("\x03")
    expect((await waiting.ended()).exit).toBe(130)
    expect(existsSync(nobody.configDir)).toBe(false)
  })

  test("server list, use and rm know several servers by name, and --server asks one of them", async () => {
    const [ada, bob] = [await stage().person("several1"), await stage().person("several2")]
    await ada.print(["login", stage().url, "--name", "other"], { input: bob.token })

    expect(await ada.print(["server", "list"])).toBe(
      `\ttest\t${stage().url}\tseveral1\n*\tother\t${stage().url}\tseveral2\n`,
    )
    const [name, url] = [
      await ada.json(["whoami"]),
      await ada.json(["whoami", "--server", "test"]),
    ].map(([me]) => me.username)
    expect([name, url]).toEqual(["several2", "several1"])
    expect(await ada.json(["--server", "test", "whoami"])).toMatchObject([{ username: "several1" }])
    expect(await ada.print(["server", "use", "test"])).toBe("test\n")
    expect(await ada.json(["whoami"])).toMatchObject([{ username: "several1" }])
    expect(await ada.hamlet(["whoami", "--server", "third"])).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('"third"'),
    })
    expect((await ada.hamlet(["server", "use", "third"])).exit).toBe(4)
    expect(await ada.print(["server", "rm", "test"])).toBe("test\n")
    expect(await ada.json(["server", "list"])).toEqual([
      { name: "other", url: stage().url, username: "several2", isCurrent: false },
    ])
    expect(await ada.hamlet(["whoami"])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('"hamlet server use"'),
    })
  })

  test("HAMLET_URL and HAMLET_TOKEN take precedence over saved servers, and --server over both", async () => {
    const [ada, bob] = [await stage().person("env1"), await stage().person("env2")]
    const env = { HAMLET_URL: `${stage().url}/`, HAMLET_TOKEN: bob.token }
    expect(await ada.json(["whoami"], { env })).toMatchObject([
      { username: "env2", server: { name: null } },
    ])
    expect(await ada.json(["whoami"], { env: { HAMLET_TOKEN: bob.token } })).toMatchObject([
      { username: "env2", server: { name: "test" } },
    ])
    expect(await ada.json(["whoami"], { env: { HAMLET_URL: stage().url } })).toMatchObject([
      { username: "env1", server: { name: "test" } },
    ])
    expect(await ada.json(["whoami", "--server", "test"], { env })).toMatchObject([
      { username: "env1" },
    ])
    expect((await ada.hamlet(["whoami"], { env: { HAMLET_TOKEN: "with space" } })).exit).toBe(2)
  })

  test("an invalid servers.json is reported and not overwritten", async () => {
    const ada = await stage().person("broken1")
    const path = join(ada.configDir, "servers.json")
    for (const text of ["{", "[]1", '{"servers":{"a":{"url":1}}}']) {
      writeFileSync(path, text)
      expect(await ada.hamlet(["whoami"])).toMatchObject({
        exit: 1,
        stderr: expect.stringContaining(path),
      })
      expect(readFileSync(path, "utf8")).toBe(text)
    }
  })
})
