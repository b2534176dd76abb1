import type { GatewayLimits } from "../limits.ts"
import type { SocketRelay } from "./socket-relay.ts"

/**
 * The handlers for `Bun.serve`. They are stateless, since each connection carries its relay:
 * `Bun.serve` needs them before the gateway exists.
 */
export function createSocketHandlers(limits: GatewayLimits): Bun.WebSocketHandler<SocketRelay> {
  return {
    maxPayloadLength: limits.messageBytesMax,
    // The relay closes the socket at half of this, with a reason; this is the second safeguard.
    backpressureLimit: limits.backlogBytesMax * 2,
    closeOnBackpressureLimit: true,
    perMessageDeflate: false,
    sendPings: true,
    open: (socket) => socket.data.clientOpened(socket),
    message: (socket, message) => socket.data.clientSent(message),
    drain: (socket) => socket.data.clientDrained(),
    close: (socket, code, reason) => socket.data.clientClosed(code, reason),
  }
}
