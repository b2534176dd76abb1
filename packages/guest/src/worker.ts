/**
 * Starts the module of a Worker, after it has given it sockets: a Worker has globals of its own. The
 * query of its URL is the URL of the module.
 */

import { getProcess } from "./globals/built-ins.ts"
import { provideSockets } from "./sockets/sockets.ts"

const moduleUrl = decodeURIComponent(location.search.slice(1))

provideSockets("/run/val/tcp.sock")
// Modules of Node that the module imports get their sockets when this is loaded.
getProcess()
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
