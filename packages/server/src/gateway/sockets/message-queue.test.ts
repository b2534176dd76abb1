import { expect, test } from "bun:test"
import { MessageQueue } from "./message-queue.ts"

const counts = { waiting: 100, all: 20_000 }
const bytes = 10_000

test("MessageQueue keeps the order, and forgets what it has sent while others wait", async () => {
  const { promise: allSent, resolve } = Promise.withResolvers<void>()
  const sent: number[] = []
  let next = 0
  let heldBytesMax = 0
  const bytesBefore = countBytes()
  const push = () => {
    const message = new ArrayBuffer(bytes)
    new DataView(message).setUint32(0, next++)
    queue.push(message)
  }
  const send = (message: unknown) => {
    sent.push(new DataView(message as ArrayBuffer).getUint32(0))
    if (next < counts.all) push()
    if (sent.length % (counts.all / 4) !== 0) return
    heldBytesMax = Math.max(heldBytesMax, countBytes() - bytesBefore)
  }
  const queue = new MessageQueue(
    {
      messagesPerSecondMax: 1_000_000,
      messageOverheadBytes: 10,
      forwardMsMax: 60_000,
      owner: "ada",
    },
    { send, allSent: resolve },
    false,
  )
  for (let count = 0; count < counts.waiting; count++) push()
  queue.open()
  await allSent
  expect(sent).toEqual(Array.from({ length: counts.all }, (_, index) => index))
  expect(heldBytesMax).toBeLessThan((counts.all * bytes) / 4)
  expect(queue.waitingBytes).toBe(0)
})

/** The bytes of the array buffers of this process that are in use. */
function countBytes(): number {
  Bun.gc(true)
  return process.memoryUsage().arrayBuffers
}
