import { describe, expect, test } from "bun:test"
import { createMask } from "@hamlet/kit"
import type { OutgoingRequest } from "../../program/outgoing-request.ts"
import type { RunListener } from "../../program/runner.ts"
import { recordRequest } from "./request-record.ts"

const urlCharsMax = 1_000
const secretsMax = 100

function createRun(listsRequests = true): RunListener & { readonly list: OutgoingRequest[] } {
  const list: OutgoingRequest[] = []
  const sent = (request: OutgoingRequest) => void list.push(request)
  return { id: "run", depth: 0, listsRequests, list, sent, log() {}, skipLogs() {}, fail() {} }
}

function toRequest(url: string, blocked: string | null = null): OutgoingRequest {
  return {
    at: 0,
    method: "GET",
    url,
    status: null,
    blocked,
    bytesSent: 1,
    bytesReceived: 2,
    durationMs: 0,
  }
}

async function list(url: string, values: Record<string, string>): Promise<string | undefined> {
  const mask = await createMask(new Map(Object.entries(values)))
  const run = createRun()
  recordRequest(run, toRequest(url), (text, charsMax) => mask.hide(text, charsMax), urlCharsMax)
  return run.list[0]?.url
}

/** Escapes that are invalid, those of long and of short characters, and a plain text. */
const longUrls: readonly string[] = ["z%FF", "%FF%C3%A4", "%e2%82%ac", "%41", "+%2B", "a"].map(
  (part) => `http://10.0.0.1/${part.repeat(Math.ceil(60_000 / part.length))}`,
)

describe("recordRequest", () => {
  test.each([
    ["as it is", "http://a.test/?k=hunter22", "http://a.test/?k=[secret KEY]"],
    ["percent-encoded", "http://a.test/%68unter%32%32?a=%C3%A4", "http://a.test/[secret KEY]?a=ä"],
    [
      "beside invalid escapes",
      "http://a.test/%FF%zz/hunter%32%32",
      "http://a.test/�%zz/[secret KEY]",
    ],
    ["not, if there is none", "http://a.test/%68unter?a=b+c%FF", "http://a.test/%68unter?a=b+c%FF"],
  ])("masks a secret %s", async (_, url, listed) => {
    expect(await list(url, { KEY: "hunter22" })).toBe(listed)
  })

  test("masks a secret with a space that a form has encoded", async () => {
    expect(await list("http://a.test/?k=hunter+two", { KEY: "hunter two" })).toBe(
      "http://a.test/?k=[secret KEY]",
    )
  })

  test("masks a secret at the end of what is listed, also if its rest is beyond", async () => {
    for (const secret of ["hunter22", "h%75nter22"])
      for (let before = urlCharsMax - 40; before < urlCharsMax; before++) {
        const url = "http://a.test/".padEnd(before, "x") + secret + "y".repeat(9 * urlCharsMax)
        const listed = (await list(url, { KEY: "hunter22" })) ?? ""
        expect(listed.length).toBeLessThanOrEqual(urlCharsMax)
        expect(listed).not.toContain("hunter2")
        expect(listed).toEndWith("…")
      }
  })

  test("gives the mask no more than it can list, however long the URL is", () => {
    for (const url of longUrls) {
      let charsRead = 0
      const run = createRun()
      const mask = (text: string, charsMax: number) => {
        charsRead += Math.min(text.length, charsMax)
        return text.slice(0, charsMax)
      }
      recordRequest(run, toRequest(url, url), mask, urlCharsMax)
      expect(charsRead).toBeLessThanOrEqual(5 * urlCharsMax)
      expect(run.list[0]?.url).toEndWith("…")
      expect(run.list[0]?.blocked).toHaveLength(urlCharsMax)
    }
  })

  test("takes little time for the worst URLs, with the most secrets of the worst kind", async () => {
    const values = new Map(
      Array.from({ length: secretsMax }, (_, index) => [
        `KEY_${index}`,
        `${"a".repeat(127 - index)}b${index}`,
      ]),
    )
    const mask = await createMask(values)
    const run = createRun()
    const measure = () => {
      const before = process.cpuUsage()
      for (let count = 0; count < 40; count++)
        for (const url of longUrls)
          recordRequest(
            run,
            toRequest(url, "10.0.0.1 is a private address"),
            (text, charsMax) => mask.hide(text, charsMax),
            urlCharsMax,
          )
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    // 240 requests. One of them alone took 100 ms before.
    expect(Math.min(...Array.from({ length: 5 }, measure))).toBeLessThan(1_000)
  })

  test("reads no text of a request that is not listed", () => {
    const run = createRun(false)
    const mask = () => {
      throw new Error("nothing is to be masked")
    }
    recordRequest(run, toRequest("http://a.test/", "refused"), mask, urlCharsMax)
    recordRequest(run, toRequest("http://a.test/"), mask, urlCharsMax)
    expect(run.list.map(({ blocked, bytesSent }) => [blocked, bytesSent])).toEqual([
      ["", 1],
      [null, 1],
    ])
  })
})
