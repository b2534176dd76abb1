import type { SocketReply, SocketRequest } from "@hamlet/guest/protocol"
import { egressKey, type ProxyFixture } from "./proxy-fixture.ts"
import { RawClient } from "./raw-client.ts"

/** A frame of the sandbox. */
export function toSocketFrame(request: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(request))
  const length = Buffer.alloc(2)
  length.writeUInt16BE(json.length)
  return Buffer.concat([length, json])
}

/** A connection of the fixture's run to tcp.sock. */
export class SocketClient {
  readonly raw: RawClient

  private constructor(raw: RawClient) {
    this.raw = raw
  }

  static async open(fixture: ProxyFixture): Promise<SocketClient> {
    return new SocketClient(await RawClient.open(fixture.socketsPath))
  }

  /** Sends a request and waits for the reply; undefined if the connection is closed without one. */
  static async ask(
    fixture: ProxyFixture,
    request: Partial<SocketRequest>,
  ): Promise<{ readonly client: SocketClient; readonly reply: SocketReply | undefined }> {
    const client = await SocketClient.open(fixture)
    client.raw.send(toSocketFrame({ run: `${egressKey} run-1`, ...request }))
    return { client, reply: await client.reply() }
  }

  /** Waits for the reply, and forgets it: what is received later is the upstream's. */
  async reply(): Promise<SocketReply | undefined> {
    const { raw } = this
    await raw.until(() => raw.isClosed || raw.text.length >= toEnd(raw.text))
    if (raw.text === "") return undefined
    const end = toEnd(raw.text)
    const reply = JSON.parse(Buffer.from(raw.text.slice(2, end), "latin1").toString())
    raw.text = raw.text.slice(end)
    return reply
  }
}

function toEnd(text: string): number {
  return text.length < 2 ? 2 : 2 + text.charCodeAt(0) * 256 + text.charCodeAt(1)
}
