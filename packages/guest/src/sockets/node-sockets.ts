import { isRefusal } from "../errors/permission-errors.ts"
import { type AsyncContext, getAsyncContext, setAsyncContext } from "../internals.ts"
import { bytesSubarray, reflectApply } from "../primordials.ts"
import type { SocketErrorCode, SocketReply } from "../protocol.ts"
import {
  type AddressFields,
  bindingOf,
  type ConnectRequest,
  type HandleOwner,
  ownerOf,
  type PipeHandle,
  type TcpHandle,
} from "./bindings.ts"
import { closedCodes, triesMax, untilNextTry } from "./closed-socket.ts"
import {
  getSocketPath,
  parseReply,
  type SocketError,
  toConnectFrame,
  toLength,
  toListenMessage,
  tooMany,
  toPathMessage,
  toRefusal,
  toSocketError,
} from "./requests.ts"

const { deleteProperty } = Reflect
const Uint8ArrayCtor = Uint8Array
const WeakMapCtor = WeakMap
const mapGet = WeakMapCtor.prototype.get
const mapSet = WeakMapCtor.prototype.set

/** The addresses that sockets lead to, by handle. */
const peers = new WeakMapCtor<object, AddressFields>()

/**
 * Makes Node's TCP sockets lead through the host. A TCP handle connects to the Unix socket of the
 * host, and takes over that connection once the host has replied. So everything above it is
 * Node's own: `net`, `tls`, `http`, `https`, `http2`, and what packages do with them.
 */
export function provideNodeSockets(): void {
  const { TCP } = bindingOf("tcp_wrap")
  const { getpeername, getsockname } = TCP.prototype
  Object.assign(TCP.prototype, {
    connect,
    connect6: connect,
    bind,
    bind6: bind,
    getpeername(this: TcpHandle, into: AddressFields): number {
      const peer = reflectApply(mapGet, peers, [this]) as AddressFields | undefined
      return fill(into, peer) ?? (reflectApply(getpeername, this, [into]) as number)
    },
    getsockname(this: TcpHandle, into: AddressFields): number {
      const peer = reflectApply(mapGet, peers, [this]) as AddressFields | undefined
      return (
        fill(into, peer && { address: "127.0.0.1", port: 0, family: "IPv4" }) ??
        (reflectApply(getsockname, this, [into]) as number)
      )
    },
  })
  explainPaths()
  forbidDatagrams()
}

/** Deno's own error would advise flags that a val cannot set. */
function explainPaths(): void {
  const { Pipe } = bindingOf("pipe_wrap")
  const { connect: connectReal } = Pipe.prototype
  Pipe.prototype.connect = function (this: PipeHandle, request: object, path: string): number {
    try {
      return reflectApply(connectReal, this, [request, path]) as number
    } catch (error) {
      if (!isRefusal(error)) throw error
      throw toSocketError("EACCES", toPathMessage("connect to", path))
    }
  }
}

/** Returns 0, as a handle does that has succeeded; undefined without an address. */
function fill(into: AddressFields, fields: AddressFields | undefined): number | undefined {
  if (fields === undefined) return undefined
  into.address = fields.address as string
  into.port = fields.port as number
  into.family = fields.family as string
  return 0
}

function connect(this: TcpHandle, request: ConnectRequest, address: string, port: number): number {
  new Connecting(this, request, address, port).start()
  return 0
}

/** The address from which a client connects is the host's; a server cannot have one. */
function bind(this: TcpHandle, _address: string, port: number): number {
  if (ownerOf(this) !== undefined) return 0
  throw toSocketError("EACCES", toListenMessage(port))
}

/**
 * UDP has no connections that the host could decide about. Everything begins with `bind`, which
 * reports a number that Node's code turns into an error without the reason; so that is replaced.
 */
function forbidDatagrams(): void {
  const forbid = function (this: object): number {
    const owner = ownerOf(this) as { emit(event: string, error: Error): void } | undefined
    const error = toSocketError(
      "EACCES",
      "Cannot use UDP: vals can open TCP connections only; use node:dns to look up names, and fetch or node:net for the rest",
    )
    if (owner !== undefined)
      owner.emit = () => {
        deleteProperty(owner, "emit")
        owner.emit("error", error)
      }
    return codeOf("EACCES")
  }
  Object.assign(bindingOf("udp_wrap").UDP.prototype, { bind: forbid, bind6: forbid })
}

/** The number that handles return for an error. */
function codeOf(code: SocketErrorCode): number {
  return bindingOf("uv").codeMap.get(code) ?? -1
}

function isClosedStatus(status: number): boolean {
  const { codeMap } = bindingOf("uv")
  for (let index = 0; index < closedCodes.length; index += 1)
    if (codeMap.get(closedCodes[index] as string) === status) return true
  return false
}

/** Errors that Node's code knows how to report, and after which it tries another address. */
const networkErrors: Readonly<Record<string, boolean>> = Object.assign(Object.create(null), {
  ECONNREFUSED: true,
  EHOSTUNREACH: true,
  ETIMEDOUT: true,
})

/**
 * A TCP handle that is being connected. The request and the reply go over a Unix socket, of which
 * the handle then takes a copy. Reads are never longer than the reply, because the bytes that
 * follow are the val's.
 */
