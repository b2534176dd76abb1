import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"
import { type TailedRun, VtClient } from "./vt-client.ts"

const title = "v2: vt tail of runs in sandboxes"

if (Bun.which("bwrap")) describe(title, define)
else notRun(title, "bubblewrap is not installed")

function define(): void {
  let fixture: ServerFixture
  let baseUrl: string
  let vt: VtClient
  beforeAll(async () => {
    fixture = await openServerFixture()
    baseUrl = (await fixture.serve({ HAMLET_LOG_LEVEL: "error" })).baseUrl
    vt = new VtClient(baseUrl, chosenToken)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  /** Requests the address of a file, which is below localhost. */
  async function visit(endpoint: string): Promise<string> {
    const { host, pathname } = new URL(endpoint)
    const headers = { host, "x-custom-header": "foobar", authorization: `Bearer ${chosenToken}` }
    // A busy machine may not start a process in time.
    return waitUntil(async () => {
      const response = await fetch(new URL(pathname, baseUrl), { headers })
      const text = await response.text()
      return response.status === 503 ? undefined : `${response.status} ${text}`
    })
  }

  test("shows requests to files of two branches, with headers and lines", async () => {
    const { sdk } = vt
    const val = await sdk.vals.create({ name: "tailed", privacy: "private" })
    const code = (text: string) =>
      `export default () => { console.log("${text}"); console.error("oh"); return new Response("${text}") }`
    const main = await sdk.valFiles.create(val.id, {
      path: "main.ts",
      type: "http",
      content: code("OK"),
    })
    const branch = await sdk.branches.create(val.id, { name: "other" })
    const other = await sdk.valFiles.update(val.id, {
      path: "main.ts",
      branch_id: branch.id,
      content: code("other"),
    })
    expect(other.links.endpoint).not.toBe(main.links.endpoint as string)
    const since = new Date()
    expect(await visit(main.links.endpoint ?? "")).toBe("200 OK")
    expect(await visit(other.links.endpoint ?? "")).toBe("200 other")
    const seen: TailedRun[] = []
    for await (const run of vt.tail([val.id, branch.id], { since, pauseMs: 50 })) {
      if (run.status !== "503") seen.push(run)
      if (seen.length === 2) break
    }
    expect(seen).toEqual(
      ["OK", "other"].map((text) => ({
        path: "main.ts",
        type: "http",
        status: "200",
        request: expect.stringMatching(/^GET http:\/\/[^/]+\.localhost:\d+\/$/),
        headers: expect.objectContaining({ "x-custom-header": "foobar" }),
        lines: [`stdout: ${text}`, "stderr: oh"],
      })),
    )
    for (const { headers } of seen) expect(Object.keys(headers)).not.toContain("authorization")
  })
}
