import type { GatewayLimits } from "../limits.ts"
import type { SocketRelay } from "./socket-relay.ts"

/**
 * For `Bun.serve`. They know nothing themselves: every connection carries its relay, so that they
 * can be given before there is a gateway.
 */
export function createSocketHandlers(limits: GatewayLimits): Bun.WebSocketHandler<SocketRelay> {
  return {
    maxPayloadLength: limits.messageBytesMax,
    // Ours is a word earlier and says why; this is what remains if it should fail.
    backpressureLimit: limits.backlogBytesMax * 2,
    closeOnBackpressureLimit: true,
    perMessageDeflate: false,
    sendPings: true,
    open: (socket) => socket.data.clientOpened(socket),
    message: (socket, message) => socket.data.clientSaid(message),
    drain: (socket) => socket.data.clientDrained(),
    close: (socket, code, reason) => socket.data.clientClosed(code, reason),
  }
}