class Connecting {
  readonly #handle: TcpHandle
  readonly #request: ConnectRequest
  readonly #address: string
  readonly #port: number
  readonly #owner: HandleOwner | undefined
  readonly #context: AsyncContext | undefined
  readonly #close = () => this.#stop()
  #pipe: PipeHandle | undefined
  #bytes = new Uint8ArrayCtor(2)
  #filled = 0
  #isLength = true
  #tries = 0

  constructor(handle: TcpHandle, request: ConnectRequest, address: string, port: number) {
    this.#handle = handle
    this.#request = request
    this.#address = address
    this.#port = port
    this.#owner = ownerOf(handle)
    // What the val does when it is connected belongs to the run that connects.
    this.#context = getAsyncContext()
  }

  start(): void {
    const host = this.#owner?._host
    const isName = typeof host === "string" && host !== "" && host !== this.#address
    const frame = toConnectFrame(
      isName ? host : this.#address,
      isName ? this.#address : undefined,
      this.#port,
    )
    this.#owner?.once?.("close", this.#close)
    this.#open(frame)
  }

  #open(frame: Uint8Array): void {
    const { Pipe, PipeConnectWrap } = bindingOf("pipe_wrap")
    const { WriteWrap } = bindingOf("stream_wrap")
    const pipe = new Pipe(0)
    this.#pipe = pipe
    this.#tries += 1
    const connected = new PipeConnectWrap(0) as { oncomplete?: (status: number) => void }
    connected.oncomplete = (status) => {
      if (this.#isOver()) return
      if (status !== 0) return void this.#openAgain(pipe, frame, status)
      pipe.onread = () => this.#read(frame)
      pipe.useUserBuffer(this.#bytes)
      pipe.readStart()
      const written = new WriteWrap(0) as { oncomplete?: () => void }
      written.oncomplete = () => {}
      pipe.writeBuffer(written, frame)
    }
    const status = pipe.connect(connected, getSocketPath())
    if (status !== 0) void this.#openAgain(pipe, frame, status)
  }

  async #openAgain(pipe: PipeHandle, frame: Uint8Array, status: number): Promise<void> {
    if (this.#tries === triesMax || !isClosedStatus(status))
      return void this.#fail(toSocketError("EAGAIN", tooMany))
    pipe.onread = () => {}
    await untilNextTry()
    if (this.#isOver()) return
    pipe.close()
    this.#open(frame)
  }

  #read(frame: Uint8Array): void {
    const { streamBaseState, kReadBytesOrError } = bindingOf("stream_wrap")
    const pipe = this.#pipe
    const count = streamBaseState[kReadBytesOrError] as number
    if (pipe === undefined || this.#isOver() || count === 0) return
    if (count < 0) return void this.#openAgain(pipe, frame, count)
    this.#filled += count
    if (this.#filled === this.#bytes.length) {
      if (!this.#isLength) return void this.#finish(pipe, parseReply(this.#bytes))
      this.#isLength = false
      this.#bytes = new Uint8ArrayCtor(toLength(this.#bytes))
      this.#filled = 0
    }
    pipe.useUserBuffer(bytesSubarray(this.#bytes, this.#filled))
  }

  /**
   * A reply comes too late when the socket is closed, or when Node has given up this attempt: a name
   * with several addresses is connected to the next one after half a second. The socket is another
   * attempt's then.
   */
  #isOver(): boolean {
    if (this.#request.oncomplete === undefined) this.#stop()
    return this.#pipe === undefined
  }

  #finish(pipe: PipeHandle, reply: SocketReply): void {
    if (reply.kind !== "connected")
      return void this.#fail(toRefusal(reply, "EINVAL", "Cannot connect"))
    const { address } = reply
    const family = address.includes(":") ? "IPv6" : "IPv4"
    pipe.readStop()
    const status = this.#handle.open(pipe.fdForIpc())
    this.#stop()
    reflectApply(mapSet, peers, [this.#handle, { address, port: this.#port, family }])
    this.#complete(status)
  }

  #fail(error: SocketError): void {
    this.#stop()
    if (this.#owner?.destroy === undefined || networkErrors[error.code] === true)
      return void this.#complete(codeOf(error.code))
    error.syscall = "connect"
    this.#inContext(() => this.#owner?.destroy?.(error))
  }

  #complete(status: number): void {
    if (this.#owner?.destroyed === true) return
    this.#inContext(() => {
      const { oncomplete } = this.#request
      if (oncomplete === undefined) return
      const isOpen = status === 0
      reflectApply(oncomplete, this.#request, [status, this.#handle, this.#request, isOpen, isOpen])
    })
  }

  #inContext(work: () => void): void {
    const outer = getAsyncContext()
    setAsyncContext(this.#context)
    try {
      work()
    } finally {
      setAsyncContext(outer)
    }
  }

  /** Closes the Unix socket, of which the handle may have a copy. */
  #stop(): void {
    const pipe = this.#pipe
    if (pipe === undefined) return
    this.#pipe = undefined
    this.#owner?.off?.("close", this.#close)
    pipe.onread = () => {}
    pipe.close()
  }
}
