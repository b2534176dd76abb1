/** Something that is sent at the end of a turn. */
interface Sender {
  sendNow(): void
}

let waiting: Sender[] = []

/**
 * Sends at the end of the turn of the event loop, together with everything else that came in it.
 * Written one by one, every request would wake its process, and the answer come back alone: a tenth
 * of the time that a request costs the server is saved by not doing that.
 */
export function sendSoon(sender: Sender): void {
  if (waiting.length === 0) setImmediate(sendAll)
  waiting.push(sender)
}

function sendAll(): void {
  const senders = waiting
  waiting = []
  for (const sender of senders) sender.sendNow()
}
