import { describe, expect, test } from "bun:test"
import { AppError } from "../../domain/app-error.ts"
import { MailRefused } from "../../domain/mail/inbound/mail.ts"
import { isExpected, toReply } from "./replies.ts"

describe("toReply", () => {
  const cases: [title: string, error: unknown, reply: string][] = [
    [
      "a database that is away",
      new AppError("database_unavailable", "Cannot reach the database"),
      "451 4.3.0 The message cannot be stored now; try again later",
    ],
    [
      "a busy server",
      new AppError("overloaded", "Cannot read the message now"),
      "451 4.3.2 The server is busy; try again later",
    ],
    [
      "an error of the server, without its text",
      new TypeError("secret is not a function"),
      "451 4.3.0 The message cannot be stored now; try again later",
    ],
    [
      "an unknown recipient",
      new MailRefused("unknown_recipient", "no val has this address"),
      "550 5.1.1 No val has this address",
    ],
    [
      "a message that ran out of time",
      new MailRefused("timed_out", "the message took too long to read; try again later"),
      "451 4.3.0 The message took too long to read; try again later",
    ],
    ["a full mailbox", new MailRefused("mailbox_full", "full"), "452 4.2.2 Full"],
  ]
  for (const [title, error, reply] of cases)
    test(`says ${reply.slice(0, 3)} for ${title}`, () => {
      const { responseCode, message } = toReply(error)
      expect(`${responseCode} ${message}`).toBe(reply)
    })

  test("reports only errors that senders do not cause", () => {
    expect(isExpected(new MailRefused("loop", "x"))).toBe(true)
    expect(isExpected(new TypeError("x"))).toBe(false)
  })
})
