import { isRefusal } from "../errors/permission-errors.ts"
import { arrayIncludes, arrayPush, ErrorCtor, objectKeys, TypeErrorCtor } from "../primordials.ts"
import { type DnsRecord, type RecordType, recordTypes } from "../protocol.ts"
import { ofFamily } from "./names.ts"
import {
  findRecords,
  lookUp,
  openConnection,
  type SocketError,
  toListenMessage,
  toPathMessage,
} from "./requests.ts"
import { connectTls, startTls, toAddress } from "./tls-connection.ts"

const connectReal = Deno.connect
const listenReal = Deno.listen as unknown as (options: object) => Deno.Listener
const { errors } = Deno
const { defineProperties } = Object

/** Makes Deno's own sockets lead through the host. */
export function provideDenoSockets(): void {
  Object.assign(Deno, {
    connect,
    connectTls: (options: Deno.ConnectTlsOptions) => translate(connectTls(options)),
    startTls: (connection: Deno.TcpConn, options?: Deno.StartTlsOptions) =>
      translate(startTls(connection, options)),
    resolveDns,
    listen,
    listenTls: ({ port }: Deno.ListenTlsOptions) => refuseToListen(port),
  })
}

async function connect(
  options: Deno.ConnectOptions | Deno.UnixConnectOptions | Deno.VsockConnectOptions,
): Promise<Deno.Conn> {
  if (options.transport === "unix") return translate(connectToPath(options))
  if (options.transport === "vsock") throw new TypeErrorCtor(noVsock)
  const { hostname = "127.0.0.1", port } = options
  const { signal } = options as { readonly signal?: AbortSignal }
  signal?.throwIfAborted()
  const opened = await translate(openConnection(hostname, port))
  if (signal?.aborted) {
    opened.connection.close()
    signal.throwIfAborted()
  }
  const { connection, address } = opened
  return defineProperties(connection, {
    remoteAddr: { value: toAddress(address, port), configurable: true },
    localAddr: { value: toAddress("127.0.0.1", 0), configurable: true },
    setNoDelay: { value: () => {}, configurable: true },
    setKeepAlive: { value: () => {}, configurable: true },
  }) as unknown as Deno.TcpConn
}

const noVsock = "Cannot connect over vsock: vals can open TCP connections only"

/** Unix sockets are there in the val's own folder only. */
async function connectToPath(options: Deno.UnixConnectOptions): Promise<Deno.Conn> {
  try {
    return await connectReal(options)
  } catch (error) {
    throw isRefusal(error)
      ? new errors.NotCapable(toPathMessage("connect to", options.path))
      : error
  }
}

async function resolveDns(
  name: string,
  kind: string,
  options?: Deno.ResolveDnsOptions,
): Promise<readonly unknown[]> {
  if (options?.nameServer !== undefined)
    throw new ErrorCtor(
      `Cannot look up "${name}" at a name server: vals use that of the server they run on`,
    )
  options?.signal?.throwIfAborted()
  if (kind === "A" || kind === "AAAA") {
    const found = ofFamily(await translate(lookUp(name)), kind === "A" ? 4 : 6)
    if (found.length === 0) throw new errors.NotFound(`Cannot look up "${name}": it has no address`)
    return found
  }
  if (!isRecordType(kind))
    throw new TypeErrorCtor(`Cannot look up "${name}": there are no records of type "${kind}"`)
  return await resolveRecords(name, kind)
}

function isRecordType(kind: string): kind is RecordType {
  return arrayIncludes(recordTypes, kind)
}

async function resolveRecords(name: string, type: RecordType): Promise<readonly unknown[]> {
  try {
    const found = await translate(findRecords(name, type))
    const records: unknown[] = []
    for (let index = 0; index < found.length; index += 1)
      arrayPush(records, toDenoRecord(type, found[index]))
    return records
  } catch (error) {
    const { code, message } = error as SocketError
    throw code === "ENOTFOUND" ? new errors.NotFound(message) : error
  }
}

/** Unix sockets in the val's own folder work; the types of Deno do not know them without a flag. */
function listen(options: {
  readonly transport?: string
  readonly port?: number
  readonly path?: string
}): Deno.Listener {
  if (options.transport !== "unix") return refuseToListen(options.port)
  try {
    return listenReal(options)
  } catch (error) {
    throw isRefusal(error) ? new errors.NotCapable(toPathMessage("listen on", options.path)) : error
  }
}

function refuseToListen(port = 0): never {
  throw new errors.NotCapable(toListenMessage(port))
}

/** Gives errors the classes that Deno's functions throw. */
async function translate<Value>(pending: Promise<Value>): Promise<Value> {
  try {
    return await pending
  } catch (error) {
    const { code, message } = error as SocketError
    if (code === "EACCES") throw new errors.NotCapable(message)
    if (code === "EAGAIN") throw new errors.Busy(message)
    if (code === "ECONNREFUSED") throw new errors.ConnectionRefused(message)
    if (code === "ETIMEDOUT") throw new errors.TimedOut(message)
    if (code === "EHOSTUNREACH") throw new errors.NotFound(message)
    throw error
  }
}

type Fields = Readonly<Record<string, string | number | undefined>>

/** A record of `node:dns` as `Deno.resolveDns` has it: other fields, and names end with a dot. */
function toDenoRecord(type: RecordType, record: DnsRecord | undefined): unknown {
  if (typeof record === "string") return toFullName(record)
  return type === "TXT" ? record : converters[type]?.(record as unknown as Fields)
}

const converters: Readonly<Partial<Record<RecordType, (record: Fields) => unknown>>> = {
  CAA: toCaa,
  MX: ({ priority, exchange }) => ({ preference: priority, exchange: toFullName(exchange) }),
  NAPTR: ({ order, preference, flags, service, regexp, replacement }) => ({
    order,
    preference,
    flags,
    services: service,
    regexp,
    replacement: toFullName(replacement),
  }),
  SOA: ({ nsname, hostmaster, serial, refresh, retry, expire, minttl }) => ({
    mname: toFullName(nsname),
    rname: toFullName(hostmaster),
    serial,
    refresh,
    retry,
    expire,
    minimum: minttl,
  }),
  SRV: ({ priority, weight, port, name }) => ({
    priority,
    weight,
    port,
    target: toFullName(name),
  }),
}

/** In Node, the tag is the name of the field with the value. */
function toCaa(record: Fields): unknown {
  const keys = objectKeys(record)
  for (let index = 0; index < keys.length; index += 1) {
    const tag = keys[index] as string
    if (tag !== "critical") return { critical: record.critical !== 0, tag, value: record[tag] }
  }
  return { critical: record.critical !== 0, tag: "", value: "" }
}

function toFullName(name: string | number | undefined): string {
  return `${name}.`
}
