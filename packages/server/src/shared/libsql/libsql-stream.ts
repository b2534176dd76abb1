import { toOwnJson } from "../hostile-input/bounded.ts"
import {
  type LibsqlServer,
  type LibsqlStatement,
  type LibsqlValue,
  readPipeline,
  toRequest,
} from "./libsql-server.ts"

const limits = { msMax: 60_000, bytesMax: 33_554_432 }

/** A connection to a database, for statements of our own in one transaction. */
export interface LibsqlStream {
  /** The rows of each statement; undefined if there is no such namespace. Throws when one fails. */
  send(statements: readonly LibsqlStatement[]): Promise<readonly LibsqlValue[][][] | undefined>
  /** A transaction that is open ends without a change. */
  close(): Promise<void>
}

/** Opens a connection with its first statement. */
export function openLibsqlStream(server: LibsqlServer, namespace: string): LibsqlStream {
  let baton: string | undefined
  const run = async (requests: readonly object[]) => {
    const signal = AbortSignal.timeout(limits.msMax)
    const body = toOwnJson({ baton: baton ?? null, requests })
    const reply = await server.send(namespace, body, { signal, bytesMax: limits.bytesMax })
    if (reply.kind === "no_namespace") return undefined
    const { rows, baton: next } = readPipeline(reply)
    baton = next
    return rows
  }
  return {
    send: (statements) => run(statements.map(toRequest)),
    async close() {
      if (baton !== undefined) await run([{ type: "close" }]).catch(() => {})
      baton = undefined
    },
  }
}
