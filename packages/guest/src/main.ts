/**
 * The guest: the program that runs inside the sandbox, on Deno. It starts before there is a val to
 * run. Its arguments are the folder of its sockets, a folder for the val's own files, the URL of
 * the example in the module cache, the folder of the val's packages, its own path, and `hurried` if
 * a run waits for it. See protocol.ts for its messages to the host, and for how it is started.
 */

import { connectControl } from "./control/control.ts"
import { errorToJson, openOutbox, send } from "./control/outbox.ts"
import { createUnsentFile } from "./control/unsent-file.ts"
import { explainPermissionErrors } from "./errors/permission-errors.ts"
import { explainProgramErrors } from "./errors/program-errors.ts"
import { hideFiles } from "./files/hide-files.ts"
import { receiveFile } from "./files/own-files.ts"
import { changeProcess, prepareBuiltIns, provideBuiltIns } from "./globals/built-ins.ts"
import { captureConsole } from "./globals/console-capture.ts"
import { setEgressKey, tagOutgoingRequests } from "./globals/egress.ts"
import { setEnvironment } from "./globals/environment.ts"
import { hideMachine } from "./globals/machine.ts"
import { preparePackages, providePackages } from "./globals/packages.ts"
import { forbidExit, guardNodeProcess, ignoreSignals } from "./globals/process-guard.ts"
import { captureNodeStreams, captureStandardStreams } from "./globals/standard-streams.ts"
import { guardTimers } from "./globals/timers.ts"
import { provideWebStorage } from "./globals/web-storage.ts"
import { hideInternals, runSoon } from "./internals.ts"
import { hurried, unsentName } from "./protocol.ts"
import { hasWaitingRequest, serve, startServing } from "./requests/serve.ts"
import { trackUpgrades } from "./requests/upgrades.ts"
import { catchUncaughtErrors } from "./runs/failures.ts"
import { replaceServe } from "./servers/deno-serve.ts"
import { replaceNodeServers } from "./servers/node-servers.ts"
import { provideSockets } from "./sockets/sockets.ts"
import { provideWorkers } from "./sockets/workers.ts"
import { evaluateVal, prepareForVal } from "./val/load-val.ts"
import { startIdling, warmUp } from "./warm-up.ts"

const exit = Deno.exit
const printError = console.error

try {
  await start(...Deno.args)
} catch (error) {
  // Uncaught errors count as the val's; an error of the guest itself must not.
  printError(error)
  exit(1)
}

async function start(
  socketFolder = "",
  scratchFolder = "",
  exampleUrl = "",
  packagesFolder = "",
  scriptPath = "",
  haste = "",
): Promise<void> {
  const inPath = `${socketFolder}/in.sock`
  const hasProxy = Deno.env.has("HTTP_PROXY")

  // 1. Open the two sockets while that is still allowed.
  const control = await connectControl(`${socketFolder}/control.sock`, receiveFile, () => exit(0))
  const server = Deno.serve({ path: inPath, onListen: () => {} }, serve)
  // Without it the process is of no use; the host starts another one.
  void server.finished.then(() => exit(1))
  // Relative paths of the val resolve to its own folder.
  Deno.chdir(scratchFolder)

  // 2. Replace what a val must not have, and what has another meaning in a val.
  catchUncaughtErrors()
  captureConsole()
  captureStandardStreams()
  guardTimers()
  forbidExit()
  provideBuiltIns()
  changeProcess(guardNodeProcess)
  changeProcess(captureNodeStreams)
  hideInternals()
  hideMachine()
  explainProgramErrors()
  explainPermissionErrors(scratchFolder)
  hideFiles()
  provideWebStorage()
  trackUpgrades()
  replaceServe()
  replaceNodeServers()
  ignoreSignals()
  providePackages(packagesFolder)
  tagOutgoingRequests(hasProxy)
  provideSockets(hasProxy ? `${socketFolder}/tcp.sock` : undefined)
  if (hasProxy) provideWorkers()

  // 3. Run everything once, so that the first run finds it compiled. A run that waits would wait
  // longer.
  if (haste !== hurried) await warmUp(inPath, exampleUrl)

  // 4. From here on no socket or file of the host can be opened. If there is a proxy, it is the only
  // network.
  openOutbox(control.write, createUnsentFile(`${socketFolder}/${unsentName}`))
  if (!hasProxy) await Deno.permissions.revoke({ name: "net" })
  await Deno.permissions.revoke({ name: "read", path: socketFolder })
  await Deno.permissions.revoke({ name: "write", path: socketFolder })
  await Deno.permissions.revoke({ name: "read", path: scriptPath })
  send('{"kind":"warm"}')

  // 5. Load the val.
  const idling = startIdling()
  const load = await control.load
  idling.stop()
  prepareForVal(load)
  const { env, egressKey } = await control.surroundings
  setEnvironment({ HOME: scratchFolder, PATH: "/usr/bin:/bin", TMPDIR: scratchFolder, ...env })
  setEgressKey(egressKey)
  const { builtIns, packages } = await control.begin
  if (packages === "cached") await preparePackages()
  prepareBuiltIns(builtIns)
  const { program, error } = await evaluateVal(load)
  startServing({ program, scheme: load.scheme, returnBytesMax: load.limits.returnBytesMax })
  const reportLoad = () =>
    send(
      error
        ? `{"kind":"load_failed","error":${errorToJson(error)}}`
        : `{"kind":"loaded","isCallable":${program.isCallable}}`,
    )
  // A waiting response goes out first; this follows in the next turn of the event loop.
  if (hasWaitingRequest()) runSoon(reportLoad)
  else reportLoad()
}
