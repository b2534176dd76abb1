import { innerRequestOf } from "../internals.ts"
import { bare, uncurryThis } from "../primordials.ts"

interface Upgrade {
  readonly socket: WebSocket
  readonly response: Response
}

const upgrades = new WeakMap<object, Upgrade>()
const setUpgrade = uncurryThis(WeakMap.prototype.set) as (
  map: WeakMap<object, Upgrade>,
  key: object,
  value: Upgrade,
) => unknown
const getUpgrade = uncurryThis(WeakMap.prototype.get) as (
  map: WeakMap<object, Upgrade>,
  key: object,
) => Upgrade | undefined
const listen = uncurryThis(EventTarget.prototype.addEventListener)
const close = uncurryThis(WebSocket.prototype.close)
const readyState = uncurryThis(
  Object.getOwnPropertyDescriptor(WebSocket.prototype, "readyState")?.get as () => number,
) as (socket: WebSocket) => number
const { OPEN } = WebSocket

/** Remembers the requests that the val has upgraded to WebSockets. */
export function trackUpgrades(): void {
  const upgradeReal = Deno.upgradeWebSocket
  Deno.upgradeWebSocket = (request, options) => {
    const upgrade = upgradeReal(request, options)
    const { socket, response } = upgrade
    setUpgrade(upgrades, innerRequestOf(request), bare({ socket, response }))
    return upgrade
  }
}

/**
 * Responds to a request that may have been upgraded. If the val has upgraded it and then failed, or
 * responded otherwise, the WebSocket is closed: Deno would close the guest's server, and all later
 * runs of the process would fail.
 */
export async function finishUpgrade(
  request: Request,
  pending: Response | Promise<Response>,
): Promise<Response> {
  const response = await pending
  const upgrade = getUpgrade(upgrades, innerRequestOf(request))
  if (upgrade === undefined || response === upgrade.response) return response
  const { socket } = upgrade
  if (readyState(socket) === OPEN) closeFailed(socket)
  else listen(socket, "open", () => closeFailed(socket))
  return upgrade.response
}

/** 1011: the server has met an unexpected condition. */
function closeFailed(socket: WebSocket): void {
  close(socket, 1011)
}
