import type { Output } from "@hamlet/contract/client"
import { emailStatuses } from "@hamlet/contract/lists"
import { CliError } from "../../cli-error.ts"
import { defineCommand, type Verbs } from "../../command.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { defineCall, defineList, listOptions, printResult, type Result } from "../../shapes.ts"

export const verbs: Verbs = {
  address: defineCall({
    summary: "Print the mail address of a val",
    description:
      "Mail to this address runs the val. The val must be of type email, and the server must receive mail.",
    examples: [["hamlet mail address inbox", "print the address"]],
    takes: { "<val>": "name of the val" },
    async call(session, { val }) {
      const { emailAddress, name, type } = await findWholeVal(session, val)
      if (emailAddress !== undefined) return { json: { emailAddress }, plain: emailAddress }
      throw new CliError(
        "failed",
        type === "email"
          ? `Cannot find the address of val "${name}": the server receives no mail`
          : `Cannot find the address of val "${name}": it is of type ${type}, not email`,
      )
    },
  }),
  test: { summary: "Run a val as if a mail had come", load: () => import("./test.ts") },
  list: defineList({
    summary: "List outgoing emails",
    description: "Lists the emails that your vals have sent, newest first.",
    examples: [
      ["hamlet mail list", "outgoing emails of your account"],
      ["hamlet mail list --status failed", "those that could not be sent"],
    ],
    takes: {
      "--status <status>": { help: "only emails with this status", choices: emailStatuses },
      ...listOptions,
    },
    items: ({ client }, { status }, page) => client.items("listMyEmails", { status, ...page }),
    empty: "No emails",
    columns: [
      { title: "email", value: ({ id }) => id, isWhole: true },
      { title: "status", value: ({ status }) => status },
      { title: "to", value: ({ to }) => to.join(", ") },
      { title: "subject", value: ({ subject }) => subject, paint: (colour) => colour.bold },
      { title: "created", value: ({ createdAt }) => createdAt, isTime: true },
      { title: "error", value: ({ error }) => error },
    ],
  }),
  resend: defineCall({
    summary: "Send a failed email again",
    description: "Sends a failed email again, to the recipients that did not receive it.",
    examples: [["hamlet mail resend 0190a6b1-7e3c-7c4d-8f5e-0123456789ab", "send one email again"]],
    takes: { "<email>": "id of the email" },
    async call({ client }, { email: id }) {
      const email = await client.resendEmail({ email_id: id })
      return {
        json: email,
        fields: [
          ["email", email.id],
          ["to", email.to.join(", ")],
          ["status", email.status],
        ],
      }
    },
  }),
  confirm: defineCommand({
    summary: "Confirm your email address",
    description: `Confirms the email address in your profile, so that your vals can mail you. Without a code, it sends one to the
address.`,
    examples: [
      ["hamlet mail confirm", "send a code to your address"],
      ["hamlet mail confirm --address ada@example.org", "set your address, and send a code to it"],
      ["hamlet mail confirm 12345678", "confirm the address with the code"],
    ],
    takes: {
      "[code]": "code from the message",
      "--address <address>": "set the address in your profile first",
    },
    async run({ connect, output }, { code, address }) {
      const { client } = await connect()
      const changed = address === undefined ? undefined : await client.updateMe({ email: address })
      if (code !== undefined)
        return printResult(output, toAddress(await client.confirmEmail({ code })))
      // The server takes the word of an administrator for their own address.
      if (changed?.emailVerified) return printResult(output, toAddress(changed))
      await client.sendEmailCode()
      output.note('Sent a code to your address. Confirm it with "hamlet mail confirm CODE"')
    },
  }),
}

function toAddress(me: Output<"updateMe">): Result {
  return {
    json: me,
    fields: [
      ["email", me.email],
      ["confirmed", String(me.emailVerified)],
    ],
  }
}
