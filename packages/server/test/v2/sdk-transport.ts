import ValTown from "@valtown/sdk"
import { Cursor, PageCursorURL } from "@valtown/sdk/pagination"
import type { Page } from "./sdk-records.ts"

/** Values of a query; without those that are undefined, and with arrays as a repeated key. */
export type Query = Readonly<Record<string, unknown>>

export interface SdkOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly headers?: Readonly<Record<string, string>>
}

interface SdkRequest {
  readonly method: keyof typeof methods
  readonly path: string
  readonly query?: Query
  /** Bytes are sent as they are, everything else as JSON. */
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the caller gets the response itself. */
  readonly isBinary?: boolean
}

/** How a list goes on: at the address in its links, or with that address as its cursor. */
export type ListPages = "links" | "cursor"

/** A response with an error, or none at all: then it has no status. */
export const SdkError = ValTown.APIError
export const { AuthenticationError, ConflictError, NotFoundError, PermissionDeniedError } = ValTown

const methods = { GET: "get", POST: "post", PUT: "put", DELETE: "delete" } as const

/** Sends requests with an earlier release of the official client, which can be installed. */
export class SdkTransport {
  readonly #client: ValTown

  constructor({ baseUrl, apiKey, headers = {} }: SdkOptions) {
    const options = { baseURL: baseUrl, bearerToken: apiKey, defaultHeaders: headers }
    this.#client = new ValTown(options)
  }

  async send<T>({ method, isBinary = false, ...request }: SdkRequest): Promise<T> {
    return await this.#client.request<object, T>({
      ...request,
      method: methods[method],
      __binaryResponse: isBinary,
    })
  }

  list<Item>(path: string, query: Query, kind: ListPages): Listing<Item> {
    const open = () =>
      kind === "links"
        ? this.#client.getAPIList(path, PageCursorURL<Item>, { query })
        : this.#client.getAPIList(path, Cursor<Item>, { query })
    return new Listing<Item>(async function* () {
      for await (const page of (await open()).iterPages()) yield page
    })
  }
}

/** A list of which the first page is requested when it is read, and the others on the way. */
export class Listing<Item> implements AsyncIterable<Item> {
  constructor(readonly pages: () => AsyncGenerator<Page<Item>>) {}

  /** `Array.fromAsync`, which Node 20 does not have. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this) items.push(item)
    return items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for await (const page of this.pages()) yield* page.data
  }
}

/** Encodes the parameters of a path, `/` too. */
export function toPath(literals: TemplateStringsArray, ...params: readonly string[]): string {
  return String.raw({ raw: literals }, ...params.map((param) => encodeURIComponent(param)))
}
