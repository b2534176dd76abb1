import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { notRun } from "@hamlet/kit/testing"
import { chromium } from "playwright-core"
import { describeSqlite } from "../support/databases.ts"
import type { SdkAccount } from "./sdk-operations.ts"
import { toResults } from "./sdk-results.ts"
import { openSdkServer, type SdkServer } from "./sdk-server.ts"

const platformMsMax = 180_000
const chromiumPath =
  process.env.HAMLET_TEST_CHROMIUM ??
  ["/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium"].find((path) =>
    existsSync(path),
  ) ??
  ""

describeSqlite("v2: all operations of the official client", (open) => {
  let server: SdkServer
  let folder: string

  beforeAll(async () => {
    server = await openSdkServer(open)
    folder = await mkdtemp(join(tmpdir(), "hamlet-v2-"))
  })
  afterAll(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  /** The client and its operations as one script for a new account. */
  async function build(): Promise<{ readonly script: string; readonly account: SdkAccount }> {
    const account = await server.addAccount()
    const built = await Bun.build({
      entrypoints: [fileURLToPath(import.meta.resolve("./sdk-smoke.ts"))],
      target: "browser",
      define: { SDK_ACCOUNT: JSON.stringify(account) },
    })
    return { script: await (built.outputs[0] as Blob).text(), account }
  }

  test(
    "work in Node",
    async () => {
      const { script, account } = await build()
      await Bun.write(join(folder, "smoke.mjs"), script)
      const run = Bun.spawn(["node", "smoke.mjs"], { cwd: folder, stdout: "pipe", stderr: "pipe" })
      const [stdout, stderr] = await Promise.all([
        new Response(run.stdout).text(),
        new Response(run.stderr).text(),
      ])
      expect(stderr).toBe("")
      expect(JSON.parse(stdout)).toEqual(toResults(account))
    },
    platformMsMax,
  )

  test(
    "work in Chromium, from a page of another origin",
    async () => {
      if (!existsSync(chromiumPath))
        return notRun("v2 client in Chromium", "Chromium is not installed")
      const { script, account } = await build()
      const pages = servePage(script)
      const browser = await chromium.launch({
        executablePath: chromiumPath,
        args: ["--no-sandbox", "--disable-gpu"],
        env: { ...process.env, TMPDIR: folder },
        timeout: platformMsMax,
      })
      try {
        const page = await browser.newPage()
        page.setDefaultTimeout(platformMsMax)
        await page.goto(pages.url.href)
        const before = server.loopback.seen.length
        const result = await page.evaluate('import("/smoke.mjs").then((module) => module.result)')
        expect(result).toEqual(toResults(account))
        const seen = server.loopback.seen.slice(before)
        const preflight = seen.find(
          ({ method, path }) => method === "OPTIONS" && path === "/v2/vals",
        )
        expect(preflight?.headers.get("access-control-request-headers")).toContain(
          "x-stainless-lang",
        )
        expect(seen.some(({ headers }) => headers.get("origin") === pages.url.origin)).toBe(true)
      } finally {
        await browser.close()
        await pages.stop(true)
      }
    },
    platformMsMax,
  )
})

/** A page of its own origin, with the script. */
function servePage(script: string): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname === "/smoke.mjs"
        ? new Response(script, { headers: { "content-type": "text/javascript" } })
        : new Response("<!doctype html>", { headers: { "content-type": "text/html" } }),
  })
}
