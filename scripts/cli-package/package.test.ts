import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../setup/root.mjs"
import { makePackage } from "./package.mjs"

describe("the package of the command line", () => {
  let folder = ""
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hamlet-package-"))
    // The package is installed as npm does it, without asking a registry for Bun.
    const installed = join(folder, "node_modules", "hamlet-vals")
    mkdirSync(installed, { recursive: true })
    const tarball = makePackage(folder)
    expect(
      spawnSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]).status,
    ).toBe(0)
    symlinkSync(join(root, "node_modules", "bun"), join(folder, "node_modules", "bun"))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  function hamlet(args: readonly string[], input = "") {
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      HAMLET_CONFIG_DIR: join(folder, "config"),
    }
    const launcher = join(folder, "node_modules", "hamlet-vals", "bin", "hamlet.mjs")
    return spawnSync("node", [launcher, ...args], { cwd: folder, env, input, encoding: "utf8" })
  }

  test("works with Node outside of a clone, against a server", async () => {
    const seen: string[] = []
    using server = Bun.serve({
      port: 0,
      fetch(request) {
        seen.push(`${new URL(request.url).pathname} ${request.headers.get("authorization")}`)
        return Response.json({ id: crypto.randomUUID(), username: "ada", email: null })
      },
    })
    const { promise, resolve } = Promise.withResolvers<number | null>()
    const launcher = join(folder, "node_modules", "hamlet-vals", "bin", "hamlet.mjs")
    const env = { PATH: process.env.PATH ?? "", HAMLET_CONFIG_DIR: join(folder, "config") }
    const child = Bun.spawn(["node", launcher, "login", server.url.origin], {
      cwd: folder,
      env,
      stdin: Buffer.from("a-token-of-somebody-0123456789-abcdef"),
      stdout: "pipe",
      onExit: (_child, code) => resolve(code),
    })
    expect([await promise, await new Response(child.stdout).text()]).toEqual([0, "ada\n"])
    expect(seen).toEqual(["/v1/me Bearer a-token-of-somebody-0123456789-abcdef"])
  })

  test("has the exit codes of the program, and says what needs a clone", () => {
    expect(hamlet(["--version"])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
    expect(hamlet(["nonsense"]).status).toBe(2)
    for (const args of [["serve"], ["restore", join(root, "package.json")]])
      expect(hamlet(args)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("the server is not installed here"),
      })
  })
})
