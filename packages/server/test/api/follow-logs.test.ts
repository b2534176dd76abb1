import { describe, expect, test } from "bun:test"
import { createRunStore } from "../../src/storage/runs/runs.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { openAgain } from "../support/databases.ts"
import { type ApiSuite, describeApi, refusalOf } from "./suite.ts"

const events = { accept: "text/event-stream" }
const line = (message: string) => ({
  at: "2024-05-01T12:00:00.001Z",
  level: "log" as const,
  message,
})

describeApi("api/follow-logs", (suite) => {
  describe("GET /v1/runs/{run_id}/logs as a stream of events", () => defineFollow(suite))
})

function defineFollow(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const at = (id: string) => `/v1/runs/${id}/logs`

  async function openStream(id: string, as: TestUser, headers: Record<string, string> = {}) {
    const response = await suite.api.hamlet.app.request(testBaseUrl + at(id), {
      headers: { authorization: `Bearer ${as.token}`, ...events, ...headers },
    })
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ""
    return {
      reader,
      /** Reads on until the text has come, and gives all that has. */
      async readUntil(wanted: string): Promise<string> {
        while (!text.includes(wanted)) {
          const { done, value } = await reader.read()
          if (done) throw new Error(`the stream ended before "${wanted}":\n${text}`)
          text += new TextDecoder().decode(value)
        }
        return text
      },
    }
  }

  test("sends all lines of an ended run, and its status", async () => {
    const ada = await person()
    const made = await run(await val(ada), {
      logs: [line("one"), line("two")],
      logsTruncated: true,
      status: "failed",
    })
    const answer = expectStatus(
      await call("GET", at(made.id), {
        as: ada,
        headers: { accept: "text/html, Text/Event-Stream;q=0.9" },
      }),
      200,
    )
    expect(answer.text.split("\n\n")).toEqual([
      `id: 0\nevent: log\ndata: ${JSON.stringify(line("one"))}`,
      `id: 1\nevent: log\ndata: ${JSON.stringify(line("two"))}`,
      'event: end\ndata: {"status":"failed","logsTruncated":true}',
      "",
    ])
    expect(answer.headers.get("cache-control")).toBe("no-store")
  })

  test("continues after Last-Event-ID", async () => {
    const ada = await person()
    const made = await run(await val(ada), { logs: [line("one"), line("two"), line("three")] })
    const ids = async (seen: string) => {
      const { text } = expectStatus(
        await call("GET", at(made.id), { as: ada, headers: { ...events, "last-event-id": seen } }),
        200,
      )
      return Array.from(text.matchAll(/^id: (\d+)$/gm), ([, id]) => Number(id))
    }
    expect(await ids("")).toEqual([0, 1, 2])
    expect(await ids("0")).toEqual([1, 2])
    expect(await ids("2")).toEqual([])
    expect(await ids("999999999")).toEqual([])
    for (const wrong of ["-1", "1.5", "x", "9999999999", "1,2"]) {
      const refused = await call("GET", at(made.id), {
        as: ada,
        headers: { ...events, "last-event-id": wrong },
      })
      expect([wrong, ...refusalOf(refused)]).toEqual([wrong, 400, "invalid_request"])
    }
  })

  test("sends logs of a running val, and its cancellation", async () => {
    const ada = await person()
    const code = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'
    const hanging = await val(ada, { code })
    const { id } = expectStatus(
      await call("POST", `/v1/vals/${hanging.id}/runs`, {
        as: ada,
        headers: { prefer: "respond-async" },
      }),
      202,
    ).json
    const { readUntil, reader } = await openStream(id, ada)
    expect(await readUntil("begun")).toStartWith("id: 0\nevent: log\n")
    expectStatus(await call("POST", `/v1/runs/${id}/cancel`, { as: ada }), 200)
    expect(await readUntil("event: end")).toContain('{"status":"cancelled","logsTruncated":false}')
    expect((await reader.read()).done).toBe(true)
  })

  test("sends logs of a run on another node as that node records them", async () => {
    const ada = await person()
    const made = await run(await val(ada), {
      status: "running",
      endedAt: null,
      logs: [line("one")],
    })
    const other = await openAgain(suite.database)
    const runs = createRunStore(other)
    const { readUntil } = await openStream(made.id, ada)
    await readUntil("one")
    await runs.record([{ ...made, logs: [line("one"), line("two")] }])
    await readUntil("two")
    await runs.record([
      {
        ...made,
        status: "succeeded",
        endedAt: made.startedAt + 1,
        logs: [line("one"), line("two"), line("three")],
      },
    ])
    const text = await readUntil("event: end")
    expect(Array.from(text.matchAll(/"message":"(\w+)"/g), ([, message]) => message ?? "")).toEqual(
      ["one", "two", "three"],
    )
    await other.stop()
  })

  test("stops polling when the client disconnects", async () => {
    const ada = await person()
    const made = await run(await val(ada), {
      status: "running",
      endedAt: null,
      logs: [line("one")],
    })
    const followed = await Promise.all(Array.from({ length: 50 }, () => openStream(made.id, ada)))
    for (const { readUntil } of followed) await readUntil("one")
    expect(refusalOf(await call("GET", at(made.id), { as: ada, headers: events }))).toEqual([
      429,
      "rate_limited",
    ])
    for (const { reader } of followed) await reader.cancel()
    const { readUntil, reader } = await openStream(made.id, ada)
    await readUntil("one")
    await reader.cancel()
  })

  test("requires access to the run, and HEAD returns the content type without following", async () => {
    const [ada, bob] = [await person(), await person()]
    const made = await run(await val(ada), { status: "running", endedAt: null })
    expect(refusalOf(await call("GET", at(made.id), { as: bob, headers: events }))).toEqual([
      404,
      "run_not_found",
    ])
    const head = expectStatus(await call("HEAD", at(made.id), { as: ada, headers: events }), 200)
    expect(head.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
  })
}
