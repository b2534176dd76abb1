/**
 * One answer of the name server: an address of either kind, another name whose records follow, or
 * the data of a record of the type that was asked for.
 */
export type NameRecord =
  | { readonly address: string }
  | { readonly alias: string }
  | { readonly data: Buffer }

/**
 * What a name is this time; `query` counts the questions for it, of this type, from 0. Undefined
 * when it is to stay without an answer.
 */
export type Zone = (
  name: string,
  type: QueryType,
  query: number,
) => readonly NameRecord[] | undefined

const typeNumbers = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  CAA: 257,
} as const

/** What a client may ask for. */
export type QueryType = keyof typeof typeNumbers

/** The data of records. A hostile name server may send any other bytes. */
export const recordData = {
  host: (name: string) => writeName(name),
  mx: (priority: number, exchange: string) =>
    Buffer.concat([toShorts(priority), writeName(exchange)]),
  srv: (priority: number, weight: number, port: number, target: string) =>
    Buffer.concat([toShorts(priority, weight, port), writeName(target)]),
  txt: (...texts: string[]) => Buffer.concat(texts.map(toText)),
  caa: (flags: number, tag: string, value: string) =>
    Buffer.concat([Buffer.from([flags]), toText(tag), Buffer.from(value)]),
  naptr: (order: number, preference: number, texts: readonly string[], replacement: string) =>
    Buffer.concat([toShorts(order, preference), ...texts.map(toText), writeName(replacement)]),
  soa: (nsname: string, hostmaster: string, ...numbers: readonly number[]) =>
    Buffer.concat([writeName(nsname), writeName(hostmaster), ...numbers.map(toLong)]),
}

function toShorts(...values: readonly number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 255]))
}

function toLong(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function toText(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

const headBytes = 12
const triesMax = 10

/** A minimal name server whose records change. Every record has a time to live of zero. */
export class NameServer {
  /** How often it was asked, by name and type. A question that is repeated counts once. */
  readonly queries = new Map<string, number>()
  /** The answers so far, by the number that the client has given the question. */
  readonly #answered = new Map<string, Buffer | undefined>()
  readonly #zone: Zone
  #socket: Bun.udp.Socket<"buffer"> | undefined

  private constructor(zone: Zone) {
    this.#zone = zone
  }

  static async listen(address: string, zone: Zone): Promise<NameServer> {
    const server = new NameServer(zone)
    server.#socket = await Bun.udpSocket({
      hostname: address,
      port: 53,
      socket: {
        data(socket, question, port, from) {
          const response = server.#answer(question)
          // This call reports that an earlier client does not listen any more, and then sends
          // nothing.
          for (let tries = 0; response && tries < triesMax; tries += 1)
            try {
              socket.send(response, port, from)
              return
            } catch {}
        },
        error() {},
      },
    })
    return server
  }

  stop(): void {
    this.#socket?.close()
  }

  #answer(question: Buffer): Buffer | undefined {
    const { name, end } = readName(question)
    const number = question.readUInt16BE(end)
    const type = queryTypes.find((known) => typeNumbers[known] === number)
    const key = `${name} ${type}`
    const id = `${question.readUInt16BE(0)} ${key}`
    if (!this.#answered.has(id)) {
      const query = this.queries.get(key) ?? 0
      this.queries.set(key, query + 1)
      const found = type === undefined ? [] : this.#zone(name, type, query)
      this.#answered.set(id, found && this.#toAnswer(question, end, found, name, type))
    }
    return this.#answered.get(id)
  }

  #toAnswer(
    question: Buffer,
    end: number,
    found: readonly NameRecord[],
    name: string,
    type: QueryType | undefined,
  ): Buffer {
    const records = toRecords(found, name, type ?? "A")
    const head = Buffer.from(question.subarray(0, headBytes))
    head.writeUInt16BE(0x8180, 2)
    for (const [at, count] of [1, records.length, 0, 0].entries())
      head.writeUInt16BE(count, 4 + 2 * at)
    return Buffer.concat([head, question.subarray(headBytes, end + 4), ...records])
  }
}

const queryTypes = Object.keys(typeNumbers) as QueryType[]

function readName(question: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = headBytes
  for (let length = question[at++] ?? 0; length > 0; length = question[at++] ?? 0) {
    labels.push(question.toString("latin1", at, at + length).toLowerCase())
    at += length
  }
  return { name: labels.join("."), end: at }
}

/** Records behind an alias are those of the alias. */
function toRecords(found: readonly NameRecord[], name: string, type: QueryType): Buffer[] {
  let owner = name
  return found.map((record) => {
    if ("address" in record) return toRecord(owner, typeNumbers[type], toBytes(record.address))
    if ("data" in record) return toRecord(owner, typeNumbers[type], record.data)
    const written = toRecord(owner, typeNumbers.CNAME, writeName(record.alias))
    owner = record.alias
    return written
  })
}

function toRecord(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([writeName(owner), fixed, data])
}

function writeName(name: string): Buffer {
  return Buffer.concat([
    ...(name === "" ? [] : name.split(".")).map((label) =>
      Buffer.from([label.length, ...Buffer.from(label)]),
    ),
    Buffer.from([0]),
  ])
}

/** IPv6 is written out in full, with dots for IPv4 in the end if need be. */
function toBytes(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number))
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [left = "", right] = canonical.split("::")
  const parts = (text: string) =>
    text === "" ? [] : text.split(":").map((part) => Number.parseInt(part, 16))
  const [first, last] = [parts(left), parts(right ?? "")]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  const bytes = Buffer.alloc(16)
  for (const [index, part] of all.entries()) bytes.writeUInt16BE(part, 2 * index)
  return bytes
}
