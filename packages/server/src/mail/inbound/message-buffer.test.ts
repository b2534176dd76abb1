import { describe, expect, test } from "bun:test"
import { PassThrough } from "node:stream"
import type { SMTPServerDataStream } from "smtp-server"
import { mailLimits } from "../../domain/mail/inbound/mail.ts"
import { MessageBudget, receiveMessage } from "./message-buffer.ts"
import { smtpLimits } from "./smtp-limits.ts"

function toStream(chunks: Iterable<string>): SMTPServerDataStream {
  const stream = new PassThrough()
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  return stream as unknown as SMTPServerDataStream
}

async function replyTo(chunks: Iterable<string>, budget: MessageBudget, bytesMax = 1_000_000) {
  const received = receiveMessage(toStream(chunks), { client: "eve", bytesMax, budget })
  return received.then(
    ({ bytes }) => `received ${bytes}`,
    (error: Error) => error.message,
  )
}

const open = () => new MessageBudget(2_000_000, 1_000_000)

describe("receiveMessage", () => {
  test("keeps the bytes as they came, however they were split", async () => {
    const chunks = ["a".repeat(smtpLimits.blockBytes - 1), "b\r\n", "", "c".repeat(200_000)]
    const budget = open()
    const limits = { client: "eve", bytesMax: 1_000_000, budget }
    const message = await receiveMessage(toStream(chunks), limits)
    expect(Buffer.concat(message.pieces).equals(Buffer.from(chunks.join("")))).toBe(true)
    expect(budget.bytes).toBe(message.bytes)
    message.resize(10)
    expect(budget.bytes).toBe(10)
    message.release()
    expect(budget.bytes).toBe(0)
  })

  test("refuses too many lines, too many pieces and too many bytes, and keeps nothing", async () => {
    const budget = open()
    expect(await replyTo(["\n".repeat(mailLimits.linesMax)], budget)).toStartWith("received")
    budget.add("eve", -mailLimits.linesMax)
    expect(await replyTo(["\n".repeat(mailLimits.linesMax + 1)], budget)).toBe(
      "5.6.0 The message has more than 500000 lines",
    )
    const pieces = Array.from({ length: smtpLimits.chunksMax + 1 }, () => "x")
    expect(await replyTo(pieces, budget)).toStartWith("5.6.0 The message has too many lines that")
    expect(await replyTo(["x".repeat(11)], budget, 10)).toStartWith("5.3.4")
    expect(budget.bytes).toBe(0)
  })
})

describe("MessageBudget", () => {
  test("gives one client its share only, and all of them together the whole", () => {
    const budget = new MessageBudget(100, 50)
    expect(budget.take("eve", 50)).toBe(true)
    expect(budget.take("eve", 1)).toBe(false)
    expect(budget.take("ada", 50)).toBe(true)
    expect(budget.take("bob", 1)).toBe(false)
    budget.add("eve", -50)
    expect(budget.take("bob", 50)).toBe(true)
  })
})
