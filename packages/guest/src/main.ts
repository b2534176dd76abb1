/**
 * The guest: what runs inside the sandbox, on Deno. It is started before there is a val to run,
 * with the folder of its sockets as its first argument, a folder for the val's own files as its
 * second, the address of the example in the module cache as its third, and the folder of the val's
 * packages as its fourth. See protocol.ts for what it says to the host.
 */

import { connectControl } from "./control/control.ts"
import { errorToJson, openOutbox, send } from "./control/outbox.ts"
import { captureConsole } from "./globals/console-capture.ts"
import { setEgressKey, tagOutgoingRequests } from "./globals/egress.ts"
import { setEnvironment } from "./globals/environment.ts"
import { providePackages } from "./globals/packages.ts"
import { forbidExit, ignoreSignals } from "./globals/process-guard.ts"
import { captureStandardStreams } from "./globals/standard-streams.ts"
import { guardTimers } from "./globals/timers.ts"
import { hideInternals } from "./internals.ts"
import { hasWaitingRequest, serve, startServing } from "./requests/serve.ts"
import { catchUncaughtErrors } from "./runs/failures.ts"
import { evaluateVal, prepareForVal } from "./val/load-val.ts"
import { warmUp } from "./warm-up.ts"

const exit = Deno.exit
const soon = setImmediate
const complain = console.error

try {
  await start(...Deno.args)
} catch (error) {
  // Errors that nobody catches are a val's; without this one of ours would be taken for that.
  complain(error)
  exit(1)
}

async function start(
  socketFolder = "",
  scratchFolder = "",
  exampleUrl = "",
  packagesFolder = "",
): Promise<void> {
  const inPath = `${socketFolder}/in.sock`
  const hasProxy = Deno.env.has("HTTP_PROXY")

  // 1. The two sockets, while they may still be opened.
  const control = await connectControl(`${socketFolder}/control.sock`, () => exit(0))
  Deno.serve({ path: inPath, onListen: () => {} }, serve)
  // What a val writes without saying where is its own.
  Deno.chdir(scratchFolder)

  // 2. What a val sees instead of the real thing.
  catchUncaughtErrors()
  captureConsole()
  captureStandardStreams()
  guardTimers()
  forbidExit()
  hideInternals()
  ignoreSignals()
  providePackages(packagesFolder)
  tagOutgoingRequests(hasProxy)

  // 3. Everything once, so that the first run finds it compiled.
  await warmUp(inPath, exampleUrl)

  // 4. From here on no socket of the host's can be opened any more. Where there is a proxy, it is
  // all of the network that there is.
  if (!hasProxy) await Deno.permissions.revoke({ name: "net" })
  await Deno.permissions.revoke({ name: "read", path: socketFolder })
  await Deno.permissions.revoke({ name: "write", path: socketFolder })
  openOutbox(control.write)
  send('{"kind":"warm"}')

  // 5. The val.
  const load = await control.load
  prepareForVal(load)
  const { env, egressKey } = await control.surroundings
  setEnvironment(env)
  setEgressKey(egressKey)
  await control.begin
  const { program, error } = await evaluateVal(load)
  startServing({ program, scheme: load.scheme, returnBytesMax: load.limits.returnBytesMax })
  const tell = () =>
    send(
      error
        ? `{"kind":"load_failed","error":${errorToJson(error)}}`
        : `{"kind":"loaded","isCallable":${program.isCallable}}`,
    )
  // An answer that somebody waits for goes out first, with the next turn of the event loop.
  if (hasWaitingRequest()) soon(tell)
  else tell()
}
