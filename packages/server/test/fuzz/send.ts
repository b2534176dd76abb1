import { parseRequestUrl } from "../../src/http/request/request-url.ts"
import type { TestResponse } from "../support/api.ts"
import { assertMatchesOpenApi, parseJson } from "../support/assert-openapi.ts"
import type { FuzzServer } from "./fuzz-server.ts"
import { isOverload } from "./is-overload.ts"
import type { Plan } from "./plan.ts"
import { toRequest } from "./to-request.ts"

/** What a request that is as the document wants it is never told. */
const refusals: readonly number[] = [400, 401, 405, 413, 415]

/** Whether it tells how a val failed, which is no fault of the server. */
function isOfVal({ json }: { readonly json: { readonly code?: unknown } | undefined }): boolean {
  return json?.code === "run_failed" || json?.code === "run_timed_out"
}

/** Whether the server has failed by itself. */
export function isFault(answer: {
  readonly status: number
  readonly json: { readonly code?: unknown } | undefined
}): boolean {
  return answer.status >= 500 && !isOfVal(answer) && !isOverload(answer)
}

/**
 * Whether it depends on what is stored, or on two fields together, about which the document says
 * nothing.
 */
function isOfData({ json }: TestResponse): boolean {
  const message = String(json?.message)
  const isKnown = /^Cannot (?:limit secret|delete organisation)/.test(message)
  return isKnown || ["sql_failed", "quota_exceeded", "is_directory"].includes(String(json?.code))
}

/**
 * How the validator begins what it says of a value; the rest of a message may quote what was sent.
 */
const validatorWords =
  /: (?:invalid input|too (?:small|big): |invalid (?:guid|option|string|email|key)|unrecognized key)/i

/**
 * Sends the request and throws unless the answer is one that the document promises, and no fault of
 * the server. Gives its status.
 */
export async function send(fuzzServer: FuzzServer, plan: Plan): Promise<number> {
  const request = toRequest(plan, fuzzServer.pools)
  const { method } = request
  const path = parseRequestUrl(request.url).pathname
  const response = await fuzzServer.api.hamlet.app.fetch(request)
  const { status, headers } = response
  const text = await response.text()
  const answer = {
    status,
    headers,
    text,
    json: parseJson({ headers, text }) as TestResponse["json"],
  }
  assertMatchesOpenApi(method, path, answer)
  if (isFault(answer)) throw new Error(`a fault of the server: ${status} ${text}`)
  if (status === 400 && validatorWords.test(String(answer.json?.message)))
    throw new Error(`not in plain words: ${text}`)
  if (plan.isValid && refusals.includes(status) && !isOfData(answer))
    throw new Error(`a sound request was refused: ${status} ${text}`)
  fuzzServer.learn(request, answer)
  return status
}
