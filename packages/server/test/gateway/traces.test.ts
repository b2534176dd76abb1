import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { describeSqlite } from "../support/databases.ts"
import { startOtlpReceiver } from "../support/fakes/otlp-receiver.ts"
import { openGatewayFixture } from "./support/gateway-fixture.ts"

const toTraceId = (id: string | null) => id?.replaceAll("-", "") ?? ""

describeSqlite("a request to a val with traces", (open) => {
  async function openTraced() {
    const receiver = startOtlpReceiver()
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const fixture = await openGatewayFixture(open, env)
    return {
      ...fixture,
      /** The spans of a trace, without those of the database, when `count` have arrived. */
      async spansOf(id: string | null, count: number) {
        const list = () =>
          receiver.spans.filter(
            ({ traceId, name }) => traceId === toTraceId(id) && !name.startsWith("database"),
          )
        await waitUntil(() => receiver.problems.length > 0 || list().length >= count)
        expect(receiver.problems).toEqual([])
        return list()
      },
      async [Symbol.asyncDispose]() {
        await fixture[Symbol.asyncDispose]()
        receiver[Symbol.dispose]()
      },
    }
  }

  test("is one span, in a trace with the digits of the run's id", async () => {
    await using fixture = await openTraced()
    const { id: valId } = await fixture.addVal(
      "hello",
      ({ headers }) => new Response(headers.get("traceparent")),
    )
    const response = await fixture.request("hello")
    const traceparent = await response.text()
    const runId = response.headers.get("x-run-id")
    const spans = await fixture.spansOf(runId, 1)
    expect(spans).toHaveLength(1)
    expect(spans[0]).toMatchObject({
      name: "val request",
      parentId: "",
      kind: 2,
      error: undefined,
      attributes: {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "hamlet.val": "ada/hello",
        "hamlet.val.id": valId,
        "hamlet.run.id": runId ?? "",
        "hamlet.run.status": "succeeded",
      },
    })
    expect(traceparent).toBe(`00-${toTraceId(runId)}-${spans[0]?.spanId}-01`)
  })

  test("has a second span while its response goes on", async () => {
    await using fixture = await openTraced()
    const finish = Promise.withResolvers<void>()
    await fixture.addVal("stream", () => {
      const stream = new ReadableStream({
        async start(controller) {
          controller.enqueue(Buffer.from("a"))
          await finish.promise
          controller.close()
        },
      })
      return new Response(stream)
    })
    const response = await fixture.request("stream")
    const runId = response.headers.get("x-run-id")
    const [request] = await fixture.spansOf(runId, 1)
    expect(request?.attributes["hamlet.run.status"]).toBe("running")
    finish.resolve()
    await response.text()
    const [, rest] = await fixture.spansOf(runId, 2)
    expect(rest).toMatchObject({
      name: "response",
      parentId: request?.spanId ?? "",
      kind: 1,
      start: request?.end ?? 0n,
      attributes: { "hamlet.run.status": "succeeded" },
    })
  })

  test("names the error of a val, and why a request was refused", async () => {
    await using fixture = await openTraced()
    const thrown = { name: "TypeError", message: "hunter2" }
    await fixture.addVal("broken", () =>
      Response.json(thrown, { headers: { "x-hamlet-failure": "1" } }),
    )
    const failed = await fixture.request("broken")
    const [span] = await fixture.spansOf(failed.headers.get("x-run-id"), 1)
    expect(span).toMatchObject({
      error: "TypeError",
      attributes: { "http.response.status_code": 502, "hamlet.run.status": "failed" },
    })
    const accept = { headers: { accept: "application/json" } }
    const refused = await fixture.request("nothing", "/", accept)
    const { requestId } = (await refused.json()) as { requestId: string }
    const [other] = await fixture.spansOf(requestId, 1)
    expect(other?.attributes["error.type"]).toBe("val_not_found")
  })
})
