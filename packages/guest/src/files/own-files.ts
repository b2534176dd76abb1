import { quote, send } from "../control/outbox.ts"
import { arrayPush, arraySplice, bare, PromiseCtor, TypeErrorCtor } from "../primordials.ts"
import { type FileReply, filesSymbol } from "../protocol.ts"

/** How many the host is asked for at once. */
const asksMax = 20

interface Ask {
  readonly path: string | null
  readonly resolve: (text: string | null) => void
  readonly reject: (error: unknown) => void
}

const asked = bare<Record<number, Ask | undefined>>({})
const waiting: Ask[] = []
let asks = 0
let lastId = 0

/**
 * Provides the files of the val to the standard library: `(path) => text`, which is null for a
 * missing file. Without a path it is the JSON of a list. The host reads them when they are asked for.
 */
export function provideOwnFiles(): void {
  Object.defineProperty(globalThis, Symbol.for(filesSymbol), { value: readOwnFile })
}

/** The text of a file of the val, in the version that runs. */
export function readOwnFile(path: unknown): Promise<string | null> {
  return new PromiseCtor((resolve, reject) => {
    if (path !== null && typeof path !== "string")
      throw new TypeErrorCtor("Cannot read the file: its path is not a string")
    const ask = { path, resolve, reject }
    if (asks < asksMax) sendAsk(ask)
    else arrayPush(waiting, ask)
  })
}

function sendAsk(ask: Ask): void {
  asks += 1
  lastId += 1
  asked[lastId] = ask
  const path = ask.path === null ? "null" : quote(ask.path)
  send(`{"kind":"read_file","id":${lastId},"path":${path}}`)
}

/** The host has read a file. */
export function receiveFile({ id, text, isFailed }: FileReply): void {
  const ask = asked[id]
  if (ask === undefined) return
  delete asked[id]
  asks -= 1
  const next = arraySplice(waiting, 0, 1)[0] as Ask | undefined
  if (next !== undefined) sendAsk(next)
  if (!isFailed) ask.resolve(text)
  else ask.reject(new TypeErrorCtor(`Cannot read "${ask.path}": the server cannot do it now`))
}
