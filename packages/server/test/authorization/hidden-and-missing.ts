import { type RouteDefinition, routeNames, routes } from "@hamlet/contract"
import type { TestApi, TestResponse, TestUser } from "../support/api.ts"
import { type PathValues, toSampleRequest } from "./samples.ts"

/**
 * Something that is there but not for the caller, and something that is not there at all: what
 * paths name, by parameter.
 */
export interface HiddenAndMissing {
  readonly hidden: PathValues
  readonly absent: PathValues
}

// Everything by which an answer could depend on the state of what is hidden.
const conditions: readonly Record<string, string>[] = [
  {},
  { "if-match": '"99"' },
  { "if-none-match": "*" },
  { "user-agent": "Mozilla/5.0" },
]

/** The routes that name something which may be hidden. */
export function routesThatMayHide(pair: HiddenAndMissing): readonly string[] {
  return routeNames.filter((name) =>
    Object.keys(pair.hidden).some((param) => routes[name].path.includes(`{${param}}`)),
  )
}

/**
 * Sends the same request for either of the twins. Gives the two answers with what must differ taken
 * out, for each way to ask.
 */
export async function requestBoth(
  api: TestApi,
  name: string,
  pair: HiddenAndMissing,
  others: PathValues,
  as: TestUser | undefined,
): Promise<readonly { readonly hidden: string; readonly absent: string }[]> {
  const route: RouteDefinition = routes[name as keyof typeof routes]
  const ask = async (values: PathValues, headers: Record<string, string>) => {
    const { method, path, body } = toSampleRequest(name, route, { ...others, ...values }, "twin")
    return toText(await api.call(method, path, { as, body, headers }), values)
  }
  return Promise.all(
    conditions.map(async (headers) => ({
      hidden: await ask(pair.hidden, headers),
      absent: await ask(pair.absent, headers),
    })),
  )
}

function toText({ status, headers, text, json }: TestResponse, values: PathValues): string {
  const requestId = headers.get("x-request-id") ?? ""
  const lines = [
    String(status),
    ...[...headers].map(([key, value]) => `${key}: ${value}`).sort(),
    text,
  ]
  const raw = lines
    .join("\n")
    .replaceAll(json?.requestId ?? requestId, "(request id)")
    .replaceAll(requestId, "(request id)")
  return Object.entries(values).reduce(
    (result, [param, value]) => result.replaceAll(value, `{${param}}`),
    raw,
  )
}
