import { describe, expect, test } from "bun:test"
import { createRunStore } from "../../src/storage/runs/runs.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { openAgain } from "../support/databases.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

const events = { accept: "text/event-stream" }
const line = (message: string) => ({
  at: "2024-05-01T12:00:00.001Z",
  level: "log" as const,
  message,
})

describeSqliteApi("api/follow-logs", (suite) => {
  describe("GET /v1/runs/{run_id}/logs as a stream of events", () => defineFollow(suite))
  describe("GET /v1/me/logs", () => defineAccount(suite))
})

async function openEvents({ api }: ApiSuite, path: string, as: TestUser) {
  const response = await api.hamlet.app.request(testBaseUrl + path, {
    headers: { authorization: `Bearer ${as.token}`, ...events },
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

function defineFollow(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const at = (id: string) => `/v1/runs/${id}/logs`
  const openStream = (id: string, as: TestUser) => openEvents(suite, at(id), as)

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

function defineAccount(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const path = "/v1/me/logs"
  const saying = (text: string) => `export default () => { console.log(${JSON.stringify(text)}) }`
  const hanging = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'
  const start = async (id: string, as: TestUser, headers: Record<string, string> = {}) => {
    const response = await call("POST", `/v1/vals/${id}/runs`, { as, headers })
    expect([200, 202]).toContain(response.status)
    return response.json.id as string
  }
  const startHanging = (id: string, as: TestUser) => start(id, as, { prefer: "respond-async" })
  /** The events of a stream, as pairs of a name and data. */
  const parse = (text: string) =>
    Array.from(text.matchAll(/^event: (\w+)\ndata: (.*)$/gm), ([, name = "", data = ""]) => ({
      name,
      data: JSON.parse(data),
    }))
  /** Opened, so that later lines are sent. */
  async function open(as: TestUser) {
    const stream = await openEvents(suite, path, as)
    await stream.readUntil("event: open")
    return stream
  }

  test("lists the latest lines, and leaves out those that would make the list too long", async () => {
    const ada = await person()
    const { id } = await val(ada, {
      code: `export default (index) => { for (let line = 0; line < 9; line++) console.log(index + "\\u0001".repeat(10_000)) }`,
    })
    for (let index = 0; index < 8; index++)
      await call("POST", `/v1/vals/${id}/runs`, { as: ada, body: { args: [index] } })
    await start((await val(ada, { code: saying("the end") })).id, ada)
    const { status, json } = await call("GET", path, { as: ada })
    expect(status).toBe(200)
    const messages = (json.data as { line: { message: string } }[]).map(({ line }) =>
      line.message.slice(0, 7),
    )
    // 59 lines of 10,001 characters and one of seven are 590,066; with one line more they are too many.
    expect(messages.length).toBe(60)
    expect([...messages].sort()).toEqual(messages)
    expect(messages.at(-1)).toBe("the end")
  })

  test("sends the lines and the end of each run of the account, whichever val it is of", async () => {
    const [ada, bob] = [await person(), await person()]
    const [hers, his] = [
      await val(ada, { code: saying("from ada's val") }),
      await val(bob, { code: 'export default () => { throw new Error("no luck") }' }),
    ]
    const { readUntil, reader } = await open(bob)
    const first = await start(hers.id, bob)
    const second = await start(his.id, bob)
    await readUntil("no luck")
    const [opened, log, end, failure] = parse(await readUntil(second))
    expect(opened).toEqual({ name: "open", data: {} })
    expect(log).toMatchObject({
      name: "log",
      data: { runId: first, val: { id: hers.id }, line: { message: "from ada's val" } },
    })
    expect(end).toMatchObject({ name: "end", data: { id: first, status: "succeeded" } })
    expect(failure).toMatchObject({
      name: "end",
      data: { id: second, status: "failed", error: { message: "no luck" } },
    })
    await reader.cancel()
  })

  test("sends nothing of other accounts, not even of the caller's own vals", async () => {
    const [ada, bob] = [await person(), await person()]
    const made = await val(ada, { code: saying("said") })
    const secret = await val(ada, { code: saying("kept private"), privacy: "private" })
    const [hers, his] = [await open(ada), await open(bob)]
    const byAda = [await start(made.id, ada), await start(secret.id, ada)]
    const byBob = await start(made.id, bob)
    const toBob = await his.readUntil(`"id":"${byBob}"`)
    for (const text of [...byAda, "kept private"]) expect(toBob).not.toContain(text)
    const marker = await start(made.id, ada)
    expect(await hers.readUntil(`"id":"${marker}"`)).not.toContain(byBob)
    for (const { reader } of [hers, his]) await reader.cancel()
  })

  test("stops with a val that becomes private, in the stream and in the list", async () => {
    const [ada, bob] = [await person(), await person()]
    const [hers, his] = [
      await val(ada, { code: hanging }),
      await val(bob, { code: saying("marker") }),
    ]
    const { readUntil, reader } = await open(bob)
    const id = await startHanging(hers.id, bob)
    await readUntil("begun")
    const list = async () => (await call("GET", path, { as: bob })).json.data
    await run(hers, { accountId: bob.id, logs: [line("listed")], lastLine: "listed" })
    expect(await list()).toContainEqual(expect.objectContaining({ line: line("listed") }))
    const hide = { privacy: "private" }
    expectStatus(await call("PUT", `/v1/vals/${hers.id}`, { as: ada, body: hide }), 204)
    expect(await list()).toEqual([])
    expectStatus(await call("POST", `/v1/runs/${id}/cancel`, { as: ada }), 200)
    await start(his.id, bob)
    const text = await readUntil("marker")
    expect(parse(text).filter(({ name, data }) => name === "end" && data.id === id)).toEqual([])
    await reader.cancel()
  })

  test("sends the lines of runs on other nodes, as those record them", async () => {
    const ada = await person()
    const made = await val(ada)
    const { readUntil, reader } = await open(ada)
    const other = await openAgain(suite.database)
    const about = { startedAt: Date.now() + 60_000, logs: [line("one")], lastLine: "one" }
    const running = await run(made, { ...about, status: "running", endedAt: null })
    await readUntil('"message":"one"')
    const logs = [line("one"), line("two")]
    const ended = { ...running, status: "succeeded" as const, endedAt: running.startedAt + 1 }
    await createRunStore(other).record([{ ...ended, logs, lastLine: "two" }])
    const found = parse(await readUntil("event: end"))
    expect(found.map(({ name, data }) => data.line?.message ?? name)).toEqual([
      "open",
      "one",
      "two",
      "end",
    ])
    await reader.cancel()
    await other.stop()
  })

  test("lists the lines of the latest runs, the oldest first", async () => {
    const ada = await person()
    const made = await val(ada)
    const at = (second: number) => `2024-05-01T12:00:0${second}.000Z`
    const first = await run(made, {
      logs: [
        { ...line("a"), at: at(1) },
        { ...line("c"), at: at(3) },
      ],
      lastLine: "c",
    })
    const second = await run(made, { logs: [{ ...line("b"), at: at(2) }], lastLine: "b" })
    const { json } = expectStatus(await call("GET", path, { as: ada }), 200)
    expect(
      json.data.map((it: { runId: string; line: { message: string } }) => [
        it.runId,
        it.line.message,
      ]),
    ).toEqual([
      [first.id, "a"],
      [second.id, "b"],
      [first.id, "c"],
    ])
  })

  test("counts as one of the followed runs of the account, and HEAD does not follow", async () => {
    const ada = await person()
    const streams = await Promise.all(Array.from({ length: 50 }, () => open(ada)))
    expect(refusalOf(await call("GET", path, { as: ada, headers: events }))).toEqual([
      429,
      "rate_limited",
    ])
    for (const { reader } of streams) await reader.cancel()
    const head = expectStatus(await call("HEAD", path, { as: ada, headers: events }), 200)
    expect(head.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    await (await open(ada)).reader.cancel()
  })
}
