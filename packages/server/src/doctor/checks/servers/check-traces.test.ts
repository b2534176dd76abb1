import { describe, expect, test } from "bun:test"
import { startOtlpReceiver } from "../../../../test/support/fakes/otlp-receiver.ts"
import { loadConfig } from "../../../config/config.ts"
import { checkTraces } from "./check-traces.ts"

const look = async (env: Readonly<Record<string, string>>) => {
  const [finding] = await checkTraces(loadConfig(env, []))
  return [finding?.status, finding?.found, finding?.mend]
}

function serve(fetch: () => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch })
  const host = `127.0.0.1:${server.port}`
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=hunter2",
  }
  return { host, env, [Symbol.dispose]: () => void server.stop(true) }
}

describe("checkTraces", () => {
  test("needs no collector", async () => {
    expect((await look({}))[0]).toBe("ok")
  })

  test.each(["http/protobuf", "http/json"])(
    "sends an export without spans, with the headers, as %s",
    async (protocol) => {
      using receiver = startOtlpReceiver()
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=hunter2",
      }
      const { host } = new URL(receiver.url)
      expect(await look(env)).toEqual(["ok", `the collector ${host} accepts ${protocol}`, null])
      expect([receiver.spans, receiver.problems]).toEqual([[], []])
      expect(receiver.requests[0]?.headers.get("x-key")).toBe("hunter2")
    },
  )

  test.each([
    [401, "correct OTEL_EXPORTER_OTLP_HEADERS"],
    [404, "correct OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
    [302, "correct OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
    [415, "try another OTEL_EXPORTER_OTLP_PROTOCOL"],
    [503, "look into the log of the collector"],
  ])("tells what to do about a response with %i", async (status, mend) => {
    using collector = serve(() => new Response("hunter2", { status, headers: { location: "/" } }))
    expect(await look(collector.env)).toEqual([
      "warning",
      `the collector ${collector.host} responds with ${status} at /v1/traces`,
      `${mend}; until then traces are lost`,
    ])
  })

  test("does not wait for a collector that is silent, or not there", async () => {
    using collector = serve(() => new Promise<Response>(() => {}))
    const mend = "correct OTEL_EXPORTER_OTLP_ENDPOINT, or start it; until then traces are lost"
    expect(await look(collector.env)).toEqual([
      "warning",
      `the collector ${collector.host} does not answer within 5 s`,
      mend,
    ])
    expect(await look({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" })).toEqual([
      "warning",
      "the collector 127.0.0.1:1 cannot be reached",
      mend,
    ])
  })
})
