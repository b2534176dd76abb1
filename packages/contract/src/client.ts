import { systemClock } from "./client/clock.ts"
import { contract } from "./client/contract.ts"
import { ConnectionError } from "./client/errors.ts"
import { followAccount as followAccountEvents, follow as followEvents } from "./client/follow.ts"
import { clientLimits } from "./client/limits.ts"
import { followPages } from "./client/pages.ts"
import { type PreparedRequest, type Server, toRequest } from "./client/request.ts"
import { toRawResponse } from "./client/response.ts"
import { type Received, type SendDeps, send } from "./client/send.ts"
import type {
  AnyCallOptions,
  AnyPage,
  AnyRawResponse,
  Client,
  ClientOptions,
  FollowOptions,
} from "./client/types.ts"
import type { RouteName } from "./routes.ts"

export type { Clock } from "./client/clock.ts"
export { ApiError, ConnectionError, type Issue, LinkError, unlessMissing } from "./client/errors.ts"
export type { Content, Input } from "./client/input.ts"
export { clientLimits } from "./client/limits.ts"
export { createIdempotencyKey } from "./client/request.ts"
export { type StorageClient, toStorage } from "./client/storage.ts"
export type {
  AccountEvent,
  CallOptions,
  Client,
  ClientOptions,
  Fetch,
  FollowOptions,
  Item,
  NotModified,
  Output,
  PageName,
  RawResponse as Answer,
  RunEvent,
} from "./client/types.ts"
export { ownerHeader } from "./owner-header.ts"
export { noPageKey, sessionHeader } from "./session-header.ts"

/**
 * Creates a client: `await client.getVal({ val_id })`. It needs only what browsers, Bun, Deno and
 * Node 20 have in common.
 */
export function createClient(options: ClientOptions): Client {
  const server = toServer(options)
  const deps = toSendDeps(options)

  const prepare = (name: RouteName, input: object = {}, call: AnyCallOptions = {}) =>
    toRequest(server, contract.routes[name], input, call)
  const exchange = async (
    request: PreparedRequest,
    call: AnyCallOptions = {},
  ): Promise<AnyRawResponse> =>
    toRawResponse(request, await send(deps, request, call), deps.clock.now())

  const raw = async (name: RouteName, input?: object, call?: AnyCallOptions) =>
    exchange(prepare(name, input, call), call)
  const body = async (name: RouteName, input?: object, call?: AnyCallOptions) =>
    (await raw(name, input, call)).body

  async function* pages(name: RouteName, input?: object, call?: AnyCallOptions) {
    const first = prepare(name, input, call)
    yield* followPages(
      first.url,
      async (url) => (await exchange({ ...first, url }, call)).body as AnyPage,
    )
  }
  async function* items(name: RouteName, input?: object, call?: AnyCallOptions) {
    for await (const page of pages(name, input, call)) yield* page.data
  }

  const refuse = (request: PreparedRequest, received: Received) => {
    toRawResponse(request, received, deps.clock.now())
    throw new ConnectionError(`Cannot follow "${request.url}": the response has no body`, {})
  }
  const follow = (
    { run_id, from = 0 }: { run_id: string; from?: number },
    options: FollowOptions = {},
  ) => followEvents({ ...deps, refuse }, prepare("getRunLogs", { run_id }), from, options)
  const followAccount = (options: FollowOptions = {}) =>
    followAccountEvents({ ...deps, refuse }, prepare("listMyLogs"), options)

  // The methods are created in a loop over the table that their types are mapped from, which
  // TypeScript cannot follow.
  return {
    ...toMethods(body),
    raw: toMethods(raw),
    pages,
    items,
    follow,
    followAccount,
  } as unknown as Client
}

type Call<Result> = (name: RouteName, input?: object, call?: AnyCallOptions) => Promise<Result>

function toMethods<Result>(call: Call<Result>) {
  const names = Object.keys(contract.routes) as RouteName[]
  return Object.fromEntries(
    names.map((name) => [
      name,
      (input?: object, options?: AnyCallOptions) => call(name, input, options),
    ]),
  )
}

function toServer({ baseUrl, token, owner }: ClientOptions): Server {
  const { protocol, origin, pathname } = new URL(baseUrl)
  // Without a scheme, `localhost:3000` is a valid URL with the scheme `localhost`.
  if (!/^https?:$/.test(protocol))
    throw new TypeError(
      `Cannot create a client for "${baseUrl}": it does not start with http:// or https://`,
    )
  // `fetch` would quote such a token in its error message.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError(
      "Cannot create a client with this token: it is empty or contains characters that a header cannot carry",
    )
  }
  if (owner !== undefined && !/^@?[\w-]+$/.test(owner))
    throw new TypeError(`Cannot create a client that acts for "${owner}": it is no name or id`)
  return { baseUrl: origin + pathname.replace(/\/+$/, ""), token, owner }
}

function toSendDeps(options: ClientOptions): SendDeps {
  return {
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    retriesMax: options.retriesMax ?? clientLimits.retriesMax,
    timeoutMs: options.timeoutMs ?? clientLimits.timeoutMs,
    responseBytesMax: options.responseBytesMax ?? clientLimits.responseBytesMax,
  }
}
