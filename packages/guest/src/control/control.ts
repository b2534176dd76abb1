import { toWriteNow } from "../internals.ts"
import { bytesSubarray, jsonParse, splitLines } from "../primordials.ts"
import type { Begin, FileReply, HostMessage, Load, Surroundings } from "../protocol.ts"
import { send } from "./outbox.ts"

const bufferBytes = 65_536

/**
 * Connects to the host, which accepts one connection only. When the host goes away, `exit` ends the
 * process.
 */
export async function connectControl(
  path: string,
  onFile: (reply: FileReply) => void,
  exit: () => never,
) {
  const connection = await Deno.connect({ transport: "unix", path })
  // The first message of each kind. Later ones are ignored: a process serves one val only.
  const load = Promise.withResolvers<Load>()
  const surroundings = Promise.withResolvers<Surroundings>()
  const begin = Promise.withResolvers<Begin>()
  void readLines(connection.read.bind(connection), (line) => {
    const message = jsonParse(line) as HostMessage
    if (message.kind === "load") load.resolve(message)
    else if (message.kind === "surroundings") surroundings.resolve(message)
    else if (message.kind === "begin") begin.resolve(message)
    else if (message.kind === "file") onFile(message)
    else if (message.kind === "ping") send('{"kind":"pong"}')
  }).finally(exit)
  return {
    load: load.promise,
    surroundings: surroundings.promise,
    begin: begin.promise,
    write: toWriteNow(connection),
  }
}

type Read = (buffer: Uint8Array<ArrayBuffer>) => Promise<number | null>

async function readLines(read: Read, onLine: (line: string) => void): Promise<void> {
  const buffer = new Uint8Array(bufferBytes)
  const decoder = new TextDecoder()
  const decode = decoder.decode.bind(decoder)
  const options = { stream: true }
  let rest = ""
  for (let length = await read(buffer); length !== null; length = await read(buffer)) {
    const lines = splitLines(rest + decode(bytesSubarray(buffer, 0, length), options))
    for (let index = 0; index < lines.length - 1; index += 1) onLine(lines[index] as string)
    rest = lines[lines.length - 1] as string
  }
}
