import { parseGuestMessage } from "@hamlet/sandbox"
import type { Door } from "../door.ts"
import { smallValues } from "../worst-values.ts"

/** Bytes of a line of the control socket. */
const lineBytesMax = 1_048_576
const junk = smallValues(lineBytesMax - 400)
const lineEnds = "\\n".repeat((lineBytesMax - 400) / 2)

type MessageKind = NonNullable<ReturnType<typeof parseGuestMessage>>["kind"]

/**
 * The longest line of each kind of message, by a val that has taken over its guest. A kind without a
 * row does not compile.
 */
const guestLines: Readonly<Record<MessageKind, string>> = {
  warm: `{"kind":"warm","x":${junk}}`,
  loaded: `{"kind":"loaded","isCallable":true,"x":${junk}}`,
  load_failed: `{"kind":"load_failed","error":{"name":"E","message":"${lineEnds}"}}`,
  log: `{"kind":"log","run":"r","at":1,"level":"info","message":"${lineEnds}"}`,
  logs_skipped: `{"kind":"logs_skipped","run":"r","lines":1,"x":${junk}}`,
  uncaught: `{"kind":"uncaught","run":"r","error":{"name":"${lineEnds}","message":"m"}}`,
  refused: `{"kind":"refused","run":"r","status":400,"headers":${junk},"body":""}`,
  read_file: `{"kind":"read_file","id":1,"path":"${"\\u0000".repeat(1_000)}","x":${junk}}`,
  pong: `{"kind":"pong","x":${junk}}`,
}

/** Messages are parsed one at a time on the main thread. */
export const guestWork: readonly { readonly name: string; work(): unknown }[] = Object.entries(
  guestLines,
).map(([kind, line]) => ({ name: `guest message ${kind}`, work: () => parseGuestMessage(line) }))

/** The vals that doors run, by name. Each says or returns the worst of one kind. */
export const slowVals: Readonly<Record<string, string>> = {
  returnsText: `export default () => "a".repeat(5_000_000)`,
  returnsValues: "export default () => new Array(3_700_000).fill(1)",
  takesArgs: "export default (...args) => args.length",
  logs: `export default () => { console.log("a".repeat(99_000)); for (let i = 0; i < 20; i++) console.log("a".repeat(5_000)) }`,
  logsSmall: `export default () => { for (let i = 0; i < 20_000; i++) console.log("") }`,
  throws: `export default () => { throw new Error("a".repeat(2_000_000)) }`,
  throwsLate: `export default async () => { setTimeout(() => { throw new Error("a".repeat(2_000_000)) }); await new Promise((r) => setTimeout(r, 50)) }`,
  readsFiles: `export default async () => {
    const read = globalThis[Symbol.for("hamlet.files")]
    return (await Promise.all(Array.from({ length: 300 }, (_, i) => read(i % 2 ? "main.tsx" : null)))).length
  }`,
  failsToLoad: `throw new Error("a".repeat(2_000_000)); export default 1`,
}

export const guestDoors: readonly Door[] = Object.keys(slowVals).map((name) => ({
  name: `val ${name}`,
  drive: async (stage) => void (await stage.run(name)),
}))
