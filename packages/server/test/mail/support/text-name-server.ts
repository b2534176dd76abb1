const headBytes = 12
const textType = 16
const codes = { answered: 0x8180, noName: 0x8183 }
const partCharsMax = 255

/** A minimal name server with TXT records, on a port of its own. */
export class TextNameServer {
  /** The text of each name. A name that is null gets no answer at all. */
  readonly records = new Map<string, string | null>()
  readonly #socket: Bun.udp.Socket<"buffer">

  private constructor(socket: Bun.udp.Socket<"buffer">) {
    this.#socket = socket
  }

  static async listen(): Promise<TextNameServer> {
    let server: TextNameServer | undefined
    const socket = await Bun.udpSocket({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(from, question, port, address) {
          const response = server?.answer(question)
          if (response) from.send(response, port, address)
        },
      },
    })
    server = new TextNameServer(socket)
    return server
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.port}`
  }

  stop(): void {
    this.#socket.close()
  }

  answer(question: Buffer): Buffer | undefined {
    const { name, end } = readName(question)
    const text = this.records.get(name)
    if (text === null) return undefined
    const isText = question.readUInt16BE(end) === textType
    const data = text === undefined || !isText ? undefined : toTextData(text)
    const head = Buffer.from(question.subarray(0, headBytes))
    head.writeUInt16BE(text === undefined ? codes.noName : codes.answered, 2)
    for (const [at, count] of [1, data ? 1 : 0, 0, 0].entries())
      head.writeUInt16BE(count, 4 + 2 * at)
    const parts = [head, question.subarray(headBytes, end + 4)]
    return Buffer.concat(data ? [...parts, toRecord(data)] : parts)
  }
}

function readName(question: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = headBytes
  for (let length = question[at++] ?? 0; length > 0; length = question[at++] ?? 0) {
    labels.push(question.toString("latin1", at, at + length).toLowerCase())
    at += length
  }
  return { name: labels.join("."), end: at }
}

function toTextData(text: string): Buffer {
  const parts = text.match(new RegExp(`.{1,${partCharsMax}}`, "g")) ?? []
  return Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])))
}

/** For the name of the question, with a time to live of zero. */
function toRecord(data: Buffer): Buffer {
  const fixed = Buffer.alloc(12)
  fixed.writeUInt16BE(0xc000 + headBytes, 0)
  fixed.writeUInt16BE(textType, 2)
  fixed.writeUInt16BE(1, 4)
  fixed.writeUInt16BE(data.length, 10)
  return Buffer.concat([fixed, data])
}
