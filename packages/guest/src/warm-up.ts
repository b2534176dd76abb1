import { toErrorText } from "./errors/error-text.ts"
import { nameModulesBelow } from "./errors/stack-text.ts"
import { setEnvironment } from "./globals/environment.ts"
import { preparePackages } from "./globals/packages.ts"
import { hidePaths } from "./globals/process-guard.ts"
import { cancelTimer, createSystemTimer } from "./internals.ts"
import { limits } from "./limits.ts"
import { stringSlice } from "./primordials.ts"
import { serveTemporarily } from "./requests/serve.ts"
import { toProgram } from "./val/program.ts"

/**
 * Does once what the first request to a val does, through the real socket, which saves a few
 * milliseconds in the first response of a val. What only some vals do, such as starting a timer,
 * takes less time when they do it than for all processes here. What is logged here stays in an
 * outbox that is not open yet.
 */
export async function warmUp(inPath: string, exampleUrl: string): Promise<void> {
  setEnvironment({ EXAMPLE: "1" })
  hidePaths(exampleUrl)
  nameModulesBelow(stringSlice(exampleUrl, 0, -"example".length))
  const module: Record<string, unknown> = await import(exampleUrl)
  const example = toProgram(module, { isHttp: true, endpoint: "http://example.localhost/" })
  serveTemporarily({ program: example, scheme: "http", returnBytesMax: 1_000 })
  const host = "Host: example.localhost\r\n"
  await sendRaw(
    inPath,
    `GET /hwarm/?a=1 HTTP/1.1\r\n${host}\r\nGET /hwarm/ HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
  )
  serveTemporarily(undefined)
}

/**
 * Prepares for packages and timers when the process has waited for a val for a while. In a burst of
 * new vals, processes are needed at once, and most of them for vals without packages.
 */
export function startIdling(): { stop(): void } {
  const timer = createSystemTimer(
    () => {
      void preparePackages()
      void globalThis.setTimeout
      toErrorText(new Error("an example"))
    },
    limits.idleMs,
    false,
  )
  return { stop: () => cancelTimer(timer) }
}

/** Sends bytes to our own socket and waits for the end of the response. */
async function sendRaw(path: string, text: string): Promise<void> {
  using connection = await Deno.connect({ transport: "unix", path })
  await connection.write(new TextEncoder().encode(text))
  const buffer = new Uint8Array(4_096)
  while ((await connection.read(buffer)) !== null);
}
