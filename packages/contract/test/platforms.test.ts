import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { appendFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import { findDeno } from "../../../scripts/find-deno.ts"
import { type ScriptedServer, type Seen, startScriptedServer } from "./support/scripted-server.ts"

const platformMsMax = 180_000
const chromiumPath = process.env.HAMLET_TEST_CHROMIUM ?? "/usr/bin/chromium"

let folder: string
let bundle: string
let server: ScriptedServer
let turns: Map<string, number>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hamlet-client-"))
  server = startScriptedServer(answer)
  const built = await Bun.build({
    entrypoints: [fileURLToPath(import.meta.resolve("./support/smoke.ts"))],
    target: "browser",
    minify: true,
    define: { SMOKE_BASE_URL: JSON.stringify(server.url) },
  })
  bundle = await (built.outputs[0] as Blob).text()
  await Bun.write(join(folder, "smoke.mjs"), bundle)
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

describe("the client, as one bundle without zod,", () => {
  const runtimes: [title: string, command: () => string[]][] = [
    ["Node", () => ["node", "smoke.mjs"]],
    ["Bun", () => [process.execPath, "smoke.mjs"]],
    ["Deno", () => [findDeno(), "run", "--allow-net", "--no-config", "--no-remote", "smoke.mjs"]],
  ]
  for (const [title, command] of runtimes) {
    test(
      `works in ${title}`,
      async () => {
        turns = new Map()
        const env = { ...process.env, DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1" }
        const run = Bun.spawn(command(), { cwd: folder, env, stdout: "pipe", stderr: "pipe" })
        const [stdout, stderr] = await Promise.all([
          new Response(run.stdout).text(),
          new Response(run.stderr).text(),
        ])
        expect(stderr).toBe("")
        expect(JSON.parse(stdout)).toEqual(expected)
        expect(await run.exited).toBe(0)
      },
      platformMsMax,
    )
  }

  test(
    "works in a browser",
    async () => {
      if (!existsSync(chromiumPath)) return skipBrowser()
      turns = new Map()
      const env = { ...process.env, TMPDIR: folder }
      const browser = await chromium.launch({
        executablePath: chromiumPath,
        args: ["--no-sandbox"],
        env,
        timeout: platformMsMax,
      })
      try {
        const page = await browser.newPage()
        page.setDefaultTimeout(platformMsMax)
        await page.goto(`${server.url}/page`)
        const result = await page.evaluate('import("/smoke.mjs").then((module) => module.result)')
        expect(result).toEqual(expected)
      } finally {
        await browser.close()
      }
    },
    platformMsMax,
  )

  test("does not contain zod", () => {
    expect(bundle).not.toContain("ZodObject")
    expect(bundle.length).toBeLessThan(28_000)
  })
})

/** What each step of the smoke program ends with. */
const expected = [
  ["json", { name: "hello", authorization: "Bearer secret" }],
  ["text", "export default 1"],
  ["nothing", null],
  ["body", { ifMatch: '"3"', key: "k", code: "é😀\n" }],
  ["etag", '"3"'],
  ["items", [1, 2, 3]],
  ["retry", { turn: 2 }],
  ["api error", ["ApiError", "user_not_found"]],
  ["redirect", ["ApiError", "unknown"]],
  ["timeout", ["ConnectionError"]],
  ["foreign link", ["LinkError"]],
  ["abort", ["Error: enough"]],
  ["refused", ["ConnectionError"]],
]

const val = "/v1/vals/0190a6b1-7e3c-7c4d-8f5e-0123456789ab"

/** The other end of the smoke program. */
function answer({ method, path, query, headers, body }: Seen): Response | Promise<Response> {
  const turn = turns.get(path) ?? 0
  turns.set(path, turn + 1)
  switch (`${method} ${path}`) {
    case "GET /page":
      return new Response("<!doctype html><title>smoke</title>", {
        headers: { "content-type": "text/html" },
      })
    case "GET /smoke.mjs":
      return new Response(bundle, { headers: { "content-type": "text/javascript" } })
    case `GET ${val}`:
      return Response.json({ name: "hello", authorization: headers.get("authorization") })
    case "GET /v/%40ada/hello%403":
      return new Response("export default 1")
    case `DELETE ${val}`:
      return new Response(null, { status: 204 })
    case `POST ${val}/versions`:
      return Response.json(
        {
          ifMatch: headers.get("if-match"),
          key: headers.get("idempotency-key"),
          ...JSON.parse(body),
        },
        { status: 201 },
      )
    case "GET /v1/alias/ada/hello":
      return Response.json({}, { headers: { etag: '"3"' } })
    case "GET /v1/vals":
      return query.get("offset")
        ? Response.json({ data: [3], links: { self: "" } })
        : Response.json({
            data: [1, 2],
            links: { self: "", next: `${server.url}/v1/vals?limit=${query.get("limit")}&offset=2` },
          })
    case "GET /v1/me":
      return turn < 2 ? Response.json({}, { status: 503 }) : Response.json({ turn })
    case "GET /docs":
      return Response.redirect(`${server.url}/page`)
    case "GET /metrics":
      return new Promise(() => {})
    case "GET /v1/me/tokens":
      return Response.json({
        data: [],
        links: { self: "", next: "http://localhost:1/v1/me/tokens" },
      })
    default:
      return Response.json(
        { statusCode: 404, code: "user_not_found", message: "There is none" },
        { status: 404 },
      )
  }
}

/**
 * The browser is the one platform that npm does not install: without it the run says so instead of
 * failing.
 */
async function skipBrowser(): Promise<void> {
  const note = "client in a browser: chromium is not installed"
  console.error(note)
  const { HAMLET_TEST_NOT_RUN } = process.env
  if (HAMLET_TEST_NOT_RUN) await appendFile(HAMLET_TEST_NOT_RUN, `${note}\n`)
}
