import type { Config } from "../../../config/config.ts"
import { createJsonEncoding } from "../../../runtime/otlp/json-encoding.ts"
import { createProtobufEncoding } from "../../../runtime/otlp/protobuf-encoding.ts"
import { spanLimits } from "../../../runtime/otlp/span-encoding.ts"
import { about, type Findings } from "../../finding.ts"
import { doctorLimits } from "../../limits.ts"

const check = about("traces")

/** Whether the collector of traces accepts an export, which has no spans. */
export async function checkTraces({ traces }: Pick<Config, "traces">): Promise<Findings> {
  if (!traces) return check.fine("none: OTEL_EXPORTER_OTLP_ENDPOINT is not set")
  const { url, headers = {}, protocol } = traces
  const createEncoding = protocol === "http/json" ? createJsonEncoding : createProtobufEncoding
  const encoding = createEncoding({ attributes: {}, version: "" })
  const bytes = Buffer.alloc(spanLimits.bytesMax)
  const body = bytes.subarray(0, encoding.finish(bytes, encoding.begin(bytes)))
  const { host, pathname } = new URL(url)
  const tell = (found: string, mend: string) =>
    check.warning(found, `${mend}; until then traces are lost`)
  const sending = AbortSignal.timeout(doctorLimits.answerMsMax)
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": encoding.contentType },
      body,
      redirect: "manual",
      signal: sending,
    })
    void response.body?.cancel().catch(() => {})
    if (response.ok) return check.fine(`the collector ${host} accepts ${protocol}`)
    const found = `the collector ${host} responds with ${response.status} at ${pathname}`
    return tell(found, toMend(response.status))
  } catch {
    // The error may contain the address with a key in it.
    const how = sending.aborted
      ? `does not answer within ${doctorLimits.answerMsMax / 1000} s`
      : "cannot be reached"
    return tell(`the collector ${host} ${how}`, "correct OTEL_EXPORTER_OTLP_ENDPOINT, or start it")
  }
}

function toMend(status: number): string {
  if (status === 401 || status === 403) return "correct OTEL_EXPORTER_OTLP_HEADERS"
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return "correct OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
  if (status === 415 || status === 400) return "try another OTEL_EXPORTER_OTLP_PROTOCOL"
  return "look into the log of the collector"
}
