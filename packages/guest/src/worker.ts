/**
 * Gives a Worker, which has globals of its own, sockets and storage, and starts its module: the query
 * of our URL is the URL of that module. Without one, this is the first line of the code of the
 * Worker. It is therefore a script as well as a module.
 */

import { explainPermissionErrors } from "./errors/permission-errors.ts"
import { hideFiles } from "./files/hide-files.ts"
import { getProcess, prepareBuiltIns, provideBuiltIns } from "./globals/built-ins.ts"
import { hideMachine } from "./globals/machine.ts"
import { provideWebStorage } from "./globals/web-storage.ts"
import { provideSockets } from "./sockets/sockets.ts"

const moduleUrl = decodeURIComponent(globalThis.location?.search.slice(1) ?? "")

provideBuiltIns()
hideMachine()
explainPermissionErrors("/tmp")
hideFiles()
provideSockets("/run/val/tcp.sock")
provideWebStorage()
// Modules of Node that the module imports get their sockets when this is loaded.
getProcess()
prepareBuiltIns(["fs", "os", "module"])
if (moduleUrl !== "") void start()

async function start(): Promise<void> {
  Object.defineProperty(globalThis, "location", { value: new URL(moduleUrl), configurable: true })
  // Messages that arrive while the module is loaded would find no listener.
  const early: MessageEvent[] = []
  const hold = (event: MessageEvent) => {
    event.stopImmediatePropagation()
    early.push(event)
  }
  addEventListener("message", hold as EventListener)
  await import(moduleUrl)
  removeEventListener("message", hold as EventListener)
  for (const { data, ports } of early)
    dispatchEvent(new MessageEvent("message", { data, ports: [...ports] }))
}
