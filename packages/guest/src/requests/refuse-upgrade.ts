import { quote, send } from "../control/outbox.ts"
import { limits } from "../limits.ts"
import {
  bare,
  headersForEach,
  ResponseCtor,
  responseHeaders,
  responseStatus,
  toBase64,
} from "../primordials.ts"
import { closeRun, type Run } from "../runs/runs.ts"
import { readBody } from "./read-body.ts"

/**
 * The val answered an upgrade request with an ordinary response. Tells the host what it was, and
 * the client of the WebSocket no.
 */
export async function refuseUpgrade(run: Run, response: Response): Promise<Response> {
  const status = responseStatus(response)
  const { bytes } = await readBody(response, limits.refusedBodyBytesMax)
  let headers = ""
  headersForEach(responseHeaders(response), (value, name) => {
    headers += `${headers === "" ? "" : ","}[${quote(name)},${quote(value)}]`
  })
  send(
    `{"kind":"refused","run":${quote(run.id)},"status":${status},"headers":[${headers}],"body":"${toBase64(bytes)}"}`,
  )
  closeRun(run)
  return new ResponseCtor(null, bare({ status: status >= 200 ? status : 500 }))
}
