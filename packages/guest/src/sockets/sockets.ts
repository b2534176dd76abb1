import { changeProcess } from "../globals/built-ins.ts"
import { checkBindings } from "./bindings.ts"
import { provideDenoSockets } from "./deno-sockets.ts"
import { provideNames } from "./names.ts"
import { provideNodeSockets } from "./node-sockets.ts"
import { setSocketPath } from "./requests.ts"

/**
 * Gives the val TCP connections, although the sandbox has no network: they lead through a Unix
 * socket of the host, which decides about each of them. The path is undefined if there is none.
 */
export function provideSockets(path: string | undefined): void {
  setSocketPath(path)
  provideDenoSockets()
  changeProcess(() => {
    checkBindings()
    provideNodeSockets()
    provideNames()
  })
}
