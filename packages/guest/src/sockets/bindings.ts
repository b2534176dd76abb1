/**
 * The undocumented parts of Deno under `node:net`, `node:dns` and `node:dgram`. Everything in
 * Node that opens a connection uses them, regardless of how it was imported. Loading them takes a
 * tenth of a millisecond; `node:net` takes six. Deno is pinned to one version; if another one
 * lacks a part, no val gets Node's `process` and the tests say so.
 */
import { getProcess } from "../globals/built-ins.ts"

/** A request of Node's code; the handle calls it back. */
export interface ConnectRequest {
  /** Undefined when Node has given up this attempt and tries another address. */
  oncomplete:
    | ((
        status: number,
        handle: TcpHandle,
        request: ConnectRequest,
        readable: boolean,
        writable: boolean,
      ) => void)
    | undefined
}

interface StreamHandle {
  /** How many bytes were read is in `streamState`. */
  onread: () => void
  readStart(): number
  readStop(): number
  /** Reads go into these bytes, and are never longer. */
  useUserBuffer(bytes: Uint8Array): void
  writeBuffer(request: object, bytes: Uint8Array): number
  close(onClose?: () => void): void
}

/** A Unix socket. */
export interface PipeHandle extends StreamHandle {
  connect(request: object, path: string): number
  /** A copy of its file descriptor. */
  fdForIpc(): number
}

/** A TCP socket. It can take over the file descriptor of any stream. */
export interface TcpHandle extends StreamHandle {
  open(fd: number): number
  connect(request: ConnectRequest, address: string, port: number): number
  connect6(request: ConnectRequest, address: string, port: number): number
  bind(address: string, port: number): number
  bind6(address: string, port: number, flags: number): number
  getpeername(into: AddressFields): number
  getsockname(into: AddressFields): number
}

export interface AddressFields {
  address?: string
  port?: number
  family?: string
}

/** A request for names. `callback`, or `reject`, takes an error of the guest's own. */
export interface NameRequest {
  readonly ttl?: boolean
  /** `found` is a list, but for SOA, of which a name has one. */
  oncomplete(error: number | string | null, found?: unknown): void
  readonly callback?: (error: Error) => void
  readonly reject?: (error: Error) => void
}

type GetAddresses = (
  request: NameRequest,
  name: string,
  family: number,
  hints: number,
  order: number,
) => number
type Query = (request: NameRequest, name: string) => number

interface Bindings {
  readonly tcp_wrap: { readonly TCP: Class<TcpHandle> }
  readonly pipe_wrap: { readonly Pipe: Class<PipeHandle>; readonly PipeConnectWrap: Class<object> }
  readonly stream_wrap: {
    readonly WriteWrap: Class<object>
    readonly streamBaseState: Int32Array
    readonly kReadBytesOrError: number
  }
  readonly cares_wrap: {
    getaddrinfo: GetAddresses
    readonly ChannelWrap: Class<
      Record<string, Query> & { getServers: unknown; setServers: unknown }
    >
    readonly DNS_ORDER_IPV4_FIRST: number
    readonly DNS_ORDER_IPV6_FIRST: number
  }
  readonly udp_wrap: { readonly UDP: Class<Record<"bind" | "bind6", unknown>> }
  readonly uv: { readonly codeMap: ReadonlyMap<string, number> }
}

type Class<Instance> = (new (type: number) => Instance) & { readonly prototype: Instance }

/** The methods that the guest needs, by binding and object. */
const needed: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  tcp_wrap: { TCP: ["open", "connect", "connect6", "bind", "bind6", "getpeername", "getsockname"] },
  pipe_wrap: {
    Pipe: ["connect", "fdForIpc", "readStart", "readStop", "useUserBuffer", "writeBuffer", "close"],
    PipeConnectWrap: [],
  },
  udp_wrap: { UDP: ["bind", "bind6"] },
  cares_wrap: { ChannelWrap: ["queryA", "queryAaaa", "getServers", "setServers"], getaddrinfo: [] },
}

let readBinding: ((name: string) => unknown) | undefined

/** One part of Deno's internals. */
export function bindingOf<Name extends keyof Bindings>(name: Name): Bindings[Name] {
  readBinding ??= (getProcess() as unknown as { binding(name: string): unknown }).binding
  return readBinding(name) as Bindings[Name]
}

/** Fails if Deno lacks something that sockets need. */
export function checkBindings(): void {
  for (const [name, parts] of Object.entries(needed)) {
    const binding = bindingOf(name as keyof Bindings) as unknown as Record<string, unknown>
    for (const [part, methods] of Object.entries(parts)) {
      const found = binding[part] as { readonly prototype?: Record<string, unknown> } | undefined
      const missing = methods.find((method) => typeof found?.prototype?.[method] !== "function")
      if (typeof found !== "function" || missing !== undefined)
        throw new Error(
          `Cannot start on Deno ${Deno.version.deno}: its ${name} has no ${part}${missing === undefined ? "" : `.${missing}`}`,
        )
    }
  }
}

/** The socket, or other object of Node, that a handle belongs to. */
export interface HandleOwner {
  /** The name that it connects to. */
  readonly _host?: string | null
  readonly destroyed?: boolean
  destroy?(error: Error): void
  once?(event: string, listener: () => void): void
  off?(event: string, listener: () => void): void
}

const { getOwnPropertySymbols } = Object
let ownerSymbol: symbol | undefined

/** The owner of a handle. Its key is a symbol that Deno does not export. */
export function ownerOf(handle: object): HandleOwner | undefined {
  if (ownerSymbol === undefined) {
    const symbols = getOwnPropertySymbols(handle)
    for (let index = 0; index < symbols.length; index += 1)
      if (symbols[index]?.description === "ownerSymbol") ownerSymbol = symbols[index]
  }
  if (ownerSymbol === undefined) return undefined
  return (handle as Record<symbol, HandleOwner | undefined>)[ownerSymbol]
}
